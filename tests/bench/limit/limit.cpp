// SPDX-License-Identifier: BSD-3-Clause
// How fast one fixed machine can be simulated by loops written for it alone: bench3's three levels (LRU, write-back,
// write-allocate), the TLBs of bench3tlb without page walks, and a monitor of 128 counters (LRU, by line).
//   limit run random|sequential NUMBER      million references per second of the faster of two loops, a line per row
//   limit lackey random|sequential NUMBER   the same references as valgrind's lackey would write them
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ways.hpp"

namespace limit {
namespace {

using Line = std::uint64_t;
constexpr std::uint32_t empty = 0xfffffffe;

/// On huge pages.
template <class T>
struct Array {
    static constexpr std::size_t page = 2 << 20;
    explicit Array(std::size_t count, T value = {})
        : size(count), data(static_cast<T*>(std::aligned_alloc(page, (count * sizeof(T) + page - 1) / page * page))) {
        if (data == nullptr) std::abort();
        madvise(data, count * sizeof(T), MADV_HUGEPAGE);
        std::fill_n(data, count, value);
    }
    ~Array() { std::free(data); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    std::size_t size;
    T* data;
};
using Words = Array<std::uint64_t>;

/// What a level asks of the next: lines, shifted left by one, the lowest bit for write-backs.
struct Requests {
    explicit Requests(std::size_t most) : of(most) {}
    Array<std::uint64_t> of;
    std::size_t count = 0;
    void add_if(bool wanted, Line line, bool write_back) {
        of.data[count] = line << 1 | static_cast<std::uint64_t>(write_back);
        count += wanted ? 1 : 0;
    }
};

/// A cache of 64-byte lines. A word is (line / sets) << 1 | dirty.
template <unsigned ways, std::uint64_t sets>
struct Level {
    static constexpr int set_bits = std::countr_zero(sets);
    Array<std::uint32_t> words{sets * ways, empty};
    std::uint64_t misses = 0, dirty_evictions = 0;

    const std::uint32_t* set_of(Line line) const { return words.data + line % sets * ways; }

    /// `miss(victim, dirty)` after the line has been put in.
    template <class Miss>
    void access(Line line, std::uint32_t store, Miss miss) {
        std::uint32_t* const set = words.data + line % sets * ways;
        const std::uint32_t word = static_cast<std::uint32_t>(line >> set_bits) << 1;
        if (const unsigned found = find<ways>(set, word, 1)) {
            const auto way = static_cast<unsigned>(std::countr_zero(found));
            return move_to_front<ways>(set, way, set[way] | store);
        }
        const std::uint32_t victim = set[ways - 1];
        const bool dirty = victim != empty && (victim & 1) != 0;
        move_to_front<ways>(set, ways - 1, word | store);
        ++misses;
        dirty_evictions += dirty ? 1 : 0;
        miss(static_cast<Line>(victim >> 1) << set_bits | line % sets, dirty);
    }
};

struct Caches {
    static constexpr std::size_t block = 4096;
    Level<8, 64> first;
    Level<8, 512> second;
    Level<16, 8192> third;
    Requests to_second{2 * block + 1}, to_third{4 * block + 2};

    /// One reference through all levels: the fetch goes before the victim's write-back.
    void access(Line line, std::uint32_t store) {
        first.access(line, store, [&](Line victim, bool dirty) {
            access_second(line, 0);
            if (dirty) access_second(victim, 1);
        });
    }
    __attribute__((noinline)) void access_second(Line line, std::uint32_t write_back) {
        second.access(line, write_back, [&](Line victim, bool dirty) {
            third.access(line, 0, [](Line, bool) {});
            if (dirty) third.access(victim, 1, [](Line, bool) {});
        });
    }

    /// Many references level after level; `runs` as in Requests. The levels do not answer each other, so this is exact.
    void access(const std::uint64_t* runs, std::size_t count) {
        to_second.count = to_third.count = 0;
        for (std::size_t i = 0; i < count; ++i) pass(first, runs[i], to_second);
        for (std::size_t i = 0; i < to_second.count; ++i) {
            pass(second, to_second.of.data[i], to_third);
            if (to_third.count > 0) __builtin_prefetch(third.set_of(to_third.of.data[to_third.count - 1] >> 1));
        }
        for (std::size_t i = 0; i < to_third.count; ++i)
            third.access(to_third.of.data[i] >> 1, to_third.of.data[i] & 1, [](Line, bool) {});
    }
    template <class From>
    static void pass(From& from, std::uint64_t request, Requests& to) {
        from.access(request >> 1, request & 1, [&](Line victim, bool dirty) {
            to.add_if(true, request >> 1, false);
            to.add_if(dirty, victim, true);
        });
    }
};

/// 64 entries in 4 ways, and 1,536 in 12.
struct Tlb {
    Array<std::uint32_t> first{16 * 4, ~0U}, second{128 * 16, ~0U};
    std::uint64_t last = ~std::uint64_t{0}, misses = 0;

    void access(std::uint64_t page) {
        if (page == last) return;
        last = page;
        std::uint32_t* const set = first.data + page % 16 * 4;
        const auto word = static_cast<std::uint32_t>(page >> 4);
        if (set[0] == word) return;
        unsigned way = 1;
        while (way < 3 && set[way] != word) ++way;
        const bool hit = set[way] == word;
        for (; way > 0; --way) set[way] = set[way - 1];
        set[0] = word;
        if (!hit) look_up_second(page);
    }
    void look_up_second(std::uint64_t page) {
        std::uint32_t* const set = second.data + page % 128 * 16;
        const auto word = static_cast<std::uint32_t>(page >> 7);
        const unsigned found = find<16>(set, word, 0) & 0xfff;
        misses += found == 0 ? 1 : 0;
        move_to_front<16>(set, found != 0 ? static_cast<unsigned>(std::countr_zero(found)) : 11, word);
    }
};

/// Counters in buckets by hash. Uses are logged, and a counter's place in the order is that of its last one: what is
/// older in the log is passed over when a victim is looked for.
struct Tally {
    static constexpr unsigned counters = 128, buckets = 64, ways = 16;
    static constexpr std::uint64_t log_size = 1 << 16;
    Array<std::uint32_t> keys{buckets * ways, ~0U}, counts{buckets * ways};
    Array<std::uint64_t> last_use{buckets * ways, ~std::uint64_t{0}};
    Array<std::uint16_t> log{log_size};
    struct Record {
        std::uint32_t key, count;
    };
    Array<Record> ring{log_size};
    std::uint64_t time = 0, oldest = 0, evictions = 0;
    unsigned used = 0, latest = 0;
    std::uint32_t latest_key = ~0U;

    void count(Line line, std::uint32_t number) {
        const auto key = static_cast<std::uint32_t>(line);
        if (key != latest_key) {
            const unsigned bucket = (key * 0x9E3779B1U >> 26) * ways;
            const unsigned found = find<ways>(keys.data + bucket, key, 0);
            latest = found != 0 ? bucket + static_cast<unsigned>(std::countr_zero(found)) : insert(key, bucket);
            latest_key = key;
            last_use.data[latest] = time;
            log.data[time++ % log_size] = static_cast<std::uint16_t>(latest);
            if (time - oldest >= log_size) compact();
        }
        counts.data[latest] += number;
    }
    __attribute__((noinline)) unsigned insert(std::uint32_t key, unsigned bucket) {
        if (used < counters) {
            ++used;
        } else {
            while (last_use.data[log.data[oldest % log_size]] != oldest) ++oldest;
            const unsigned victim = log.data[oldest++ % log_size];
            ring.data[evictions++ % log_size] = {keys.data[victim], counts.data[victim]};
            keys.data[victim] = ~0U;
            counts.data[victim] = 0;
            last_use.data[victim] = ~std::uint64_t{0};
        }
        const unsigned vacant = find<ways>(keys.data + bucket, ~0U, 0);
        if (vacant == 0) std::abort();
        const unsigned slot = bucket + static_cast<unsigned>(std::countr_zero(vacant));
        keys.data[slot] = key;
        return slot;
    }
    __attribute__((noinline)) void compact() {
        std::vector<std::uint16_t> live;
        for (std::uint64_t i = oldest; i < time; ++i)
            if (last_use.data[log.data[i % log_size]] == i) live.push_back(log.data[i % log_size]);
        oldest = time - live.size();
        for (std::size_t i = 0; i < live.size(); ++i) {
            log.data[(oldest + i) % log_size] = live[i];
            last_use.data[live[i]] = oldest + i;
        }
    }
};

/// A reference is its address | 8 << 48 | store << 63.
struct Decoded {
    Line line, last_line;
    std::uint32_t store;
    explicit Decoded(std::uint64_t word)
        : line((word & 0xffffffffffff) >> 6),
          last_line(((word & 0xffffffffffff) + (word >> 48 & 0x7fff) - 1) >> 6),
          store(static_cast<std::uint32_t>(word >> 63)) {}
};

struct Counts {
    std::uint64_t first = 0, second = 0, third = 0, tlb = 0, records = 0;
    bool operator==(const Counts&) const = default;
};

template <bool translated, bool watched>
struct Machine {
    Caches caches;
    Tlb tlb;
    Tally tally;
    Array<std::uint64_t> runs{2 * Caches::block};  ///< as in Requests
    Array<std::uint32_t> lengths{2 * Caches::block};

    /// One reference after the other.
    void make_each(const Words& words) {
        const auto make = [&](Line line, std::uint32_t store) {
            if (translated) tlb.access(line >> 6);
            if (watched) tally.count(line, 1);
            caches.access(line, store);
        };
        for (std::size_t i = 0; i < words.size; ++i) {
            const Decoded reference(words.data[i]);
            make(reference.line, reference.store);
            if (reference.last_line != reference.line) make(reference.last_line, reference.store);
        }
    }

    /// Blocks, in which references of the same line that follow each other are one; part after part.
    void make_blocks(const Words& words) {
        for (std::size_t begin = 0; begin < words.size; begin += Caches::block) {
            const std::size_t count = merge(words.data + begin, std::min(Caches::block, words.size - begin));
            caches.access(runs.data, count);
            if (translated)
                for (std::size_t i = 0; i < count; ++i) tlb.access(runs.data[i] >> 7);
            if (watched)
                for (std::size_t i = 0; i < count; ++i) tally.count(runs.data[i] >> 1, lengths.data[i]);
        }
    }
    std::size_t merge(const std::uint64_t* words, std::size_t number) {
        std::size_t count = 0;
        Line last = ~Line{0};
        const auto add = [&](Line line, std::uint32_t store) {
            if (line == last) {
                runs.data[count - 1] |= store;
                ++lengths.data[count - 1];
                return;
            }
            runs.data[count] = line << 1 | store;
            lengths.data[count++] = 1;
            last = line;
        };
        for (std::size_t i = 0; i < number; ++i) {
            const Decoded reference(words[i]);
            add(reference.line, reference.store);
            if (reference.last_line != reference.line) [[unlikely]]
                add(reference.last_line, reference.store);
        }
        return count;
    }

    Counts counts() const {
        return {caches.first.misses, caches.second.misses, caches.third.misses, tlb.misses, tally.evictions};
    }
};

/// Seconds; what has been counted goes to `counts`.
template <class Machine>
double seconds(void (Machine::*make)(const Words&), const Words& words, Counts& counts) {
    const auto machine = std::make_unique<Machine>();
    const auto begin = std::chrono::steady_clock::now();
    (machine.get()->*make)(words);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    counts = machine->counts();
    return time.count();
}

template <bool translated, bool watched>
bool report(const char* row, const Words& words) {
    using Fixed = Machine<translated, watched>;
    Counts each, blocks;
    const double time = std::min(seconds(&Fixed::make_each, words, each), seconds(&Fixed::make_blocks, words, blocks));
    std::printf("%s %.1f misses %lu %lu %lu TLB %lu records %lu\n", row, static_cast<double>(words.size) / time / 1e6,
                each.first, each.second, each.third, each.tlb, each.records);
    if (each != blocks) std::fprintf(stderr, "limit: the two loops disagree on %s\n", row);
    return each == blocks;
}

/// 8-byte words of 16 MiB, every fourth a store.
void fill(Words& words, bool random) {
    std::uint64_t state = 88172645463325252;
    for (std::uint64_t i = 0; i < words.size; ++i) {
        state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
        const std::uint64_t value = state * 2685821657736338717;
        const std::uint64_t word = random ? value >> 43 : i % (1 << 21);
        const bool store = random ? (value >> 20 & 3) == 0 : i % 4 == 3;
        words.data[i] = (0x10000000 + word * 8) | std::uint64_t{8} << 48 | static_cast<std::uint64_t>(store) << 63;
    }
}

int usage() {
    std::fputs("usage: limit run|lackey random|sequential NUMBER\n", stderr);
    return 2;
}

}  // namespace
}  // namespace limit

int main(int count, char** values) {
    using namespace limit;
    if (count != 4) return usage();
    const std::string what = values[1], string = values[2];
    if ((what != "run" && what != "lackey") || (string != "random" && string != "sequential")) return usage();
    Words words(std::strtoull(values[3], nullptr, 10));
    fill(words, string == "random");
    if (what == "run")
        return report<false, false>("plain", words) && report<true, false>("tlb", words) &&
                       report<false, true>("monitor", words) && report<true, true>("both", words)
                   ? 0
                   : 1;
    for (std::size_t i = 0; i < words.size; ++i)
        std::printf(" %c %lx,8\n", words.data[i] >> 63 != 0 ? 'S' : 'L', words.data[i] & 0xffffffffffff);
    return 0;
}
