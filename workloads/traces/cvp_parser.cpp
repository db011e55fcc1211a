// SPDX-License-Identifier: BSD-3-Clause
// The instructions of the first Championship Value Prediction.
#include <optional>

#include "workloads/traces/record_parser.hpp"

namespace cachetally {
namespace {

/// Classes of instructions, and registers (docs/formats-of-others.md).
constexpr unsigned cvp_load = 1, cvp_store = 2, first_branch = 3, last_branch = 5, last_class = 8;
constexpr unsigned first_vector = 32, last_vector = 63, flags_register = 64;

struct CvpInstruction {
    std::size_t bytes = 0;
    Address pc = 0, address = 0;
    unsigned type = 0, size = 0;
};

/// Takes numbers from a record; what is not there is nothing, and so is all behind it.
class Fields {
public:
    explicit Fields(std::string_view bytes) : bytes_(bytes) {}

    std::uint64_t take(unsigned count) {
        if (!has(count)) return 0;
        position_ += count;
        return little_endian(bytes_, position_ - count, count);
    }
    void skip(std::size_t count) {
        if (has(count)) position_ += count;
    }
    bool complete() const { return complete_; }
    std::size_t position() const { return position_; }

private:
    bool has(std::size_t count) { return complete_ = complete_ && bytes_.size() - position_ >= count; }

    std::string_view bytes_;
    std::size_t position_ = 0;
    bool complete_ = true;
};

unsigned register_of(Fields& fields) {
    const auto number = static_cast<unsigned>(fields.take(1));
    if (number > flags_register) throw RecordError("register {}; they are 0 to 31, vectors 32 to 63, flags 64", number);
    return number;
}

/// Nothing where the bytes end before the record does.
std::optional<CvpInstruction> read_instruction(std::string_view bytes) {
    CvpInstruction instruction;
    Fields fields(bytes);
    instruction.pc = fields.take(8);
    instruction.type = static_cast<unsigned>(fields.take(1));
    if (instruction.type > last_class)
        throw RecordError("an instruction of class {}; they are 0 to 8", instruction.type);
    if (instruction.type == cvp_load || instruction.type == cvp_store) {
        instruction.address = fields.take(8);
        instruction.size = static_cast<unsigned>(fields.take(1));
    }
    if (instruction.type >= first_branch && instruction.type <= last_branch) {
        const std::uint64_t taken = fields.take(1);
        if (taken > 1) throw RecordError("a branch is taken (1) or not (0); here it is {}", taken);
        if (taken == 1) fields.skip(8);
    }
    for (auto inputs = fields.take(1); inputs > 0 && fields.complete(); --inputs) register_of(fields);
    const auto outputs = fields.take(1);
    std::size_t values = 0;
    for (auto left = outputs; left > 0 && fields.complete(); --left) {
        const unsigned number = register_of(fields);
        values += number >= first_vector && number <= last_vector ? 16 : 8;
    }
    fields.skip(values);
    instruction.bytes = fields.position();
    if (!fields.complete()) return {};
    return instruction;
}

class CvpParser final : public RecordParser {
public:
    std::size_t record(std::string_view bytes, Reference*& out) override {
        const auto instruction = read_instruction(bytes);
        if (!instruction) return 0;
        fetches_.execute(instruction->pc, out);
        if (instruction->size == 0) return instruction->bytes;
        if (instruction->address + (instruction->size - 1) < instruction->address)
            throw RecordError("the reference runs beyond the end of the address space");
        *out++ = {instruction->address, 0, static_cast<std::uint16_t>(instruction->size),
                  instruction->type == cvp_store ? ReferenceKind::store : ReferenceKind::load, 0};
        return instruction->bytes;
    }

private:
    FetchBlocks fetches_;
};

/// Instructions of 4 bytes, as the traces are of programs for ARMv8.
Fit cvp_fit(std::string_view start, bool whole) {
    try {
        std::size_t records = 0;
        for (; !start.empty(); ++records) {
            const auto instruction = read_instruction(start);
            if (!instruction) return whole || records == 0 ? Fit::none : Fit::possible;
            const Address pc = instruction->pc;
            if (pc == 0 || pc % 4 != 0 || !is_canonical(pc) || !is_canonical(instruction->address)) return Fit::none;
            start.remove_prefix(instruction->bytes);
        }
        return records > 0 ? Fit::possible : Fit::none;
    } catch (const RecordError&) {
        return Fit::none;
    }
}

}  // namespace

/// CVP-1 (2018), as the reader of its kit has it.
BinaryFormat cvp_format() {
    return {"cvp", "CVP-1", cvp_fit, {"cvp"}, []() -> std::unique_ptr<RecordParser> {
                return std::make_unique<CvpParser>();
            }};
}

}  // namespace cachetally
