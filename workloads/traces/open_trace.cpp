// SPDX-License-Identifier: BSD-3-Clause
// Recognising formats.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workloads/traces/text_parser.hpp"

namespace cachetally {
namespace {

constexpr std::string_view hdf5_magic("\x89HDF\r\n\x1a\n", 8);
constexpr std::size_t most_looked_at = std::size_t{1} << 20;

constexpr std::size_t text_begins_at = 2;  ///< enumerators of text formats come behind automatic and packed

const std::vector<TextFormat>& text_formats() {
    static const auto all = [] {
        std::vector<TextFormat> made;
        for (const TextFormatRow row : text_format_rows()) made.push_back(row());
        return made;
    }();
    return all;
}

TraceFormat format_at(std::size_t row) { return static_cast<TraceFormat>(text_begins_at + row); }

TraceFormat recognise(OpenedStream& opened) {
    while (true) {
        if (const auto format = detect_format(opened.start)) return *format;
        if (opened.start.size() >= most_looked_at || !opened.read_more()) break;
    }
    if (opened.start.empty()) throw TraceError(fmt::format("{}: is empty", opened.name));
    if (opened.start.back() != '\n') {  // a single line without its end
        if (const auto format = detect_format(opened.start + '\n')) return *format;
    }
    throw TraceError(fmt::format("{}: is not a trace of a known format ({}); if it is one, say which with --format",
                                 opened.name, trace_formats_in_words(true)));
}

}  // namespace

std::string_view name_of(TraceFormat format) {
    if (format == TraceFormat::automatic) return "auto";
    return format == TraceFormat::packed ? "packed" : text_format(format).name;
}

const TextFormat& text_format(TraceFormat format) {
    return text_formats().at(static_cast<std::size_t>(format) - text_begins_at);
}

std::vector<std::string> trace_format_names() {
    std::vector<std::string> names{"auto"};
    for (const TextFormat& format : text_formats()) names.emplace_back(format.name);
    names.emplace_back("packed");
    return names;
}

std::string trace_formats_in_words(bool plain) {
    std::vector<std::string> words;
    for (const TextFormat& format : text_formats())
        words.push_back(plain ? std::string(format.name) : fmt::format("{} ({})", format.name, format.of));
    return fmt::format("{} or packed{}", fmt::join(words, ", "), plain ? "" : " (our own)");
}

std::optional<TraceFormat> parse_trace_format(std::string_view name) {
    for (std::size_t i = 0; i < text_begins_at + text_formats().size(); ++i)
        if (name_of(static_cast<TraceFormat>(i)) == name) return static_cast<TraceFormat>(i);
    return {};
}

std::optional<TraceFormat> detect_format(std::string_view start) {
    if (start.starts_with(hdf5_magic)) return TraceFormat::packed;
    bool first = true;
    for (std::size_t end; (end = start.find('\n')) != std::string_view::npos; start.remove_prefix(end + 1)) {
        std::string_view line = start.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
        for (std::size_t row = 0; row < text_formats().size(); ++row)
            if ((first || text_formats()[row].anywhere) && text_formats()[row].recognises(line)) return format_at(row);
        first = false;
    }
    return {};
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
