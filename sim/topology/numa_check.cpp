// SPDX-License-Identifier: BSD-3-Clause
#include "sim/topology/validate.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t most_in_all = std::uint64_t{1} << 44, largest_granule = std::uint64_t{1} << 30;
constexpr std::uint64_t longest_of_interconnect = 1'000'000'000;  ///< picoseconds

class NumaChecker : Complaints {
public:
    explicit NumaChecker(const MachineDescription& machine) : machine_(machine), numa_(machine.numa) {}

    std::vector<Diagnostic> check() {
        if (!machine_.has_nodes()) return without_nodes();
        if (machine_.cores % numa_.nodes != 0) {
            complain(place_of(numa_, "nodes"), "{} cannot be parted into {} of equal size; write a divisor of {}",
                     numbered(machine_.cores, "core"), numbered(numa_.nodes, "node"), machine_.cores);
            return std::move(diagnostics_);
        }
        for (const CacheConfig& cache : machine_.caches) check_inside(cache);
        for (const TlbConfig& tlb : machine_.tlbs) check_inside(tlb);
        check_memories();
        check_policy();
        check_interconnect();
        return std::move(diagnostics_);
    }

private:
    std::vector<Diagnostic> without_nodes() {
        for (const MemoryConfig& memory : machine_.memories)
            if (memory.keys.contains("node") || memory.node != 0)
                complain(place_of(memory, "node"),
                         "'{}' belongs to a node, but the machine has none; write 'numa: {{nodes: 2}}', "
                         "for instance, or remove this",
                         shown(memory.name));
        return std::move(diagnostics_);
    }

    template <class Config>
    void check_inside(const Config& part) {
        const unsigned cores = part.shared_by != 0 ? part.shared_by : machine_.cores;
        if (machine_.cores_per_node() % cores == 0 || machine_.cores % cores != 0)
            return;  // the latter is reported already
        complain(place_of(part, "shared_by"),
                 "'{}' is shared by {}, but a node has {}, and what lies above the memories belongs to a node; write "
                 "'shared_by: {}', or a divisor of it",
                 shown(part.name), numbered(cores, "core"), machine_.cores_per_node(), machine_.cores_per_node());
    }

    void check_memories() {
        std::vector<unsigned> of_node(numa_.nodes, 0);
        for (const MemoryConfig& memory : machine_.memories) {
            if (memory.node >= numa_.nodes) {
                complain(place_of(memory, "node"),
                         "'{}' belongs to node {}, but there are {}, from 0; write a number less than {}",
                         shown(memory.name), memory.node, numbered(numa_.nodes, "node"), numa_.nodes);
                return;
            }
            if (numa_.nodes > 1 && !memory.keys.empty() && !memory.keys.contains("node"))
                complain(memory.mark, "'{}' does not say which node it belongs to; write 'node: 0', for instance",
                         shown(memory.name));
            ++of_node[memory.node];
        }
        if (numa_.policy == HomePolicy::first_touch) check_one_each(of_node);
        if (machine_.bytes_for_pages() > most_in_all)
            complain(numa_.mark, "the memories have more than 16 TiB together; write smaller sizes");
    }

    void check_one_each(const std::vector<unsigned>& of_node) {
        for (unsigned node = 0; node < of_node.size(); ++node)
            if (of_node[node] != 1)
                complain(numa_.mark,
                         "by first touch a page is at home in the memory of a node, but node "
                         "{} has {}; give each node one memory, or write another 'policy'",
                         node, of_node[node] == 0 ? "none" : std::to_string(of_node[node]));
    }

    void check_policy() {
        only_with(HomePolicy::interleaved, "granule");
        only_with(HomePolicy::fixed, "ranges");
        only_with(HomePolicy::fixed, "otherwise");
        if (numa_.policy == HomePolicy::first_touch && !machine_.pages.ranges.empty())
            complain(place_of(machine_.pages, "ranges"),
                     "homes are given to pages of one size by first touch; remove 'ranges', or write 'policy: "
                     "interleaved' or 'policy: fixed' for 'numa'");
        if (numa_.policy == HomePolicy::interleaved) check_granule();
        if (numa_.policy == HomePolicy::fixed) check_ranges();
    }

    void only_with(HomePolicy policy, std::string_view key) {
        if (numa_.policy == policy || !numa_.keys.contains(key)) return;
        complain(place_of(numa_, key), "'{}' means nothing with 'policy: {}'; write 'policy: {}', or remove it", key,
                 name_of(numa_.policy), name_of(policy));
    }

    /// A line is at home in one memory.
    std::uint64_t longest_line() const {
        std::uint64_t longest = 64;
        for (const CacheConfig& cache : machine_.caches) longest = std::max<std::uint64_t>(longest, cache.line);
        return longest;
    }

    void check_granule() {
        if (is_power_of_two(numa_.granule) && numa_.granule >= longest_line() && numa_.granule <= largest_granule)
            return;
        complain(place_of(numa_, "granule"),
                 "memories take turns every {} bytes; write a power of two from {}, the longest line, to 1 GiB",
                 numa_.granule, longest_line());
    }

    void check_ranges() {
        const auto is_memory = [&](const std::string& name) {
            return std::ranges::find(machine_.memories, name, &MemoryConfig::name) != machine_.memories.end();
        };
        std::vector<std::string_view> known;
        for (const MemoryConfig& memory : machine_.memories) known.push_back(memory.name);
        const auto unknown = [&](const Mark& mark, const std::string& name) {
            complain(mark, "'{}' is no memory{}", shown(name), advice(name, known));
        };
        for (const HomeRange& range : numa_.ranges) {
            if (!is_memory(range.memory)) unknown(range.mark, range.memory);
            check_ends(range);
        }
        if (!numa_.otherwise.empty() && !is_memory(numa_.otherwise))
            unknown(place_of(numa_, "otherwise"), numa_.otherwise);
        auto ranges = numa_.ranges;
        std::ranges::stable_sort(ranges, {}, &HomeRange::from);
        for (std::size_t i = 1; i < ranges.size(); ++i)
            if (ranges[i].from < ranges[i - 1].to)
                complain(ranges[i].mark, "this range overlaps the one from {:#x} to {:#x}; ranges are disjoint",
                         ranges[i - 1].from, ranges[i - 1].to);
    }

    void check_ends(const HomeRange& range) {
        if (range.from >= range.to)
            complain(range.mark, "the range from {:#x} to {:#x} is empty; 'to' is the first address after it",
                     range.from, range.to);
        if (range.from % longest_line() != 0 || range.to % longest_line() != 0)
            complain(range.mark, "the range from {:#x} to {:#x} cuts lines; its ends must be multiples of {}",
                     range.from, range.to, longest_line());
    }

    void check_interconnect() {
        const Mark mark = place_of(numa_, "interconnect");
        const std::uint64_t most =
            std::min<std::uint64_t>(most_cycles, longest_of_interconnect / std::max<std::uint64_t>(1, machine_.period));
        if (numa_.interconnect.latency > most)
            complain(mark, "a latency of {} cycles is too long; write at most {}", numa_.interconnect.latency, most);
        if (numa_.interconnect.shared && numa_.interconnect.bytes_per_cycle == 0)
            complain(mark,
                     "the interconnect is shared, but carries any number of bytes at once; write 'bytes_per_cycle', or "
                     "remove 'shared'");
    }

    const MachineDescription& machine_;
    const NumaConfig& numa_;
};

}  // namespace

std::vector<Diagnostic> check_numa(const MachineDescription& machine) { return NumaChecker(machine).check(); }

std::uint32_t longest_line_to(const MachineDescription& machine, std::string_view component) {
    std::uint32_t longest = 0;
    for (const CacheConfig& cache : machine.caches)
        if (cache.next == component) longest = std::max<std::uint32_t>(longest, cache.transfer());
    return longest;
}

}  // namespace cachetally
