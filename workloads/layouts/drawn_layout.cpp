// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/layouts/drawn_layout.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/random.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t drawn_page = 4096, longest_gap = 1 << 14;
constexpr std::uint64_t small_unit = 16;     ///< allocators and the stack align to it
constexpr std::uint64_t variable_unit = 32;  ///< compilers align arrays to it
constexpr std::uint64_t own_segment = 4096;  ///< what is as long moves by itself
constexpr std::size_t most_own_segments = 256;
constexpr std::uint64_t range = std::uint64_t{1} << 24, slot_unit = std::uint64_t{1} << 24;
constexpr Address first_slot = 0x10000000, upper_half = Address{1} << 46, end_of_slots = Address{1} << 47;

struct Interval {
    Address base = 0, end = 0;
    std::uint64_t unit = drawn_page;
};

/// A block that malloc has mapped begins 16 bytes behind a page, wherever that is: it goes on doing so.
std::uint64_t unit_of(Address base, std::uint64_t otherwise) {
    const std::uint64_t in_page = base % drawn_page;
    return in_page == 0 || in_page == small_unit ? drawn_page : otherwise;
}

class MemorySurveyor {
public:
    explicit MemorySurveyor(const ReferenceSource& source) : by_site_(source.sites() != nullptr) {
        if (!by_site_) return;
        const SiteNames names = source.site_names();
        for (std::uint32_t site = 0; site < source.sites()->size(); ++site) {
            const std::uint32_t object = (*source.sites())[site].object;
            is_loose_.push_back(object < names.objects.size() && is_loose(names.objects[object]));
        }
    }

    void take(const Reference& reference) {
        ++result_.references;
        const bool fetch = reference.kind == ReferenceKind::fetch;
        result_.fetches += fetch ? 1 : 0;
        const bool loose = !fetch && (!by_site_ || (reference.site < is_loose_.size() && is_loose_[reference.site]));
        const Address end = reference.address + std::max<std::uint64_t>(reference.size, 1);
        for (Address at = reference.address; at < end;) {
            const Address stop = std::min(end, align_down(at, drawn_page) + drawn_page);
            touch(at, stop, loose);
            at = stop;
        }
    }

    MemorySurvey finish(const ReferenceSource& source) {
        std::vector<Interval> touched;
        for (const auto& [page, found] : pages_)
            touched.push_back(
                {page * drawn_page + found.low, page * drawn_page + found.high, found.loose ? small_unit : drawn_page});
        std::ranges::sort(touched, {}, &Interval::base);
        build(touched, own_segments(source, touched));
        return std::move(result_);
    }

private:
    struct Page {
        std::uint16_t low = 0, high = 0;  ///< touched from `low` to before `high`
        bool loose = true;
    };

    static bool is_loose(const std::string& object) {
        return object.starts_with("heap:") || object == "(heap)" || object.starts_with("stack");
    }

    void touch(Address from, Address to, bool loose) {
        const Address number = from / drawn_page;
        const auto low = static_cast<std::uint16_t>(from - number * drawn_page),
                   high = static_cast<std::uint16_t>(to - number * drawn_page);
        if (latest_ == nullptr || number != latest_number_) {
            latest_ = &pages_.try_emplace(number, Page{low, high, true}).first->second;  // which stays where it is
            latest_number_ = number;
        }
        latest_->low = std::min(latest_->low, low);
        latest_->high = std::max(latest_->high, high);
        latest_->loose = latest_->loose && loose;
    }

    /// Those that are touched and long enough, the longest, apart from each other.
    std::vector<Interval> own_segments(const ReferenceSource& source, const std::vector<Interval>& touched) const {
        std::vector<Interval> all;
        const auto add = [&](Address base, std::uint64_t bytes, std::uint64_t unit) {
            if (bytes >= own_segment && base + bytes > base) all.push_back({base, base + bytes, unit_of(base, unit)});
        };
        for (const Region& region : source.regions())
            if (!region.name.starts_with("stack")) add(region.base, region.bytes, variable_unit);
        for (const SiteNames names = source.site_names(); const ObjectBlock& block : names.blocks)
            add(block.base, block.bytes, small_unit);
        std::ranges::sort(all, {}, &Interval::base);
        std::vector<Interval> apart;
        for (const Interval& each : all)
            if (!apart.empty() && each.base < apart.back().end)
                apart.back().end = std::max(apart.back().end, each.end);
            else
                apart.push_back(each);
        std::erase_if(apart, [&](const Interval& each) {
            const auto next = std::ranges::lower_bound(touched, each.end, {}, &Interval::base);
            return next == touched.begin() || std::prev(next)->end <= each.base;
        });
        std::ranges::stable_sort(apart, std::greater<>(), [](const Interval& each) { return each.end - each.base; });
        apart.resize(std::min(apart.size(), most_own_segments));
        std::ranges::sort(apart, {}, &Interval::base);
        return apart;
    }

    void build(const std::vector<Interval>& touched, const std::vector<Interval>& own) {
        auto next = own.begin();
        const auto add_own = [&] { add_segment(*next++, false); };
        for (Interval each : touched) {
            while (next != own.end() && next->end <= each.base) add_own();
            while (next != own.end() && next->base < each.end) {
                if (each.base < next->base) add_segment({each.base, next->base, each.unit}, true);
                each.base = std::max(each.base, next->end);
                if (next->end > each.end) break;  // it goes on in the next page
                add_own();
            }
            if (each.base < each.end) add_segment(each, true);
        }
        while (next != own.end()) add_own();
    }

    void add_segment(const Interval& each, bool joins) {
        std::vector<Segment>& all = result_.segments;
        const bool near = joins && joinable_ && !all.empty() && all.back().unit == each.unit &&
                          each.base - (all.back().base + all.back().bytes) < longest_gap;
        if (near)
            all.back().bytes = each.end - all.back().base;
        else
            all.push_back({each.base, each.end - each.base, each.unit, !joins});
        joinable_ = joins;
    }

    bool by_site_;
    std::vector<bool> is_loose_;
    std::unordered_map<Address, Page> pages_;
    Address latest_number_ = 0;
    Page* latest_ = nullptr;
    bool joinable_ = false;
    MemorySurvey result_;
};

bool is_prime(std::uint64_t number) {
    for (std::uint64_t divisor = 2; divisor * divisor <= number; ++divisor)
        if (number % divisor == 0) return false;
    return number > 1;
}

/// A rank-1 lattice (Korobov 1959): in so many layouts, each segment lies once in each of as many equal parts of the
/// range, and so does the distance of each from each other. As their number is odd and prime, the same holds of the
/// places within any power of two of bytes, such as the ways of caches. What shifts a segment shifts the points of the
/// lattice onto others, nearly.
class Lattice {
public:
    explicit Lattice(unsigned layouts) : points_(std::max(layouts, 3U)) {
        while (!is_prime(points_)) ++points_;
    }
    std::uint64_t offset(std::uint64_t number, std::uint64_t rank, std::uint64_t unit) const {
        const std::uint64_t step = 1 + rank % (points_ - 1);
        const std::uint64_t point = (step * number + splitmix64(rank)) % points_;
        const std::uint64_t within = splitmix64(splitmix64(rank)) % (range / points_);  // the same in all layouts
        return align_down(point * range / points_ + within, unit);
    }

private:
    std::uint64_t points_;
};

/// Numbers of their own that other segments change as little as can be: regions and blocks by their length, the longest
/// first; stretches of the lower half (code, variables, the heap) too; those of the upper half from above, as the
/// stack, whose length depends on the environment, is the highest.
std::vector<std::size_t> ranks_of(const std::vector<Segment>& segments) {
    constexpr std::size_t kinds = 3;
    const auto kind = [&](std::size_t i) -> std::size_t {
        if (segments[i].whole) return 0;
        return segments[i].base < upper_half ? 1 : 2;
    };
    std::vector<std::size_t> order(segments.size()), ranks(segments.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        if (kind(a) != kind(b)) return kind(a) < kind(b);
        return kind(a) == 2 ? segments[a].base > segments[b].base : segments[a].bytes > segments[b].bytes;
    });
    std::size_t next[kinds] = {};
    for (const std::size_t i : order) ranks[i] = kinds * next[kind(i)]++ + kind(i);
    return ranks;
}

}  // namespace

MemorySurvey survey_memory(ReferenceSource& source, std::uint64_t most_references, const std::function<bool()>& go_on) {
    MemorySurveyor surveyor(source);
    std::uint64_t left = most_references == 0 ? ~std::uint64_t{0} : most_references;
    std::vector<unsigned> running(source.cores());
    for (unsigned core = 0; core < source.cores(); ++core) running[core] = core;
    while (!running.empty() && left != 0) {
        std::vector<unsigned> waiting;
        for (const unsigned core : running)
            for (bool goes_on = true; goes_on;) {
                if (!go_on()) throw std::runtime_error("interrupted");
                const Batch batch = source.next(core);
                for (const Reference& reference : batch.references) surveyor.take(reference);
                left -= std::min<std::uint64_t>(left, batch.references.size());
                const Control::Kind kind = batch.control.kind;
                const bool ends = kind == Control::Kind::end || left == 0;
                goes_on = kind != Control::Kind::barrier && kind != Control::Kind::meet && !ends;
                if (!goes_on && !ends) waiting.push_back(core);
            }
        running = std::move(waiting);
    }
    return surveyor.finish(source);
}

MemoryLayout drawn_layout(const std::vector<Segment>& segments, unsigned number, unsigned count) {
    MemoryLayout layout(segments.size());
    const std::vector<std::size_t> ranks = ranks_of(segments);
    const Lattice lattice(count);
    const auto slot = [](const Segment& segment) {
        if (segment.bytes >= upper_half) throw std::invalid_argument("a stretch of memory is too long to be moved");
        return range + round_up(segment.bytes + segment.unit, slot_unit);
    };
    const auto place = [&](std::size_t i, Address at) {
        const Segment& segment = segments[i];
        layout[i] = at + lattice.offset(number, ranks[i], segment.unit) - align_down(segment.base, segment.unit);
    };
    Address low = first_slot, high = end_of_slots - slot_unit;
    for (std::size_t i = 0; i < segments.size() && segments[i].base < upper_half; ++i) {
        place(i, low);
        low += slot(segments[i]);
    }
    for (std::size_t i = segments.size(); i-- > 0 && segments[i].base >= upper_half;) {
        if (segments[i].base >= end_of_slots) continue;  // what no program's memory is at
        if (high - low < slot(segments[i]))
            throw std::invalid_argument("there is no room for another layout of memory");
        high -= slot(segments[i]);
        place(i, high);
    }
    if (low > high) throw std::invalid_argument("there is no room for another layout of memory");
    return layout;
}

MovedSource::MovedSource(std::unique_ptr<ReferenceSource> source, std::vector<Segment> segments, MemoryLayout layout)
    : source_(std::move(source)), segments_(std::move(segments)), layout_(std::move(layout)) {
    moved_.resize(source_->cores());
}

/// The number of the last segment that begins at the address or below; of segments there is none before the first.
std::size_t MovedSource::segment_of(Address address) const {
    if (latest_ < segments_.size() && address - segments_[latest_].base < segments_[latest_].bytes) return latest_;
    const auto next = std::ranges::upper_bound(segments_, address, {}, &Segment::base);
    const auto found = static_cast<std::size_t>(next - segments_.begin());
    if (found == 0 || address - segments_[found - 1].base >= segments_[found - 1].bytes) return segments_.size();
    return latest_ = found - 1;
}

Address MovedSource::moved(Address address) const {
    const std::size_t segment = segment_of(address);
    return segment == segments_.size() ? address : address + layout_[segment];
}

Batch MovedSource::next(unsigned core) {
    const Batch batch = source_->next(core);
    std::vector<Reference>& moved_here = moved_[core];
    moved_here.assign(batch.references.begin(), batch.references.end());
    for (Reference& reference : moved_here) reference.address = moved(reference.address);
    return {moved_here, batch.control};
}

std::vector<Region> MovedSource::regions() const {
    std::vector<Region> regions = source_->regions();
    for (Region& region : regions) {
        // Of a region that is touched in its middle alone, what is touched says where it goes.
        const auto next = std::ranges::lower_bound(segments_, region.base, {}, &Segment::base);
        const bool later = segment_of(region.base) == segments_.size() && next != segments_.end() &&
                           next->base - region.base < region.bytes;
        region.base =
            later ? region.base + layout_[static_cast<std::size_t>(next - segments_.begin())] : moved(region.base);
    }
    return regions;
}

SiteNames MovedSource::site_names() const {
    SiteNames names = source_->site_names();
    for (ObjectBlock& block : names.blocks) block.base = moved(block.base);
    return names;
}

}  // namespace cachetally
