// SPDX-License-Identifier: BSD-3-Clause
// The text that valgrind's lackey writes.
#include <algorithm>

#include "workloads/traces/text_parser.hpp"

namespace cachetally {
namespace {

constexpr char sample[] = "' L 1ffefff0,8', with 'I ', ' L', ' S' or ' M', a hexadecimal address and a decimal size";

/// What begins a line of the trace; anything else is not of the trace.
enum class LineKind { other, fetch, load, store, modify };

inline LineKind kind_of(const char* line) {
    if (line[0] == ' ' && line[2] == ' ') {
        if (line[1] == 'L') return LineKind::load;
        if (line[1] == 'S') return LineKind::store;
        if (line[1] == 'M') return LineKind::modify;
        return LineKind::other;
    }
    return line[0] == 'I' && line[1] == ' ' && line[2] == ' ' ? LineKind::fetch : LineKind::other;
}

struct Operand {
    std::uint64_t address = 0;
    std::uint32_t size = 0;
    const char* comma = nullptr;
    const char* end = nullptr;

    bool valid(const char* begin) const {
        return comma != begin && comma - begin <= 16 && *comma == ',' && end > comma + 1 &&
               (*end == '\n' || *end == '\r') && size - 1 < 65535 && address + (size - 1) >= address;
    }
};

inline Operand read_operand(const char* text) {
    Operand operand;
    operand.comma = read_hex(text, operand.address);
    operand.end = operand.comma;
    if (*operand.comma == ',') operand.end = read_decimal(operand.comma + 1, operand.size);
    return operand;
}

std::unique_ptr<LineError> explain(const char* line, const Operand& operand) {
    const char* digits = line + 3;
    const auto error = [&](const char* place, const char* what) { return line_error(line, place, what, sample); };
    if (operand.comma == digits) return error(digits, "the hexadecimal address is missing");
    if (operand.comma - digits > 16) return error(digits, "an address has at most 16 digits");
    if (*operand.comma != ',') return error(operand.comma, "a comma is missing after the address");
    if (operand.end == operand.comma + 1) return error(operand.end, "the size is missing");
    if (*operand.end != '\n' && *operand.end != '\r') return error(operand.end, "the line goes on after the size");
    if (operand.size - 1 >= 65535) return error(operand.comma + 1, "a size is from 1 to 65535");
    return error(digits, "the reference runs beyond the end of the address space");
}

class LackeyParser : public LineParser {
public:
    explicit LackeyParser(bool data_only) : data_only_(data_only) {}
    const char* example() const override { return sample; }

    ParseResult parse(std::string_view text, Reference* out, Reference* limit) const override {
        const char* line = text.data();
        const char* const end = line + text.size();
        ParseResult result;
        while (line < end && limit - out >= 2) {
            // A line has at least its line feed, and && stops there: nothing is read beyond the text.
            const LineKind kind = *line == '\n' || line[1] == '\n' ? LineKind::other : kind_of(line);
            if (kind == LineKind::other) {
                line = next_line(line, end);
                ++result.lines, ++result.skipped;
                continue;
            }
            const Operand operand = read_operand(line + 3);
            if (!operand.valid(line + 3)) [[unlikely]] {
                result.error = explain(line, operand);
                break;
            }
            out = emit(kind, operand, out);
            line = operand.end + (*operand.end == '\r' ? 2 : 1);
            if (line[-1] != '\n') [[unlikely]]  // a carriage return alone
                line = next_line(line - 1, end);
            ++result.lines;
        }
        result.next = line;
        result.end = out;
        return result;
    }

private:
    Reference* emit(LineKind kind, const Operand& operand, Reference* out) const {
        const auto size = static_cast<std::uint16_t>(operand.size);
        const auto put = [&](ReferenceKind reference_kind) { *out++ = {operand.address, 0, size, reference_kind, 0}; };
        switch (kind) {
            case LineKind::fetch:
                if (!data_only_) put(ReferenceKind::fetch);
                break;
            case LineKind::load: put(ReferenceKind::load); break;
            case LineKind::store: put(ReferenceKind::store); break;
            default: put(ReferenceKind::load), put(ReferenceKind::store); break;
        }
        return out;
    }

    bool data_only_;
};

/// "==123== Lackey, ...", or a line of the trace.
bool is_lackey(std::string_view line) {
    if (line.starts_with("==")) {
        const std::size_t digits = std::min(line.substr(2).find_first_not_of("0123456789"), line.size() - 2);
        return digits > 0 && line.substr(2 + digits).starts_with("==");
    }
    const std::string_view begin = line.substr(0, 3);
    if (begin != "I  " && begin != " L " && begin != " S " && begin != " M ") return false;
    const std::size_t digits = hex_run(line.substr(3));
    return digits > 0 && line.size() > 4 + digits && line[3 + digits] == ',' && line[4 + digits] >= '0' &&
           line[4 + digits] <= '9';
}

}  // namespace

/// valgrind --tool=lackey --trace-mem=yes (Valgrind manual, 14.2): "I  ADDRESS,SIZE", " L ...", " S ...", " M ...", the
/// address hexadecimal. M is a load, then a store. All other lines are the program's or valgrind's: skipped.
TextFormat lackey_format() {
    return {"lackey", "valgrind", is_lackey, true, [](const TraceOptions& options) -> std::unique_ptr<LineParser> {
                return std::make_unique<LackeyParser>(options.data_only);
            }};
}

}  // namespace cachetally
