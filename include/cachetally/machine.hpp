// SPDX-License-Identifier: BSD-3-Clause
// The description of a machine: what a machine file says, as values. No behaviour.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cachetally/types.hpp"

namespace cachetally {

/// The name of what caches of NUMA nodes lead to: it knows in which memory an address is at home.
inline constexpr const char* numa_name = "numa";

/// The longest latency, in cycles, and the longest cycle, in picoseconds, that a machine may have.
inline constexpr std::uint64_t most_cycles = 1'000'000, longest_cycle = 1'000'000;

/// Place in a machine file, counted from 1; 0 = not from a file.
struct Mark {
    int line = 0;
    int column = 0;

    friend bool operator==(const Mark&, const Mark&) = default;
};

/// Where a machine file gives the values of a component, by key; empty where it is not from a file.
using KeyMarks = std::map<std::string, Mark, std::less<>>;

/// Which references a first-level component takes.
enum class Serves : std::uint8_t { data, fetch, both };

/// By the rows of sim/model/replacement/table.hpp; machine files have their names.
enum class Replacement : std::uint8_t { lru };

/// Which way a line goes to while some of the set are empty; `policy` is for policies whose lines keep their ways.
enum class EmptyWay : std::uint8_t {
    lowest,  ///< the lowest empty one
    policy,  ///< where the replacement policy points, empty or not
};

/// Which set a line belongs to: by line number modulo number of sets, or by a function of its table.
enum class Indexing : std::uint8_t { modulo };

/// What a level holds relative to the levels above it.
enum class Inclusion : std::uint8_t {
    nine,       ///< filled by misses, independent of the levels above
    inclusive,  ///< filled by misses; a line that leaves is invalidated above, too
    exclusive,  ///< filled by victims from above; a line that hits moves up and leaves
    victim,     ///< filled by victims from above; a line that hits is copied up and stays
};

constexpr bool filled_by_victims(Inclusion inclusion) {
    return inclusion == Inclusion::exclusive || inclusion == Inclusion::victim;
}

enum class WritePolicy : std::uint8_t { write_back, write_through };

/// What a level does with a write-back from above that misses.
enum class WriteBackMiss : std::uint8_t {
    allocate,  ///< take the line as it is, without fetching
    fetch,     ///< fetch the line from below (a load), then write
    bypass,    ///< hand it to the next level
};

enum class PrefetchKind : std::uint8_t { none };

struct PrefetchConfig {
    PrefetchKind kind = PrefetchKind::none;
    unsigned degree = 1;    ///< lines per trigger
    unsigned distance = 1;  ///< lines (next_line, stream) or strides ahead of the trigger
    unsigned entries = 16;  ///< entries of the stride table, or streams followed

    friend bool operator==(const PrefetchConfig&, const PrefetchConfig&) = default;
};

/// The way from a cache to the component below, or from a NUMA node to the others.
struct BusConfig {
    unsigned latency = 0;          ///< cycles of a request or a victim on the way down
    unsigned bytes_per_cycle = 0;  ///< 0 = no limit
    bool shared = false;           ///< one for all copies of the cache; else one each

    friend bool operator==(const BusConfig&, const BusConfig&) = default;
};

struct CacheConfig {
    std::string name;
    std::string next;              ///< the component below
    Serves serves = Serves::both;  ///< what it takes from the core; `both` at lower levels
    unsigned shared_by = 0;        ///< cores per copy; 0 = all
    std::uint64_t size = 0;        ///< bytes
    unsigned ways = 0;             ///< 0 = fully associative
    unsigned line = 64;            ///< bytes, a power of two from 8 to 4096
    unsigned sector = 0;           ///< bytes of a part that is fetched by itself; 0 = the line is fetched as a whole
    unsigned latency = 1;          ///< cycles that this level adds
    Replacement replacement = Replacement::lru;
    std::uint64_t seed = 1;  ///< of random replacement
    EmptyWay empty_way = EmptyWay::lowest;
    Indexing indexing = Indexing::modulo;
    unsigned slices = 0;             ///< equal parts, one of which a hash chooses for a line; 0 = not sliced
    bool virtually_indexed = false;  ///< next to a core only
    Inclusion inclusion = Inclusion::nine;
    WritePolicy write = WritePolicy::write_back;
    bool write_allocate = true;
    bool write_back_first = false;  ///< victim written back before the demand fetch instead of after it
    WriteBackMiss write_back_miss = WriteBackMiss::allocate;
    bool write_back_traffic = true;    ///< false: dirty victims vanish
    bool store_hit_refreshes = true;   ///< a store that hits counts as a use for replacement
    bool write_back_refreshes = true;  ///< a write-back that hits counts as a use for replacement
    PrefetchConfig prefetch;
    BusConfig bus;
    unsigned outstanding_misses = 0;  ///< requests below at a time, per copy; 0 = no limit
    unsigned write_buffer = 0;        ///< victims and stores that wait to go down, per copy; 0 = no limit
    Mark mark;
    KeyMarks keys{};

    /// Bytes of what it asks for and hands down: a sector, or the line.
    unsigned transfer() const { return sector != 0 ? sector : line; }

    friend bool operator==(const CacheConfig&, const CacheConfig&) = default;
};

enum class Protocol : std::uint8_t { none, mesi, moesi };

/// How a node's requests reach the others.
enum class CoherenceBy : std::uint8_t {
    snooping,   ///< each is broadcast
    directory,  ///< a directory at the point of coherence knows who holds what
};

/// Keeps the caches that belong to some cores only coherent (docs/coherence.md). Latencies in cycles.
struct CoherenceConfig {
    Protocol protocol = Protocol::none;
    CoherenceBy by = CoherenceBy::snooping;
    unsigned latency = 4;   ///< of a request: until all have answered, or until the directory has looked it up
    unsigned forward = 20;  ///< directory: until those that it asks have answered
    unsigned supply = 20;   ///< of a line, from node to node
    Mark mark;
    KeyMarks keys{};

    friend bool operator==(const CoherenceConfig&, const CoherenceConfig&) = default;
};

struct TlbConfig {
    std::string name;
    std::string next;  ///< the next TLB; empty = page walk
    Serves serves = Serves::both;
    unsigned shared_by = 1;  ///< cores per copy; 0 = all
    unsigned entries = 0;
    unsigned ways = 0;     ///< 0 = fully associative
    unsigned latency = 0;  ///< cycles that a lookup here adds
    Replacement replacement = Replacement::lru;
    std::uint64_t seed = 1;
    Indexing indexing = Indexing::modulo;
    std::vector<std::uint64_t> page_sizes;  ///< bytes; pages of other sizes pass it by; empty = all
    std::uint64_t granule = 0;              ///< bytes that one entry maps at most; 0 = a whole page
    unsigned coalesces = 1;                 ///< pages in consecutive frames that one entry may map, a power of two
    Mark mark;
    KeyMarks keys{};

    friend bool operator==(const TlbConfig&, const TlbConfig&) = default;
};

enum class Mapping : std::uint8_t {
    identity,    ///< physical = virtual
    contiguous,  ///< frames in order of first touch
    random,      ///< free frames drawn by a seeded generator at first touch
    coloured,    ///< random among frames whose colour (frame number modulo colours) is that of the page
};

/// Virtual addresses [from, to) use pages of `size`.
struct PageRange {
    Address from = 0;
    Address to = 0;
    std::uint64_t size = 0;
    Mark mark;

    friend bool operator==(const PageRange&, const PageRange&) = default;
};

struct PagesConfig {
    std::uint64_t size = 4096;  ///< bytes, 4 KiB .. 1 GiB, a power of two
    Mapping mapping = Mapping::identity;
    unsigned colours = 1;
    std::uint64_t seed = 1;
    std::vector<PageRange> ranges;  ///< disjoint; elsewhere `size` holds
    std::string walk_through;       ///< cache (or memory) that page walks enter; empty = first data cache of the core
    unsigned walk_latency = 0;      ///< cycles that a walk costs besides its memory references
    bool walk_references = true;    ///< false: a walk costs walk_latency only
    std::vector<unsigned> walk_caches;  ///< entries per level of the page table above the last, from the root down
    Mark mark;
    KeyMarks keys{};

    friend bool operator==(const PagesConfig&, const PagesConfig&) = default;
};

/// Which memory an address is at home in, where nodes have memories of their own.
enum class HomePolicy : std::uint8_t {
    first_touch,  ///< a page: the memory of the node that asks for something of it first
    interleaved,  ///< the memories in turn, granule by granule
    fixed,        ///< by ranges of addresses
};

/// Physical addresses [from, to) are at home in `memory`.
struct HomeRange {
    Address from = 0;
    Address to = 0;
    std::string memory;
    Mark mark;

    friend bool operator==(const HomeRange&, const HomeRange&) = default;
};

/// Nodes of some cores each, with memories of their own (docs/numa.md).
struct NumaConfig {
    unsigned nodes = 0;  ///< each of as many cores; 0 = all memory is equally far from all cores
    HomePolicy policy = HomePolicy::first_touch;
    std::uint64_t granule = 4096;   ///< bytes, a power of two; of interleaved homes
    std::vector<HomeRange> ranges;  ///< disjoint; of fixed homes
    std::string otherwise;          ///< fixed: the memory of all other addresses; empty = the first
    BusConfig interconnect;         ///< the way between nodes: one per node that asks, or one for all
    Mark mark;
    KeyMarks keys{};

    friend bool operator==(const NumaConfig&, const NumaConfig&) = default;
};

struct MemoryConfig {
    std::string name = "memory";
    unsigned node = 0;                            ///< that it belongs to, where there are nodes
    std::uint64_t size = std::uint64_t{1} << 40;  ///< bytes; MachineDescription::bytes_for_pages()
    unsigned latency = 100;                       ///< cycles
    unsigned banks = 1;                           ///< a power of two
    std::uint64_t interleave = 64;                ///< bytes that follow each other in a bank, a power of two
    unsigned bank_busy = 0;                       ///< cycles that an access takes its bank for; 0 = banks never wait
    Mark mark;
    KeyMarks keys{};

    friend bool operator==(const MemoryConfig&, const MemoryConfig&) = default;
};

/// A monitor as the machine file states it; the monitor room gives the keys their meaning.
struct MonitorEntry {
    struct Setting {
        std::string key;
        std::string value;
        Mark mark;

        friend bool operator==(const Setting&, const Setting&) = default;
    };
    std::vector<Setting> settings;
    Mark mark;

    friend bool operator==(const MonitorEntry&, const MonitorEntry&) = default;
};

struct MachineDescription {
    std::string name;
    std::string description;
    std::string source;           ///< where the figures come from
    std::uint64_t period = 1000;  ///< picoseconds per cycle, 1 to 10^6
    unsigned cores = 1;           ///< 1 to 256
    std::vector<CacheConfig> caches;
    CoherenceConfig coherence;
    std::vector<TlbConfig> tlbs;
    PagesConfig pages;
    NumaConfig numa;
    std::vector<MemoryConfig> memories;
    std::vector<MonitorEntry> monitors;
    std::string file;  ///< for messages and provenance
    std::string text;  ///< the file as read
    KeyMarks keys{};

    /// True where links or banks of memory take time of their own (docs/timing.md).
    bool has_link_timing() const;

    /// True where nodes have memories of their own (docs/numa.md).
    bool has_nodes() const { return numa.nodes != 0; }
    unsigned cores_per_node() const { return has_nodes() ? cores / numa.nodes : cores; }

    /// True where the page table may move a line of this cache to another set: where the set comes from the virtual
    /// address, and from bits of it that translation changes.
    bool is_indexed_by_pages(const CacheConfig& cache) const;

    /// In which frames are found: the first memory, or all of them together where there are nodes.
    std::uint64_t bytes_for_pages() const;

    friend bool operator==(const MachineDescription&, const MachineDescription&) = default;
};

}  // namespace cachetally
