// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/annotate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/text.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

/// Whole names of folders and files.
bool is_end_of(const std::string& path, const std::string& end) {
    return path.ends_with(end) && (end.empty() || end.front() == '/' || path.size() == end.size() ||
                                   path[path.size() - end.size() - 1] == '/');
}

/// Accesses, misses by level, and the cycles lost.
using Counts = std::vector<std::uint64_t>;

struct SourceFile {
    std::string path;
    std::map<std::uint32_t, Counts> lines;
    Counts all;
};

void add(Counts& sum, const Attribution::Row& row) {
    sum.resize(row.misses.size() + 2);
    sum[0] += row.accesses;
    sum.back() += row.cycles;
    for (std::size_t level = 0; level < row.misses.size(); ++level) sum[level + 1] += row.misses[level];
}

Counts total(const Attribution& attribution) {
    Counts sum;
    for (const Attribution::Row& row : attribution.rows) add(sum, row);
    return sum;
}

/// Of Counts.
std::size_t column_of_level(const Attribution& attribution, const std::string& name, const Counts& all) {
    for (std::size_t level = 0; level < attribution.levels.size(); ++level)
        if (name.empty() ? all[level + 1] != 0 : attribution.levels[level] == name) return level + 1;
    if (name.empty()) return 0;
    throw std::invalid_argument(
        fmt::format("there is no level '{}'; known are: {}", shown(name), fmt::join(attribution.levels, ", ")));
}

std::vector<SourceFile> source_files(const Attribution& attribution, const AnnotateOptions& options,
                                     std::size_t column) {
    std::map<std::string, SourceFile> files;
    for (const Attribution::Row& row : attribution.rows) {
        const CodePlace& place = attribution.names.code[attribution.sites[row.site].code];
        if (place.line == 0 || !is_end_of(place.file, options.file)) continue;
        SourceFile& file = files[place.file];
        file.path = place.file;
        add(file.lines[place.line], row);
        add(file.all, row);
    }
    std::vector<SourceFile> all;
    for (auto& [path, file] : files) all.push_back(std::move(file));
    std::ranges::stable_sort(all, std::greater<>(), [&](const SourceFile& file) { return file.all[column]; });
    return all;
}

std::optional<std::vector<std::string>> text_of(const std::string& path, const std::vector<std::string>& folders) {
    std::vector<std::filesystem::path> places = {path};
    for (const std::string& folder : folders) {
        places.push_back(std::filesystem::path(folder) / std::filesystem::path(path).relative_path());
        places.push_back(std::filesystem::path(folder) / std::filesystem::path(path).filename());
    }
    std::error_code error;
    const auto found =
        std::ranges::find_if(places, [&](const auto& place) { return std::filesystem::is_regular_file(place, error); });
    if (found == places.end()) return std::nullopt;
    std::ifstream file(*found);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(without_controls(line));
    return lines;
}

/// Columns of the first levels that anything missed, and of cycles.
std::vector<std::size_t> columns_shown(const Counts& all) {
    std::vector<std::size_t> columns = {0};
    for (std::size_t column = 1; column + 1 < all.size(); ++column)
        if (all[column] != 0) columns.push_back(column);
    columns.resize(std::min<std::size_t>(columns.size(), 5));
    if (all.back() != 0) columns.push_back(all.size() - 1);
    return columns;
}

std::string column_name(const Attribution& attribution, std::size_t column) {
    if (column == 0) return "accesses";
    return column > attribution.levels.size() ? "cycles lost" : attribution.levels[column - 1];
}

std::string text_of_file(const SourceFile& file, const AnnotateOptions& options,
                         const std::vector<std::size_t>& columns) {
    const auto source = text_of(file.path, options.folders);
    std::string text;
    const auto add_line = [&](std::uint32_t number) {
        const auto counts = file.lines.find(number);
        for (const std::size_t column : columns) {
            const bool known = counts != file.lines.end() && counts->second[column] != 0;
            text += fmt::format("{:>12}", known ? count_cell(counts->second[column]).full : "");
        }
        const bool in_source = source && number <= source->size();
        text += fmt::format("  {:>5}  {}\n", number, in_source ? (*source)[number - 1] : "");
    };
    std::uint32_t next = 1;
    for (const auto& [number, counts] : file.lines) {
        const std::uint32_t context = source ? options.context : 0;
        const std::uint32_t from = std::max(next, number - std::min(number - 1, context));
        if (from > next && next != 1) text += fmt::format("{:>{}}\n", "...", 12 * columns.size() + 7);
        for (std::uint32_t line = from; line < number; ++line) add_line(line);
        if (number >= next) add_line(number);
        next = number + 1;
        const auto following = file.lines.upper_bound(number);
        const std::uint32_t until = following == file.lines.end() ? ~std::uint32_t{0} : following->first;
        const std::uint32_t last = source ? static_cast<std::uint32_t>(source->size()) : 0;
        for (; next <= number + context && next < until && next <= last; ++next) add_line(next);
    }
    if (!source) text += "(the source is not there: name its folder with --source)\n";
    return text;
}

/// A name as callgrind's format has it, in parentheses with its text where it is new.
class Names {
public:
    std::string operator()(const std::string& name) {
        const auto [found, is_new] = numbers_.try_emplace(name, numbers_.size() + 1);
        return is_new ? fmt::format("({}) {}", found->second, name.empty() ? "???" : without_controls(name))
                      : fmt::format("({})", found->second);
    }

private:
    std::map<std::string, std::size_t> numbers_;
};

/// By module and address; a place has one code.
using Places = std::map<std::pair<std::string, Address>, std::pair<const CodePlace*, Counts>>;

/// The cycles come last.
std::string counts_text(const Counts& counts, bool with_cycles) {
    return fmt::format("{}", fmt::join(counts.begin(), counts.end() - (with_cycles ? 0 : 1), " "));
}

/// In callgrind's format. A function is of the file of its first instruction; code of other files was inlined.
class CallgrindFunctions {
public:
    explicit CallgrindFunctions(bool has_cycles) : has_cycles_(has_cycles) {}

    /// Of one function, as far as nothing else lies between: parts of it may lie elsewhere.
    std::string text(Places::const_iterator begin, Places::const_iterator end) {
        const CodePlace& first = *begin->second.first;
        const std::string& known = first_files_.try_emplace({first.module, first.function}, first.file).first->second;
        const auto is_known = [&](const auto& each) { return each.second.first->file == known; };
        const std::string& file = std::any_of(begin, end, is_known) ? known : first.file;
        std::string text = module_ == first.module ? "" : "\nob=" + objects_(first.module) + '\n';
        module_ = first.module;
        text += "fl=" + files_(file) + "\nfn=" + functions_(first.function) + '\n';
        const std::string* current = &file;
        for (auto each = begin; each != end; ++each) {
            const CodePlace& place = *each->second.first;
            if (place.file != *current) text += (place.file == file ? "fe=" : "fi=") + files_(place.file) + '\n';
            current = &place.file;
            text +=
                fmt::format("{:#x} {} {}\n", place.counter, place.line, counts_text(each->second.second, has_cycles_));
        }
        return text;
    }

private:
    bool has_cycles_;
    Names objects_, files_, functions_;
    std::optional<std::string> module_;
    std::map<std::pair<std::string, std::string>, std::string> first_files_;
};

}  // namespace

void require_attribution(const Attribution& attribution) {
    if (attribution.empty())
        throw std::invalid_argument(
            "it does not say which code misses: annotate results of programs (cachetally run -o "
            "FILE.h5 -- PROGRAM), or of replays of their traces");
}

std::string annotate(const Attribution& attribution, const AnnotateOptions& options) {
    require_attribution(attribution);
    const Counts all = total(attribution);
    const std::size_t column = column_of_level(attribution, options.level, all);
    const std::vector<SourceFile> files = source_files(attribution, options, column);
    if (files.empty())
        throw std::invalid_argument(options.file.empty()
                                        ? "no source lines are known; compile the program with -g"
                                        : fmt::format("no source file ends in '{}'", shown(options.file)));
    const std::vector<std::size_t> columns = columns_shown(all);
    const std::string what = column == 0 ? "accesses" : attribution.levels[column - 1] + " misses";
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(files.size(), options.files); ++i) {
        text += fmt::format("{}{}: {} of {} {} ({} %)\n", i == 0 ? "" : "\n", without_controls(files[i].path),
                            count_cell(files[i].all[column]).full, count_cell(all[column]).full, what,
                            percent_text(files[i].all[column], all[column]));
        for (const std::size_t shown_column : columns)
            text += fmt::format("{:>12}", column_name(attribution, shown_column));
        text += "   line\n" + text_of_file(files[i], options, columns);
    }
    if (files.size() > options.files)
        text += fmt::format("\n... {} of {} files, those with most {} (--files)\n", options.files, files.size(), what);
    return text;
}

std::string callgrind_profile(const Attribution& attribution, const std::string& program) {
    require_attribution(attribution);
    Places places;
    for (const Attribution::Row& row : attribution.rows) {
        const CodePlace& place = attribution.names.code[attribution.sites[row.site].code];
        auto& [known, counts] = places[{place.module, place.counter}];
        known = &place;
        add(counts, row);
    }
    std::erase_if(places, [](const auto& each) {
        return std::ranges::all_of(each.second.second, [](std::uint64_t count) { return count == 0; });
    });
    std::string text = fmt::format(
        "# callgrind format\nversion: 1\ncreator: cachetally\ncmd: {}\npositions: instr line\n"
        "events: Accesses",
        without_controls(program));
    for (const std::string& level : attribution.levels) text += ' ' + level + "_misses";
    const Counts all = total(attribution);
    const bool has_cycles = all.back() != 0;
    if (has_cycles) text += " Cycles_lost";
    text += '\n';
    CallgrindFunctions functions(has_cycles);
    for (auto each = places.begin(); each != places.end();) {
        const CodePlace& first = *each->second.first;
        const auto end = std::find_if(each, places.end(), [&](const auto& other) {
            return other.first.first != first.module || other.second.first->function != first.function;
        });
        text += functions.text(each, end);
        each = end;
    }
    return text + fmt::format("\ntotals: {}\n", counts_text(all, has_cycles));
}

}  // namespace cachetally
