// SPDX-License-Identifier: BSD-3-Clause
// The instructions that ChampSim's tracers write.
#include "workloads/traces/record_parser.hpp"

namespace cachetally {
namespace {

/// Where the parts of a record lie (docs/formats-of-others.md).
struct ChampsimLayout {
    std::size_t bytes;
    std::size_t registers_end;  ///< zeros from here to `stores`
    std::size_t stores, loads;  ///< addresses that are written and read
    unsigned store_count;
    std::size_t loads_end;
};
constexpr unsigned champsim_loads = 4;
constexpr ChampsimLayout of_champsim{64, 16, 16, 32, 2, 64};
constexpr ChampsimLayout of_cloudsuite{96, 18, 24, 56, 4, 88};

/// Whether bytes 8 and 9, a branch and whether it was taken, are what they may be.
bool has_branch_marks(std::string_view record) {
    return static_cast<unsigned char>(record[8]) <= 1 && static_cast<unsigned char>(record[9]) <= 1;
}

class ChampsimParser final : public RecordParser {
public:
    explicit ChampsimParser(const ChampsimLayout& layout) : layout_(layout) {}

    std::size_t record(std::string_view bytes, Reference*& out) override {
        if (bytes.size() < layout_.bytes) return 0;
        if (!has_branch_marks(bytes))
            throw RecordError(
                "bytes 8 and 9 of a record say whether it is a branch and was taken, each 0 or 1; here they "
                "are {} and {}",
                static_cast<unsigned char>(bytes[8]), static_cast<unsigned char>(bytes[9]));
        fetches_.execute(little_endian(bytes, 0, 8), out);
        put(bytes, layout_.loads, champsim_loads, ReferenceKind::load, out);
        put(bytes, layout_.stores, layout_.store_count, ReferenceKind::store, out);
        return layout_.bytes;
    }

private:
    static void put(std::string_view bytes, std::size_t at, unsigned count, ReferenceKind kind, Reference*& out) {
        for (unsigned i = 0; i < count; ++i)
            if (const Address address = little_endian(bytes, at + 8 * i, 8)) *out++ = {address, 0, 1, kind, 0};
    }

    const ChampsimLayout& layout_;
    FetchBlocks fetches_;
};

bool looks_like(std::string_view record, const ChampsimLayout& layout) {
    const Address pc = little_endian(record, 0, 8);
    bool good = pc != 0 && is_canonical(pc) && has_branch_marks(record);
    for (std::size_t at = layout.registers_end; at < layout.stores; ++at) good = good && record[at] == 0;
    for (std::size_t at = layout.stores; at < layout.loads_end; at += 8)
        good = good && is_canonical(little_endian(record, at, 8));
    return good;
}

Fit fit(std::string_view start, bool whole, const ChampsimLayout& layout) {
    if (start.size() < layout.bytes || (whole && start.size() % layout.bytes != 0)) return Fit::none;
    for (; start.size() >= layout.bytes; start.remove_prefix(layout.bytes))
        if (!looks_like(start.substr(0, layout.bytes), layout)) return Fit::none;
    return Fit::possible;
}

}  // namespace

/// ChampSim, inc/trace_instruction.h, input_instr: an instruction in 64 bytes.
BinaryFormat champsim_format() {
    return {"champsim",
            "ChampSim",
            [](std::string_view start, bool whole) { return fit(start, whole, of_champsim); },
            {"champsim"},
            []() -> std::unique_ptr<RecordParser> { return std::make_unique<ChampsimParser>(of_champsim); }};
}

/// The same, cloudsuite_instr: 96 bytes.
BinaryFormat cloudsuite_format() {
    return {"cloudsuite",
            "ChampSim, CloudSuite",
            [](std::string_view start, bool whole) { return fit(start, whole, of_cloudsuite); },
            {"cloudsuite"},
            []() -> std::unique_ptr<RecordParser> { return std::make_unique<ChampsimParser>(of_cloudsuite); }};
}

}  // namespace cachetally
