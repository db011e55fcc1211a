// SPDX-License-Identifier: BSD-3-Clause
// Recognising formats.
#include <fmt/format.h>

#include <array>

#include "workloads/traces/hex_digits.hpp"
#include "workloads/traces/trace.hpp"

namespace cachetally {
namespace {

constexpr std::array<std::string_view, 4> names{"auto", "lackey", "din", "packed"};
constexpr std::string_view hdf5_magic("\x89HDF\r\n\x1a\n", 8);
constexpr std::size_t most_looked_at = std::size_t{1} << 20;

bool is_digit(char character) { return character >= '0' && character <= '9'; }

/// How many characters from `text` on are digits in the given sense.
template <class Test>
std::size_t run(std::string_view text, Test&& test) {
    std::size_t count = 0;
    while (count < text.size() && test(text[count])) ++count;
    return count;
}
std::size_t hex_run(std::string_view text) {
    return run(text, [](char c) { return hex_digit(c) != not_hex; });
}

/// "==123== Lackey, ...", or a line of the trace.
bool is_lackey(std::string_view line) {
    if (line.starts_with("==")) {
        const std::size_t digits = run(line.substr(2), is_digit);
        return digits > 0 && line.substr(2 + digits).starts_with("==");
    }
    const std::string_view begin = line.substr(0, 3);
    if (begin != "I  " && begin != " L " && begin != " S " && begin != " M ") return false;
    const std::size_t digits = hex_run(line.substr(3));
    return digits > 0 && line.size() > 4 + digits && line[3 + digits] == ',' && is_digit(line[4 + digits]);
}

bool is_din(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.size() < 3 || line[0] < '0' || line[0] > '4' || (line[1] != ' ' && line[1] != '\t')) return false;
    line.remove_prefix(std::min(line.find_first_not_of(" \t", 1), line.size()));
    if (line.starts_with("0x") || line.starts_with("0X")) line.remove_prefix(2);
    const std::size_t digits = hex_run(line);
    return digits > 0 && digits <= 16 && (line.size() == digits || line[digits] == ' ' || line[digits] == '\t');
}

TraceFormat recognise(OpenedStream& opened) {
    while (true) {
        if (const auto format = detect_format(opened.start)) return *format;
        if (opened.start.size() >= most_looked_at || !opened.read_more()) break;
    }
    if (opened.start.empty()) throw TraceError(fmt::format("{}: is empty", opened.name));
    if (opened.start.back() != '\n') {  // a single line without its end
        if (const auto format = detect_format(opened.start + '\n')) return *format;
    }
    throw TraceError(fmt::format(
        "{}: is not a trace of a known format (lackey, din or packed); if it is one, say which with --format",
        opened.name));
}

}  // namespace

std::string_view name_of(TraceFormat format) { return names.at(static_cast<std::size_t>(format)); }

std::optional<TraceFormat> parse_trace_format(std::string_view name) {
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == name) return static_cast<TraceFormat>(i);
    return {};
}

std::optional<TraceFormat> detect_format(std::string_view start) {
    if (start.starts_with(hdf5_magic)) return TraceFormat::packed;
    bool first = true;
    for (std::size_t end; (end = start.find('\n')) != std::string_view::npos; start.remove_prefix(end + 1)) {
        std::string_view line = start.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
        if (is_lackey(line)) return TraceFormat::lackey;
        // Only the first line: what a program prints under lackey may look like din by chance.
        if (first && is_din(line)) return TraceFormat::din;
        first = false;
    }
    return {};
}

std::unique_ptr<ReferenceSource> open_trace(const std::string& path_or_dash, const TraceOptions& options) {
    return open_trace_as(path_or_dash, options).source;
}

OpenedTrace open_trace_as(const std::string& path_or_dash, const TraceOptions& options) {
    OpenedStream opened = open_stream(path_or_dash, options.stop);
    const TraceFormat format = options.format == TraceFormat::automatic ? recognise(opened) : options.format;
    if (format != TraceFormat::packed) return {format, open_text_trace(std::move(opened), format, options), {}};
    if (!opened.seekable)
        throw TraceError(fmt::format(
            "{}: a packed trace must be given by the name of its file, neither through a pipe nor compressed once more",
            opened.name));
    opened.stream.reset();
    return open_packed_trace(path_or_dash, options);
}

}  // namespace cachetally
