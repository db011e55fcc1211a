// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/web/slim_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "monitor/causes/miss_causes.hpp"
#include "storage/columns.hpp"
#include "storage/copy.hpp"
#include "storage/file.hpp"
#include "viewer/run_view.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t rows_at_once = 1 << 20;
constexpr std::uint64_t pyramid_blocks = 20000;  ///< levels with more are left out
constexpr std::size_t most_counts = 2 + miss_cause_count;

/// The columns of a histogram that are summed.
struct Shape {
    std::vector<std::string> counts;  ///< "count", or "accesses" and "misses", and their causes
    const char* address = "address";
    std::uint64_t rows = 0;
    std::uint64_t unit = 0;
    bool spans = false;
};

bool is_histogram(const Group& group) {
    return group.has("address") && group.has("phase") && (group.has("count") || group.has("accesses"));
}

Shape shape_of(const Group& group) {
    Shape shape;
    const bool level = group.has("accesses");
    shape.counts = level ? std::vector<std::string>{"accesses", "misses"} : std::vector<std::string>{"count"};
    for (unsigned cause = 0; level && cause < miss_cause_count; ++cause)
        if (const char* name = to_string(MissCause(cause)); group.has(name)) shape.counts.emplace_back(name);
    if (group.has("virtual_address")) shape.address = "virtual_address";
    shape.rows = group.open_dataset("address").rows();
    shape.unit = group.whole_attribute(level ? "line_bytes" : "unit_bytes");
    shape.spans = group.has("span");
    if (shape.unit == 0) throw StorageError("{}: lines of no bytes; the file is damaged", group.where());
    return shape;
}

/// Counts by phase and block of `units` aligned lines; blocks grow where there are too many.
class Blocks {
public:
    using Counts = std::array<double, most_counts>;

    explicit Blocks(std::size_t most) : most_(most), most_by_phases_(16 * most) {}

    void add(std::uint32_t phase, std::uint64_t line, const Counts& counts) {
        const Key key{phase, line / units_};
        if (last_ == blocks_.end() || last_->first != key) {
            last_ = blocks_.try_emplace(key).first;
            if (blocks_.size() > most_) {
                grow();
                return add(phase, line, counts);
            }
        }
        for (std::size_t i = 0; i < counts.size(); ++i) last_->second[i] += counts[i];
    }

    std::uint64_t units() const { return units_; }
    const auto& all() const { return blocks_; }

private:
    using Key = std::pair<std::uint32_t, std::uint64_t>;

    void grow() {
        std::map<Key, Counts> coarse;
        for (const auto& [key, counts] : blocks_) {
            Counts& into = coarse[{key.first, key.second / 16}];
            for (std::size_t i = 0; i < counts.size(); ++i) into[i] += counts[i];
        }
        // where there are many phases, coarser blocks are hardly fewer
        const bool helps = coarse.size() < blocks_.size() / 2;
        if (!helps && (most_ < most_by_phases_ || coarse.size() == blocks_.size())) {
            most_ *= 2;
            return;
        }
        blocks_ = std::move(coarse);
        units_ *= 16;
        last_ = blocks_.end();
    }

    std::size_t most_, most_by_phases_;
    std::uint64_t units_ = 16;
    std::map<Key, Counts> blocks_;
    std::map<Key, Counts>::iterator last_ = blocks_.end();
};

/// Lines with the highest counts: of all phases together, and of each. All rows of these are kept, so that sums over
/// any phases and functions are exact.
class TopLines {
public:
    TopLines(std::size_t counts, std::size_t most_rows) : counts_(counts), most_rows_(most_rows) {}

    /// Rows come phase by phase.
    void add(std::uint32_t phase, std::uint64_t address, const Blocks::Counts& counts) {
        if (phase != phase_) close_phase(phase);
        Line& line = lines_[address];
        ++line.rows;
        for (std::size_t i = 0; i < counts_; ++i) {
            line.sums[i] += counts[i];
            if (counts[i] > 0) keep_largest(in_phase_[i], {counts[i], address}, of_each_phase);
        }
    }

    /// As far as their rows are not too many; but the very first in any case.
    std::set<std::uint64_t> chosen() {
        close_phase(0);
        std::array<Largest, most_counts> all;
        for (const auto& [address, line] : lines_)
            for (std::size_t i = 0; i < counts_; ++i)
                if (line.sums[i] > 0) keep_largest(all[i], {line.sums[i], address}, of_all_phases);
        std::set<std::uint64_t> found;
        std::size_t rows = 0;
        const auto take = [&](std::uint64_t address, bool always) {
            const std::size_t more = found.contains(address) ? 0 : lines_.at(address).rows;
            if (!always && rows + more > most_rows_) return;
            rows += more;
            found.insert(address);
        };
        std::array<Largest::const_iterator, most_counts> next;
        for (std::size_t i = 0; i < most_counts; ++i) next[i] = all[i].begin();
        for (std::size_t place = 0; place < of_all_phases; ++place)
            for (std::size_t i = 0; i < most_counts; ++i)
                if (next[i] != all[i].end()) take((next[i]++)->second, place < taken_always);
        for (const std::uint64_t address : of_phases_) take(address, false);
        return found;
    }

private:
    static constexpr std::size_t of_all_phases = 1000, of_each_phase = 8, taken_always = 8;

    struct Line {
        Blocks::Counts sums{};
        std::size_t rows = 0;
    };
    /// The largest first, of equals the lowest address.
    struct Larger {
        bool operator()(const std::pair<double, std::uint64_t>& a, const std::pair<double, std::uint64_t>& b) const {
            return a.first != b.first ? a.first > b.first : a.second < b.second;
        }
    };
    using Largest = std::set<std::pair<double, std::uint64_t>, Larger>;

    static void keep_largest(Largest& largest, const std::pair<double, std::uint64_t>& line, std::size_t most) {
        if (largest.size() == most && !Larger()(line, *largest.rbegin())) return;
        largest.insert(line);
        if (largest.size() > most) largest.erase(std::prev(largest.end()));
    }

    void close_phase(std::uint32_t next) {
        phase_ = next;
        for (Largest& largest : in_phase_) {
            for (const auto& [count, address] : largest) of_phases_.insert(address);
            largest.clear();
        }
    }

    std::size_t counts_, most_rows_;
    std::uint32_t phase_ = 0;
    std::unordered_map<std::uint64_t, Line> lines_;  // NOLINT: chosen() orders them
    std::array<Largest, most_counts> in_phase_;
    std::set<std::uint64_t> of_phases_;
};

/// What a histogram is reduced to.
struct Reduced {
    Blocks blocks;
    TopLines top;
};

/// Rows of the file.
struct Rows {
    std::vector<std::uint64_t> address;
    std::vector<std::uint32_t> phase, span;
    std::array<std::vector<double>, most_counts> counts;
};

Rows read_rows(const Group& group, const Shape& shape, std::uint64_t first) {
    const std::uint64_t count = std::min(rows_at_once, shape.rows - first);
    Rows rows{
        std::vector<std::uint64_t>(count), std::vector<std::uint32_t>(count), std::vector<std::uint32_t>(count, 1), {}};
    group.open_dataset(shape.address).read_rows(first, std::span(rows.address));
    group.open_dataset("phase").read_rows(first, std::span(rows.phase));
    if (shape.spans) group.open_dataset("span").read_rows(first, std::span(rows.span));
    for (std::size_t i = 0; i < shape.counts.size(); ++i) {
        rows.counts[i].resize(count);
        group.open_dataset(shape.counts[i]).read_rows(first, std::span(rows.counts[i]));
    }
    return rows;
}

void add_rows(Reduced& into, const Rows& rows, const Shape& shape) {
    for (std::size_t row = 0; row < rows.address.size(); ++row) {
        Blocks::Counts counts{}, share{};
        for (std::size_t i = 0; i < shape.counts.size(); ++i) {
            counts[i] = rows.counts[i][row];
            share[i] = counts[i] / rows.span[row];
        }
        into.top.add(rows.phase[row], rows.address[row], counts);
        for (std::uint32_t line = 0; line < rows.span[row]; ++line)
            into.blocks.add(rows.phase[row], rows.address[row] / shape.unit + line, share);
    }
}

/// The first count over the addresses, the others beside it; what the whole file had besides is not there any more.
void label(Group& group, const Shape& shape) {
    set_axes(group, shape.counts.front(), {"address"}, {shape.counts.begin() + 1, shape.counts.end()});
}

void write_blocks(Group& group, const Blocks& blocks, const Shape& shape) {
    std::vector<std::uint64_t> address;
    std::vector<std::uint32_t> phase;
    std::array<std::vector<double>, most_counts> counts;
    for (const auto& [key, sums] : blocks.all()) {
        phase.push_back(key.first);
        address.push_back(key.second * blocks.units() * shape.unit);
        for (std::size_t i = 0; i < shape.counts.size(); ++i) counts[i].push_back(sums[i]);
    }
    group.write("address", address);
    group.write("phase", phase);
    group.write("span", std::vector<std::uint32_t>(phase.size(), static_cast<std::uint32_t>(blocks.units())));
    for (std::size_t i = 0; i < shape.counts.size(); ++i) group.write(shape.counts[i], counts[i]);
    label(group, shape);
}

/// All rows of some lines, in the order of the file.
void write_top(Group& parent, const Group& from, const Shape& shape, const std::set<std::uint64_t>& lines) {
    Rows kept;
    for (std::uint64_t first = 0; first < shape.rows; first += rows_at_once) {
        const Rows rows = read_rows(from, shape, first);
        for (std::size_t row = 0; row < rows.address.size(); ++row) {
            if (!lines.contains(rows.address[row])) continue;
            kept.address.push_back(rows.address[row]);
            kept.phase.push_back(rows.phase[row]);
            kept.span.push_back(rows.span[row]);
            for (std::size_t i = 0; i < shape.counts.size(); ++i) kept.counts[i].push_back(rows.counts[i][row]);
        }
    }
    Group group = parent.create_group("top");
    group.write("address", kept.address);
    group.write("phase", kept.phase);
    group.write("span", kept.span);
    for (std::size_t i = 0; i < shape.counts.size(); ++i) group.write(shape.counts[i], kept.counts[i]);
    label(group, shape);
}

class Reducer {
public:
    explicit Reducer(std::size_t most_rows) : most_rows_(most_rows) {}

    void copy_children(const Group& from, Group& to) {
        for (const std::string& name : from.children()) {
            if (name == "consolidated_metadata") continue;  // of what the copy has
            if (is_group(from, name)) {
                const Group source = from.open_group(name);
                Group target = to.create_group(name);
                copy_attributes(source, target);
                copy_group(source, target);
            } else {
                copy_dataset(from, name, to);
            }
        }
        copy_axes(from, to);
    }

    bool changed() const { return largest_ > 1; }
    std::uint64_t largest_block() const { return largest_; }

private:
    void copy_group(const Group& from, Group& to) {
        if (!is_histogram(from)) return copy_children(from, to);
        const Shape shape = shape_of(from);
        if (shape.rows <= most_rows_) return copy_children(from, to);
        Reduced reduced{Blocks(most_rows_), TopLines(shape.counts.size(), most_rows_)};
        for (std::uint64_t first = 0; first < shape.rows; first += rows_at_once)
            add_rows(reduced, read_rows(from, shape, first), shape);
        write_blocks(to, reduced.blocks, shape);
        write_top(to, from, shape, reduced.top.chosen());
        largest_ = std::max(largest_, reduced.blocks.units());
        if (from.has("pyramid")) copy_pyramid(from.open_group("pyramid"), to);
    }

    /// The coarse levels, numbered anew.
    void copy_pyramid(const Group& from, Group& to) {
        Group pyramid = to.create_group("pyramid");
        copy_attributes(from, pyramid);
        unsigned number = 0;
        for (unsigned i = 1; from.has(fmt::format("level{}", i)); ++i) {
            const Group level = from.open_group(fmt::format("level{}", i));
            if (level.open_dataset("address").rows() > pyramid_blocks) continue;
            Group copy = pyramid.create_group(fmt::format("level{}", ++number));
            copy_attributes(level, copy);
            copy_children(level, copy);
        }
    }

    std::size_t most_rows_;
    std::uint64_t largest_ = 1;
};

}  // namespace

void check_result(const std::string& path, Trust trust) {
    const InputFile file(path, trust);
    (void)result_kind(file);
    const Group& root = file.root();
    for (const std::string& name : root.children()) {  // what cannot be read is neither
        if (!is_group(root, name)) (void)root.open_dataset(name);
    }
}

void reduce_result(const std::string& from, const std::string& to, Trust trust, std::size_t most_rows) {
    const InputFile source(from, trust);
    ResultFile target(to);
    Reducer reducer(most_rows);
    copy_attributes(source.root(), target.root());
    reducer.copy_children(source.root(), target.root());
    if (reducer.changed())
        target.root().set_attribute(
            "reduced",
            fmt::format("This page holds a reduced copy of {}: large histograms in blocks of up to {} lines, and of "
                        "single lines those with the highest counts. Drop the file itself here to see every line.",
                        std::filesystem::path(from).filename().string(), reducer.largest_block()));
    const bool complete = source.root().whole_attribute("complete") == 1;
    if (complete) return target.finish();
    target.keep_partial(source.root().has_attribute("incomplete") ? source.root().text_attribute("incomplete") : "");
}

}  // namespace cachetally
