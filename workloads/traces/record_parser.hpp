// SPDX-License-Identifier: BSD-3-Clause
// RecordParser: the records of a binary trace as references. One class per binary format.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "cachetally/error.hpp"
#include "cachetally/reference.hpp"
#include "workloads/traces/trace.hpp"

namespace cachetally {

/// Why a record cannot be read: what is wrong, and what would be right. The reader adds file and place.
class RecordError : public Formatted<std::runtime_error> {
public:
    using Formatted::Formatted;
};

/// A number of so many bytes, the lowest first; they are there.
inline std::uint64_t little_endian(std::string_view bytes, std::size_t offset, unsigned count) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i)
        value |= std::uint64_t{static_cast<unsigned char>(bytes[offset + i])} << (8 * i);
    return value;
}

/// Whether a processor with addresses of 48 bits has this one: what content is judged by.
constexpr bool is_canonical(Address address) { return address >> 47 == 0 || address >> 47 == 0x1ffff; }

/// References that one record makes at most.
inline constexpr std::size_t most_of_record = 16;

/// Reads records one by one; has a state where they depend on one another.
class RecordParser {
public:
    virtual ~RecordParser() = default;

    /// Reads the record at the beginning of `bytes`; its references go to `out`. Returns its length, at most 1 MiB, or
    /// 0 where `bytes` do not hold all of it. Throws RecordError.
    virtual std::size_t record(std::string_view bytes, Reference*& out) = 0;
};

/// The fetches of a format that has program counters but no lengths of instructions: one of 1 byte whenever the
/// program counter leaves an aligned block of 16 bytes, the shortest lines of caches in use.
class FetchBlocks {
public:
    /// The first page has no code: writers of traces without program counters put numbers there.
    void execute(Address pc, Reference*& out) {
        if (pc >> 4 == block_ || pc < 4096) return;
        block_ = pc >> 4;
        *out++ = {pc, 0, 1, ReferenceKind::fetch, 0};
    }

private:
    Address block_ = 0;
};

/// How well the first bytes of a file fit a format.
enum class Fit : std::uint8_t { none, possible, certain };

/// A binary format.
struct BinaryFormat {
    std::string_view name;  ///< for --format
    std::string_view of;    ///< who writes it, for help
    /// `whole`: there is no more than `start`. Possible where another format may look like this; then names of files
    /// decide, or the user.
    Fit (*fits)(std::string_view start, bool whole);
    std::vector<std::string_view> in_names;  ///< what names of such files contain
    std::unique_ptr<RecordParser> (*make)();
    /// Where a file may hold several threads: the parser of the references of a single one, and a parser that lists
    /// them.
    std::unique_ptr<RecordParser> (*make_thread)(std::uint64_t thread) = nullptr;
    std::unique_ptr<RecordParser> (*make_listing)(std::vector<std::uint64_t>& threads) = nullptr;
};

#define CACHETALLY_DECLARE(name) BinaryFormat name##_format();
CACHETALLY_BINARY_FORMATS(CACHETALLY_DECLARE)
#undef CACHETALLY_DECLARE

/// What is known of a format, which is binary.
const BinaryFormat& binary_format(TraceFormat format);

}  // namespace cachetally
