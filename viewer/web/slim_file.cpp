// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/web/slim_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
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
constexpr std::size_t top_rows = 1000;  ///< that are kept by each count

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

    explicit Blocks(std::size_t most) : most_(most) {}

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
        const bool stuck = coarse.size() == blocks_.size();
        blocks_ = std::move(coarse);
        units_ *= 16;
        last_ = blocks_.end();
        if (stuck) most_ *= 2;  // more phases than blocks may be: each has one block already
    }

    std::size_t most_;
    std::uint64_t units_ = 16;
    std::map<Key, Counts> blocks_;
    std::map<Key, Counts>::iterator last_ = blocks_.end();
};

/// A row as it was.
struct TopRow {
    std::uint64_t number = 0, address = 0;
    std::uint32_t phase = 0, span = 1;
    Blocks::Counts counts{};
};

/// The rows that have most of a count; of equals the first ones.
class TopRows {
public:
    TopRows(std::size_t count, std::size_t most) : count_(count), most_(most) {}

    void add(const TopRow& row) {
        const double value = row.counts[count_];
        if (value <= 0 || (heap_.size() == most_ && value <= heap_.front().counts[count_])) return;
        const auto more = [this](const TopRow& a, const TopRow& b) {
            return std::pair(a.counts[count_], b.number) > std::pair(b.counts[count_], a.number);
        };
        heap_.push_back(row);
        std::ranges::push_heap(heap_, more);
        if (heap_.size() <= most_) return;
        std::ranges::pop_heap(heap_, more);
        heap_.pop_back();
    }

    const std::vector<TopRow>& rows() const { return heap_; }

private:
    std::size_t count_, most_;
    std::vector<TopRow> heap_;  ///< the least in front
};

/// What a histogram is reduced to.
struct Reduced {
    Blocks blocks;
    std::vector<TopRows> top;
};

void add_rows(Reduced& into, const Group& group, const Shape& shape, std::uint64_t first, std::uint64_t count) {
    std::vector<std::uint64_t> address(count);
    std::vector<std::uint32_t> phase(count), span(count, 1);
    std::array<std::vector<double>, most_counts> counts;
    group.open_dataset(shape.address).read_rows(first, std::span(address));
    group.open_dataset("phase").read_rows(first, std::span(phase));
    if (shape.spans) group.open_dataset("span").read_rows(first, std::span(span));
    for (std::size_t i = 0; i < shape.counts.size(); ++i) {
        counts[i].resize(count);
        group.open_dataset(shape.counts[i]).read_rows(first, std::span(counts[i]));
    }
    for (std::uint64_t row = 0; row < count; ++row) {
        TopRow here{first + row, address[row], phase[row], span[row], {}};
        Blocks::Counts share{};
        for (std::size_t i = 0; i < shape.counts.size(); ++i) {
            here.counts[i] = counts[i][row];
            share[i] = counts[i][row] / span[row];
        }
        for (TopRows& top : into.top) top.add(here);
        for (std::uint32_t line = 0; line < span[row]; ++line)
            into.blocks.add(phase[row], address[row] / shape.unit + line, share);
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

/// The rows with most of any count, in the order of the file.
void write_top(Group& parent, const Reduced& reduced, const Shape& shape) {
    std::map<std::uint64_t, TopRow> rows;
    for (const TopRows& top : reduced.top)
        for (const TopRow& row : top.rows()) rows.emplace(row.number, row);
    std::vector<std::uint64_t> address;
    std::vector<std::uint32_t> phase, span;
    std::array<std::vector<double>, most_counts> counts;
    for (const auto& [number, row] : rows) {
        address.push_back(row.address);
        phase.push_back(row.phase);
        span.push_back(row.span);
        for (std::size_t i = 0; i < shape.counts.size(); ++i) counts[i].push_back(row.counts[i]);
    }
    Group group = parent.create_group("top");
    group.write("address", address);
    group.write("phase", phase);
    group.write("span", span);
    for (std::size_t i = 0; i < shape.counts.size(); ++i) group.write(shape.counts[i], counts[i]);
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
        Reduced reduced{Blocks(most_rows_), {}};
        for (std::size_t i = 0; i < shape.counts.size(); ++i) reduced.top.emplace_back(i, top_rows);
        for (std::uint64_t first = 0; first < shape.rows; first += rows_at_once)
            add_rows(reduced, from, shape, first, std::min(rows_at_once, shape.rows - first));
        write_blocks(to, reduced.blocks, shape);
        write_top(to, reduced, shape);
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
