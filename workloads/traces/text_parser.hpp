// SPDX-License-Identifier: BSD-3-Clause
// LineParser: the lines of a text trace as references. One class per text format.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sim/model/reference.hpp"

namespace cachetally {

/// What a line cannot be read for.
struct LineError {
    std::size_t column = 0;  ///< counted from 1
    std::string message;     ///< what is wrong, and what would be right
};

/// Where a parser puts references.
struct ParseResult {
    const char* next = nullptr;        ///< behind the last line that was read
    Reference* end = nullptr;          ///< behind the last reference that was made
    std::uint64_t lines = 0;           ///< lines read
    std::uint64_t skipped = 0;         ///< of these, lines that are not references
    std::unique_ptr<LineError> error;  ///< what is wrong with the line at `next`
};

/// Parses whole lines.
class LineParser {
public:
    virtual ~LineParser() = default;

    /// Reads lines from `text`, which ends with a line feed, until it is used up, an error, or fewer than two places
    /// are left before `limit`.
    virtual ParseResult parse(std::string_view text, Reference* out, Reference* limit) const = 0;

    /// What a line of this format looks like, for messages.
    virtual const char* example() const = 0;
};

/// valgrind --tool=lackey --trace-mem=yes (Valgrind manual, 14.2): "I  ADDRESS,SIZE", " L ...", " S ...", " M ...", the
/// address hexadecimal. M is a load, then a store. All other lines are the program's or valgrind's: skipped.
std::unique_ptr<LineParser> make_lackey_parser(bool data_only);

/// Dinero III/IV din (dineroIII manual page): "LABEL ADDRESS", label 0 load, 1 store, 2 fetch; then, in our extension,
/// a decimal size, else references are `default_size` bytes; further text is a comment. Labels 3 (unknown) and 4
/// (flush) are skipped.
std::unique_ptr<LineParser> make_din_parser(bool data_only, std::uint16_t default_size);

}  // namespace cachetally
