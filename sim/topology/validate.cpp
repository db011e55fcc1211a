// SPDX-License-Identifier: BSD-3-Clause
#include "sim/topology/validate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "sim/model/tags/cache_array.hpp"
#include "sim/topology/machine_keys.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t smallest_page = 4096, largest_page = std::uint64_t{1} << 30;
constexpr std::uint64_t most_memory = std::uint64_t{1} << 44;
constexpr std::uint64_t most_lines = std::uint64_t{1} << 26;  ///< of all copies of all caches
constexpr std::uint64_t most_entries = std::uint64_t{1} << 20;
constexpr unsigned most_ways = 65536;
constexpr std::uint64_t longest_latency = 1'000'000'000;  ///< picoseconds
constexpr unsigned most_prefetched = 64;

std::string_view kind_of(const CacheConfig& cache) {
    return cache.inclusion == Inclusion::victim ? "a victim cache" : name_of(cache.inclusion);
}

std::string cores(unsigned number) { return numbered(number, "core"); }

Mark place_of_machine(const MachineDescription& machine, std::string_view key) {
    const auto found = machine.keys.find(key);
    return found != machine.keys.end() ? found->second : Mark{};
}

class Checker : Complaints {
public:
    explicit Checker(const MachineDescription& machine) : machine_(machine) {}

    std::vector<Diagnostic> components() {
        check_clock();
        for (const CacheConfig& cache : machine_.caches) check(cache);
        for (const TlbConfig& tlb : machine_.tlbs) check(tlb);
        check(machine_.pages);
        for (const MemoryConfig& memory : machine_.memories) check(memory);
        check_total();
        return std::move(diagnostics_);
    }

    std::vector<Diagnostic> neighbours() {
        for (const CacheConfig& upper : machine_.caches) {
            const auto lower = std::ranges::find(machine_.caches, upper.next, &CacheConfig::name);
            if (lower != machine_.caches.end()) check(upper, *lower);
        }
        for (const CacheConfig& cache : machine_.caches) check_place(cache);
        for (const TlbConfig& upper : machine_.tlbs) {
            const auto lower = std::ranges::find(machine_.tlbs, upper.next, &TlbConfig::name);
            if (lower != machine_.tlbs.end()) check_sharing(upper, *lower);
            check_side(upper, machine_.tlbs);
        }
        return std::move(diagnostics_);
    }

private:
    void check_clock() {
        const Mark mark = place_of_machine(machine_, "clock");
        if (machine_.period < 1 || machine_.period > longest_cycle)
            complain(mark, "a cycle of {} picoseconds is not possible; write a clock from 1 MHz to 1 THz",
                     machine_.period);
        else if (machine_.period <= machine_.cores)
            complain(mark,
                     "a cycle must be longer than one picosecond per core, since no two cores begin at the same time; "
                     "with {} write a clock of at most {}",
                     cores(machine_.cores), format_frequency(machine_.cores + 1));
    }

    template <class Config>
    void check_shared_by(const Config& part) {
        if (part.shared_by != 0 && machine_.cores % part.shared_by != 0)
            complain(place_of(part, "shared_by"), "'{}' is shared by {} of {} cores; write a divisor of {}, or all",
                     shown(part.name), part.shared_by, machine_.cores, machine_.cores);
    }

    /// Also in time, so that what is counted in picoseconds lasts (reference_at_most()).
    void check_cycles(const Mark& mark, unsigned cycles) {
        const std::uint64_t period = std::clamp<std::uint64_t>(machine_.period, 1, longest_cycle);
        const std::uint64_t most = std::min<std::uint64_t>(most_cycles, longest_latency / period);
        if (cycles <= most) return;
        const bool by_time = most < most_cycles;
        complain(mark, "a latency of {} cycles is too long; write at most {}{}", cycles, most,
                 by_time ? ", which are 1 ms" : "");
    }

    template <class Config>
    void check_latency(const Config& part, unsigned cycles) {
        check_cycles(place_of(part, "latency"), cycles);
    }

    template <class Config>
    void check_sets(const Config& part, std::uint64_t blocks, std::uint64_t ways) {
        if (ways > most_ways)
            complain(place_of(part, "ways"), "'{}' has {} ways; at most {} can be simulated", shown(part.name), ways,
                     most_ways);
        if (row_of(part.indexing).function != nullptr && !is_power_of_two(blocks / ways))
            complain(place_of(part, "indexing"),
                     "'{}' has {} sets, but {} needs a power of two; write modulo, which takes any number, or other "
                     "ways or sizes",
                     shown(part.name), blocks / ways, name_of(part.indexing));
    }

    void check_slices(const CacheConfig& cache, std::uint64_t sets, std::uint64_t set_bytes) {
        const bool sliced = row_of(cache.indexing).slice != nullptr;
        if (sliced && cache.slices < 2)
            complain(place_of(cache, "indexing"),
                     "'{}' is indexed by slices, but has {}; write their number, as in 'slices: 6'", shown(cache.name),
                     cache.slices == 0 ? "none" : "one");
        else if (sliced && sets % cache.slices != 0)
            complain(
                place_of(cache, "slices"),
                "'{}' has {} sets, which {} slices cannot share evenly; write a divisor of {}, or a size that is a "
                "multiple of {} bytes",
                shown(cache.name), sets, cache.slices, sets, set_bytes * cache.slices);
        else if (!sliced && cache.slices != 0)
            complain(place_of(cache, "slices"),
                     "slices mean nothing with 'indexing: {}'; write 'indexing: sliced', or remove them",
                     name_of(cache.indexing));
    }

    void check(const CacheConfig& cache) {
        check_shared_by(cache);
        check_latency(cache, cache.latency);
        check_cycles(place_of(cache, "bus"), cache.bus.latency);
        if (cache.bus.shared && cache.bus.bytes_per_cycle == 0)
            complain(place_of(cache, "bus"),
                     "the bus of '{}' is shared, but carries any number of bytes at once; write 'bytes_per_cycle', or "
                     "remove 'shared'",
                     shown(cache.name));
        check_geometry(cache);
        check_prefetch(cache);
        if (cache.empty_way == EmptyWay::policy && !row_of(cache.replacement).keeps_ways)
            complain(place_of(cache, "empty_way"),
                     "'{}' replaces by {}, which fills empty ways first wherever they are; write 'empty_way: lowest', "
                     "or another 'replacement'",
                     shown(cache.name), name_of(cache.replacement));
        if (!filled_by_victims(cache.inclusion)) return;
        const auto kind = kind_of(cache);
        if (cache.write_back_miss != WriteBackMiss::allocate)
            complain(place_of(cache, "write_back_miss"),
                     "'{}' is {} and takes all victims; write 'write_back_miss: allocate'", shown(cache.name), kind);
        if (cache.prefetch.kind != PrefetchKind::none)
            complain(place_of(cache, "prefetch"),
                     "'{}' is {} and filled by victims only; put the prefetcher on a level above or below it",
                     shown(cache.name), kind);
    }

    void check_geometry(const CacheConfig& cache) {
        if (!is_power_of_two(cache.line) || cache.line < 8 || cache.line > 4096) {
            complain(place_of(cache, "line"), "the line of '{}' is {} bytes; write a power of two from 8 to 4096",
                     shown(cache.name), cache.line);
            return;
        }
        const unsigned ways = std::max(1U, cache.ways);
        const std::uint64_t unit = std::uint64_t{cache.line} * ways;
        if (cache.size == 0 || cache.size % unit != 0) {
            const std::uint64_t below = cache.size / unit * unit;
            const std::string written = cache.ways == 0
                                            ? fmt::format("of its line, {} bytes", cache.line)
                                            : fmt::format("of ways x line = {} x {} = {}", ways, cache.line, unit);
            complain(place_of(cache, "size"), "the size of '{}' is {} bytes, which is not a multiple {}; write {}{}",
                     shown(cache.name), cache.size, written,
                     below == 0 ? "" : fmt::format("{} or ", format_size(below)), format_size(below + unit));
            return;
        }
        const std::uint64_t lines = cache.size / cache.line;
        const std::uint64_t all_ways = cache.ways != 0 ? cache.ways : lines;
        check_sets(cache, lines, all_ways);
        check_slices(cache, lines / all_ways, all_ways * cache.line);
    }

    void check_prefetch(const CacheConfig& cache) {
        const PrefetchConfig& prefetch = cache.prefetch;
        const auto possible = [](unsigned value, unsigned most) { return value >= 1 && value <= most; };
        if (!possible(prefetch.degree, most_prefetched) || !possible(prefetch.distance, most_prefetched) ||
            !possible(prefetch.entries, most_ways))
            complain(place_of(cache, "prefetch"),
                     "the prefetcher of '{}' must have a degree and a distance from 1 to {}, and from 1 to {} entries",
                     shown(cache.name), most_prefetched, most_ways);
    }

    /// Bounds the memory that a simulation takes.
    void check_total() {
        std::uint64_t lines = 0;
        const CacheConfig* largest = nullptr;
        for (const CacheConfig& cache : machine_.caches) {
            const std::uint64_t copies =
                cache.shared_by == 0 ? 1 : std::max<std::uint64_t>(1, machine_.cores / cache.shared_by);
            // No size times 256 copies comes near 2^64 once it is over the limit in lines of 8 bytes.
            lines += std::min(cache.size / std::max(1U, cache.line), most_lines + 1) * copies;
            if (largest == nullptr || cache.size > largest->size) largest = &cache;
        }
        if (lines > most_lines)
            complain(place_of(*largest, "size"),
                     "all copies of all caches together have more than {} lines (4 GiB of 64-byte lines), which is too "
                     "much to simulate; make '{}' smaller",
                     most_lines, shown(largest->name));
    }

    void check(const TlbConfig& tlb) {
        check_shared_by(tlb);
        check_latency(tlb, tlb.latency);
        if (tlb.entries == 0 || tlb.entries > most_entries) {
            complain(place_of(tlb, "entries"), "'{}' has {} entries; write a number from 1 to {}", shown(tlb.name),
                     tlb.entries, most_entries);
            return;
        }
        if (tlb.ways != 0 && tlb.entries % tlb.ways != 0) {
            const unsigned below = tlb.entries / tlb.ways * tlb.ways;
            complain(place_of(tlb, "entries"),
                     "'{}' has {} entries, which is not a multiple of its {} ways; write {}{}", shown(tlb.name),
                     tlb.entries, tlb.ways, below == 0 ? "" : fmt::format("{} or ", below), below + tlb.ways);
            return;
        }
        check_sets(tlb, tlb.entries, tlb.ways != 0 ? tlb.ways : tlb.entries);
        if (row_of(tlb.indexing).slice != nullptr)
            complain(place_of(tlb, "indexing"), "'{}' is a TLB, which has no slices; write modulo or xor_hash",
                     shown(tlb.name));
        for (const std::uint64_t size : tlb.page_sizes)
            check_page_size(place_of(tlb, "page_sizes"), fmt::format("a page size of '{}'", shown(tlb.name)), size);
        if (tlb.granule != 0)
            check_page_size(place_of(tlb, "granule"), fmt::format("the granule of '{}'", shown(tlb.name)), tlb.granule);
        check_coalescing(tlb);
    }

    void check_coalescing(const TlbConfig& tlb) {
        if (!is_power_of_two(tlb.coalesces) || tlb.coalesces > most_coalesced)
            complain(place_of(tlb, "coalesces"), "'{}' coalesces {} pages; write 1, 2, 4, 8 or 16", shown(tlb.name),
                     tlb.coalesces);
        if (tlb.coalesces > 1 && tlb.granule != 0)
            complain(
                place_of(tlb, "coalesces"),
                "'{}' has entries for parts of pages ('granule'), so they do not map several; write one of the two",
                shown(tlb.name));
    }

    bool check_page_size(const Mark& mark, const std::string& what, std::uint64_t size) {
        if (is_power_of_two(size) && size >= smallest_page && size <= largest_page) return true;
        complain(mark, "{} is {} bytes; write a power of two from 4 KiB to 1 GiB", what, size);
        return false;
    }

    void check(const PagesConfig& pages) {
        const bool good = check_page_size(place_of(pages, "size"), "the page size", pages.size);
        for (const PageRange& range : pages.ranges)
            if (check_page_size(range.mark, "the page size of a range", range.size) && good) check(range, pages.size);
        auto ranges = pages.ranges;
        std::ranges::stable_sort(ranges, {}, &PageRange::from);
        for (std::size_t i = 1; i < ranges.size(); ++i)
            if (ranges[i].from < ranges[i - 1].to)
                complain(ranges[i].mark, "this range overlaps the one from {:#x} to {:#x}; ranges are disjoint",
                         ranges[i - 1].from, ranges[i - 1].to);
        check_cycles(place_of(pages, "walk.latency"), pages.walk_latency);
        if (pages.colours == 0)
            complain(place_of(pages, "colours"), "there is at least one colour; write 1, or another 'mapping'");
        const std::uint64_t frames = machine_.bytes_for_pages() / std::max(largest_page_used(), smallest_page);
        if (pages.mapping == Mapping::coloured && pages.colours > frames)
            complain(place_of(pages, "colours"),
                     "{} colours need as many frames, but '{}' holds {} of the largest pages; write fewer",
                     pages.colours, shown(machine_.memories.front().name), frames);
        if (pages.keys.contains("colours") && pages.mapping != Mapping::coloured)
            complain(place_of(pages, "colours"),
                     "colours mean nothing with 'mapping: {}'; write 'mapping: coloured', or remove them",
                     name_of(pages.mapping));
    }

    /// `around`: the page size elsewhere. Pages of that size must end where the range begins.
    void check(const PageRange& range, std::uint64_t around) {
        if (range.from >= range.to)
            complain(range.mark, "the range from {:#x} to {:#x} is empty; 'to' is the first address after it",
                     range.from, range.to);
        const std::uint64_t unit = std::max(range.size, around);
        if (range.from % unit != 0 || range.to % unit != 0)
            complain(range.mark,
                     "the range from {:#x} to {:#x} cuts pages; its ends must be multiples of {}, the larger of the "
                     "page sizes inside and outside",
                     range.from, range.to, format_size(unit));
    }

    std::uint64_t largest_page_used() const {
        std::uint64_t page = machine_.pages.size;
        for (const PageRange& range : machine_.pages.ranges) page = std::max(page, range.size);
        return page;
    }

    void check(const MemoryConfig& memory) {
        const std::uint64_t page = largest_page_used();
        if (memory.size < page || memory.size > most_memory)
            complain(place_of(memory, "size"),
                     "the size of '{}' is {} bytes; write at least a page ({}) and at most 16 TiB", shown(memory.name),
                     memory.size, format_size(page));
        check_latency(memory, memory.latency);
        check_cycles(place_of(memory, "bank_busy"), memory.bank_busy);
        if (!is_power_of_two(memory.banks))
            complain(place_of(memory, "banks"), "'{}' has {} banks; write a power of two", shown(memory.name),
                     memory.banks);
        if (!is_power_of_two(memory.interleave) || memory.interleave < 8)
            complain(place_of(memory, "interleave"),
                     "banks of '{}' take turns every {} bytes; write a power of two of at least 8", shown(memory.name),
                     memory.interleave);
        if (memory.bank_busy == 0 && (memory.keys.contains("banks") || memory.keys.contains("interleave")))
            complain(memory.keys.contains("banks") ? place_of(memory, "banks") : place_of(memory, "interleave"),
                     fmt::format("banks of '{}' are never busy, so they change nothing; write 'bank_busy', in cycles",
                                 shown(memory.name)));
    }

    template <class Config>
    void check_sharing(const Config& upper, const Config& lower) {
        const unsigned above = upper.shared_by != 0 ? upper.shared_by : machine_.cores;
        const unsigned below = lower.shared_by != 0 ? lower.shared_by : machine_.cores;
        const bool both_are_possible =
            machine_.cores % above == 0 && machine_.cores % below == 0;  // else reported already
        if (both_are_possible && below % above != 0)
            complain(place_of(lower, "shared_by"),
                     "'{}' is shared by {}, but '{}' above it by {}; write a multiple of {}, or all", shown(lower.name),
                     cores(below), shown(upper.name), above, above);
    }

    void check(const CacheConfig& upper, const CacheConfig& lower) {
        check_sharing(upper, lower);
        if (!filled_by_victims(lower.inclusion)) {
            if (lower.line < upper.line)
                complain(place_of(lower, "line"),
                         "lines shrink from {} bytes in '{}' to {} in '{}'; write at least {} here", upper.line,
                         shown(upper.name), lower.line, shown(lower.name), upper.line);
            return;
        }
        const auto kind = kind_of(lower);
        if (lower.line != upper.line)
            complain(place_of(lower, "line"), "'{}' is {}, so its lines must be as long as those of '{}'; write {}",
                     shown(lower.name), kind, shown(upper.name), upper.line);
        if (!upper.write_back_traffic)
            complain(place_of(upper, "write_back_traffic"),
                     "'{}' must hand its victims to '{}', which is {}; write 'write_back_traffic: true'",
                     shown(upper.name), shown(lower.name), kind);
    }

    /// What depends on whether a cache is next to a core.
    void check_place(const CacheConfig& cache) {
        check_side(cache, machine_.caches);
        const bool first = is_next_to_core(cache, machine_.caches);
        if (cache.virtually_indexed && !first)
            complain(place_of(cache, "virtually_indexed"),
                     "'{}' is not next to a core, so it cannot be virtually indexed; remove this", shown(cache.name));
        if (filled_by_victims(cache.inclusion) && first)
            complain(place_of(cache, "inclusion"),
                     "'{}' is {}, but no level above hands victims to it; write 'inclusion: nine'", shown(cache.name),
                     kind_of(cache));
    }

    template <class Config>
    void check_side(const Config& part, const std::vector<Config>& parts) {
        if (part.serves == Serves::both || is_next_to_core(part, parts)) return;
        complain(place_of(part, "serves"),
                 "'{}' is not next to a core and takes all that comes from above; remove 'serves'", shown(part.name));
    }

    const MachineDescription& machine_;
};

}  // namespace

std::vector<Diagnostic> check_components(const MachineDescription& machine) { return Checker(machine).components(); }

std::vector<Diagnostic> check_neighbours(const MachineDescription& machine) { return Checker(machine).neighbours(); }

}  // namespace cachetally
