#include "sim/topology/validate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t smallest_page = 4096, largest_page = std::uint64_t{1} << 30;

class Checker {
public:
    explicit Checker(const MachineDescription& machine) : machine_(machine) {}

    std::vector<Diagnostic> components() {
        for (const CacheConfig& cache : machine_.caches) check(cache);
        for (const TlbConfig& tlb : machine_.tlbs) check(tlb);
        check(machine_.pages);
        for (const MemoryConfig& memory : machine_.memories) check(memory);
        if (machine_.period <= machine_.cores)
            complain({},
                     "the clock is too fast for so many cores: a cycle must be longer than one picosecond per core; "
                     "lower 'clock'");
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
            if (lower != machine_.tlbs.end())
                check_sharing(upper.mark, upper.name, upper.shared_by, lower->name, lower->shared_by);
        }
        return std::move(diagnostics_);
    }

private:
    void complain(const Mark& mark, std::string message) { diagnostics_.push_back({mark, std::move(message)}); }

    void check_sharing_of(const Mark& mark, const std::string& name, unsigned shared_by) {
        if (shared_by != 0 && machine_.cores % shared_by != 0)
            complain(mark, fmt::format("'{}' is shared by {} of {} cores; write a divisor of {} or all", name,
                                       shared_by, machine_.cores, machine_.cores));
    }

    void check(const CacheConfig& cache) {
        check_sharing_of(cache.mark, cache.name, cache.shared_by);
        if (!is_power_of_two(cache.line) || cache.line < 8 || cache.line > 4096) {
            complain(cache.mark, fmt::format("the line of '{}' is {} bytes; write a power of two from 8 to 4096",
                                             cache.name, cache.line));
            return;
        }
        const std::uint64_t unit = std::uint64_t{cache.line} * std::max(1U, cache.ways);
        if (cache.size == 0 || cache.size % unit != 0) {
            const std::uint64_t below = cache.size / unit * unit;
            complain(
                cache.mark,
                fmt::format(
                    "the size of '{}' is {} bytes, which is not a multiple of ways x line = {} x {} = {}; write {}{}",
                    cache.name, cache.size, std::max(1U, cache.ways), cache.line, unit,
                    below == 0 ? "" : fmt::format("{} or ", below), below + unit));
            return;
        }
        if (cache.size > (std::uint64_t{1} << 36))
            complain(cache.mark, fmt::format("'{}' is larger than 64 GiB", cache.name));
        const std::uint64_t ways = cache.ways != 0 ? cache.ways : cache.size / cache.line;
        if (ways > 65536)
            complain(cache.mark, fmt::format("'{}' has {} ways; at most 65536 are possible", cache.name, ways));
        if (cache.indexing == Indexing::xor_hash && !is_power_of_two(cache.size / cache.line / ways))
            complain(cache.mark, fmt::format("'{}' has {} sets; xor_hash needs a power of two, modulo takes any number",
                                             cache.name, cache.size / cache.line / ways));
        check_policies(cache);
    }

    void check_policies(const CacheConfig& cache) {
        const bool by_victims = cache.inclusion == Inclusion::exclusive || cache.inclusion == Inclusion::victim;
        if (by_victims && cache.write_back_miss != WriteBackMiss::allocate)
            complain(cache.mark, fmt::format("'{}' is {}: it takes all victims; write 'write_back_miss: allocate'",
                                             cache.name, name_of(cache.inclusion)));
        if (by_victims && cache.prefetch.kind != PrefetchKind::none)
            complain(
                cache.mark,
                fmt::format("'{}' is {}: it is filled by victims only; put the prefetcher on a level above or below",
                            cache.name, name_of(cache.inclusion)));
    }

    void check(const TlbConfig& tlb) {
        check_sharing_of(tlb.mark, tlb.name, tlb.shared_by);
        if (tlb.entries == 0 || (tlb.ways != 0 && tlb.entries % tlb.ways != 0)) {
            complain(tlb.mark, fmt::format("'{}' has {} entries, which is not a multiple of its {} ways", tlb.name,
                                           tlb.entries, tlb.ways));
            return;
        }
        const unsigned ways = tlb.ways != 0 ? tlb.ways : tlb.entries;
        if (ways > 65536)
            complain(tlb.mark, fmt::format("'{}' has {} ways; at most 65536 are possible", tlb.name, ways));
        if (tlb.indexing == Indexing::xor_hash && !is_power_of_two(tlb.entries / ways))
            complain(tlb.mark, fmt::format("'{}' has {} sets; xor_hash needs a power of two, modulo takes any number",
                                           tlb.name, tlb.entries / ways));
        for (const std::uint64_t size : tlb.page_sizes)
            check_page_size(tlb.mark, fmt::format("a page size of '{}'", tlb.name), size);
        if (tlb.granule != 0) check_page_size(tlb.mark, fmt::format("the granule of '{}'", tlb.name), tlb.granule);
    }

    void check_page_size(const Mark& mark, const std::string& what, std::uint64_t size) {
        if (!is_power_of_two(size) || size < smallest_page || size > largest_page)
            complain(mark, fmt::format("{} is {} bytes; write a power of two from 4 KiB to 1 GiB", what, size));
    }

    void check(const PagesConfig& pages) {
        check_page_size(pages.mark, "the page size", pages.size);
        for (const PageRange& range : pages.ranges) {
            check_page_size(range.mark, "the page size of a range", range.size);
            if (range.size == 0 || !is_power_of_two(range.size)) continue;
            if (range.from >= range.to || range.from % range.size != 0 || range.to % range.size != 0)
                complain(range.mark, fmt::format("the range from {:#x} to {:#x} must be ascending, with ends that are "
                                                 "multiples of its page size {}",
                                                 range.from, range.to, format_size(range.size)));
            // The smaller pages around a range must end where it begins.
            if (range.from % pages.size != 0 || range.to % pages.size != 0)
                complain(range.mark, fmt::format("the ends of a range must be multiples of the page size elsewhere, {}",
                                                 format_size(pages.size)));
        }
        auto ranges = pages.ranges;
        std::ranges::sort(ranges, {}, &PageRange::from);
        for (std::size_t i = 1; i < ranges.size(); ++i)
            if (ranges[i].from < ranges[i - 1].to)
                complain(ranges[i].mark, "this range overlaps another one; ranges must be disjoint");
    }

    void check(const MemoryConfig& memory) {
        const std::uint64_t most = std::uint64_t{1} << 44;
        std::uint64_t page = machine_.pages.size;
        for (const PageRange& range : machine_.pages.ranges) page = std::max(page, range.size);
        if (memory.size < page || memory.size > most)
            complain(memory.mark,
                     fmt::format("the size of '{}' is {} bytes; write at least one page ({}) and at most 16 TiB",
                                 memory.name, memory.size, format_size(page)));
    }

    void check_sharing(const Mark& mark, const std::string& upper, unsigned upper_by, const std::string& lower,
                       unsigned lower_by) {
        const unsigned above = upper_by != 0 ? upper_by : machine_.cores,
                       below = lower_by != 0 ? lower_by : machine_.cores;
        if (below % above != 0)
            complain(
                mark,
                fmt::format(
                    "'{}' is shared by {} cores, but '{}' below it by {}; a level below must be shared by a multiple",
                    upper, above, lower, below));
    }

    void check(const CacheConfig& upper, const CacheConfig& lower) {
        check_sharing(upper.mark, upper.name, upper.shared_by, lower.name, lower.shared_by);
        if (lower.line < upper.line)
            complain(
                lower.mark,
                fmt::format(
                    "lines shrink from {} bytes in '{}' to {} in '{}'; a level below must have lines at least as long",
                    upper.line, upper.name, lower.line, lower.name));
        if (lower.inclusion != Inclusion::exclusive && lower.inclusion != Inclusion::victim) return;
        const auto kind = name_of(lower.inclusion);
        if (lower.line != upper.line)
            complain(lower.mark, fmt::format("'{}' is {}: its lines must be as long as those of '{}', {} bytes",
                                             lower.name, kind, upper.name, upper.line));
        if (!upper.write_back_traffic)
            complain(upper.mark,
                     fmt::format("'{}' must hand its victims to '{}', which is {}; write 'write_back_traffic: true'",
                                 upper.name, lower.name, kind));
    }

    /// What depends on whether a cache is next to a core, or where walks enter.
    void check_place(const CacheConfig& cache) {
        const bool next_to_core =
            std::ranges::none_of(machine_.caches, [&](const CacheConfig& other) { return other.next == cache.name; });
        const bool by_victims = cache.inclusion == Inclusion::exclusive || cache.inclusion == Inclusion::victim;
        if (cache.virtually_indexed && !next_to_core)
            complain(cache.mark,
                     fmt::format("'{}' is not next to a core, so it cannot be virtually indexed", cache.name));
        if (cache.virtually_indexed && std::max<std::uint64_t>(cache.line, smallest_page) != smallest_page)
            complain(cache.mark,
                     fmt::format("'{}' is virtually indexed, so its lines cannot be longer than a page", cache.name));
        if (by_victims && next_to_core)
            complain(cache.mark,
                     fmt::format("'{}' is {}, but no cache above hands victims to it; write 'inclusion: neither'",
                                 cache.name, name_of(cache.inclusion)));
        if (by_victims && machine_.pages.walk_through == cache.name)
            complain(machine_.pages.mark,
                     fmt::format(
                         "page walks cannot enter '{}', which is filled by victims only; name a level above or below",
                         cache.name));
    }

    const MachineDescription& machine_;
    std::vector<Diagnostic> diagnostics_;
};

}  // namespace

std::vector<Diagnostic> check_components(const MachineDescription& machine) { return Checker(machine).components(); }

std::vector<Diagnostic> check_neighbours(const MachineDescription& machine) { return Checker(machine).neighbours(); }

}  // namespace cachetally
