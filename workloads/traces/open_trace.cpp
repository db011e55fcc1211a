// SPDX-License-Identifier: BSD-3-Clause
// Recognising formats.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "workloads/traces/record_parser.hpp"
#include "workloads/traces/text_parser.hpp"

namespace cachetally {
namespace {

constexpr std::string_view hdf5_magic("\x89HDF\r\n\x1a\n", 8);
constexpr std::size_t most_looked_at = std::size_t{1} << 20;

/// Enumerators: automatic, packed, binary formats, text formats.
constexpr std::size_t binary_begins_at = 2;
#define CACHETALLY_FORMAT(name) TraceFormat::name,
constexpr std::size_t text_begins_at = binary_begins_at + std::size({CACHETALLY_BINARY_FORMATS(CACHETALLY_FORMAT)});
#undef CACHETALLY_FORMAT
constexpr std::size_t enough_of_binary = std::size_t{64} << 10;

const std::vector<BinaryFormat>& binary_formats() {
#define CACHETALLY_ROW(name) name##_format(),
    static const std::vector<BinaryFormat> all{CACHETALLY_BINARY_FORMATS(CACHETALLY_ROW)};
#undef CACHETALLY_ROW
    return all;
}

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
    for (bool over = false, asked = false; !over; over = over || opened.start.size() >= most_looked_at) {
        if (const auto format = detect_format(opened.start)) return *format;
        over = !opened.read_more();
        if (asked || (!over && opened.start.size() < enough_of_binary)) continue;
        asked = true;
        if (const auto format = detect_binary_format(opened.name, opened.start, over)) return *format;
    }
    if (opened.start.empty()) throw TraceError("{}: is empty", opened.name);
    if (opened.start.back() != '\n') {  // a single line without its end
        if (const auto format = detect_format(opened.start + '\n')) return *format;
    }
    throw TraceError("{}: is not a trace of a known format ({}); if it is one, say which with --format", opened.name,
                     trace_formats_in_words(true));
}

}  // namespace

std::string_view name_of(TraceFormat format) {
    if (format == TraceFormat::automatic) return "auto";
    if (format == TraceFormat::packed) return "packed";
    return is_binary(format) ? binary_format(format).name : text_format(format).name;
}

bool is_binary(TraceFormat format) {
    const auto index = static_cast<std::size_t>(format);
    return index >= binary_begins_at && index < text_begins_at;
}

const BinaryFormat& binary_format(TraceFormat format) {
    return binary_formats().at(static_cast<std::size_t>(format) - binary_begins_at);
}

const TextFormat& text_format(TraceFormat format) {
    return text_formats().at(static_cast<std::size_t>(format) - text_begins_at);
}

std::vector<std::string> trace_format_names() {
    std::vector<std::string> names{"auto"};
    for (const TextFormat& format : text_formats()) names.emplace_back(format.name);
    for (const BinaryFormat& format : binary_formats()) names.emplace_back(format.name);
    names.emplace_back("packed");
    return names;
}

std::string trace_formats_in_words(bool plain) {
    std::vector<std::string> words;
    const auto add = [&](std::string_view name, std::string_view of) {
        words.push_back(plain ? std::string(name) : fmt::format("{} ({})", name, of));
    };
    for (const TextFormat& format : text_formats()) add(format.name, format.of);
    for (const BinaryFormat& format : binary_formats()) add(format.name, format.of);
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

std::optional<TraceFormat> detect_binary_format(const std::string& name, std::string_view start, bool whole) {
    struct Candidate {
        const BinaryFormat* format;
        bool named;
    };
    const std::string file = std::filesystem::path(name).filename();
    std::vector<Candidate> fitting;
    const auto id_of = [](const BinaryFormat& format) {
        return static_cast<TraceFormat>(binary_begins_at + static_cast<std::size_t>(&format - binary_formats().data()));
    };
    for (const BinaryFormat& format : binary_formats()) {
        const Fit fit = format.fits(start, whole);
        if (fit == Fit::certain) return id_of(format);
        const auto in_name = [&](std::string_view part) { return file.find(part) != std::string::npos; };
        if (fit == Fit::possible) fitting.push_back({&format, std::ranges::any_of(format.in_names, in_name)});
    }
    if (fitting.empty()) return {};
    if (fitting.size() > 1 && std::ranges::count_if(fitting, &Candidate::named) == 1)
        return id_of(*std::ranges::find_if(fitting, &Candidate::named)->format);
    if (fitting.size() == 1) return id_of(*fitting.front().format);
    std::vector<std::string> options;
    options.reserve(fitting.size());
    for (const Candidate& each : fitting) options.push_back(fmt::format("--format {}", each.format->name));
    throw TraceError("{}: its bytes fit several formats; say which it is with {}", name, fmt::join(options, " or "));
}

OpenedTrace open_trace_as(const std::string& path_or_dash, const TraceOptions& options) {
    OpenedStream opened = open_stream(path_or_dash, options.stop);
    const TraceFormat format = options.format == TraceFormat::automatic ? recognise(opened) : options.format;
    if (is_binary(format)) return {format, open_binary_trace(std::move(opened), format, options), {}};
    if (format != TraceFormat::packed) return {format, open_text_trace(std::move(opened), format, options), {}};
    if (!opened.seekable)
        throw TraceError(
            "{}: a packed trace must be given by the name of its file, neither through a pipe nor compressed once more",
            opened.name);
    opened.stream.reset();
    return open_packed_trace(path_or_dash, options);
}

}  // namespace cachetally
