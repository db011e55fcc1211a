// SPDX-License-Identifier: BSD-3-Clause
// Arrays of tags: every layout of lru and fifo against a list, and what all arrays promise.
#include "sim/model/tags/cache_array.hpp"

#include <gtest/gtest.h>
// after gtest
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <list>

#include "base/random.hpp"
#include "sim/model/replacement/table.hpp"
#include "sim/model/tags/instruction_set.hpp"

namespace cachetally {
namespace {

/// A set as a list of lines, latest first: obviously lru (or fifo).
class ListSet {
public:
    ListSet(unsigned ways, bool reorders) : ways_(ways), reorders_(reorders) {}

    Entry access(Address line, Touch touch) {
        for (auto it = lines_.begin(); it != lines_.end(); ++it) {
            if (line_of(*it) != line) continue;
            const Entry found = *it;
            *it = (found & ~Entry{touch.clear}) | touch.set;
            if (touch.use && reorders_) lines_.splice(lines_.begin(), lines_, it);
            return found;
        }
        return 0;
    }
    Entry make_room() {
        if (lines_.size() < ways_) return 0;
        const Entry victim = lines_.back();
        lines_.pop_back();
        return victim;
    }
    Entry insert(Address line, Entry state) {
        const Entry victim = make_room();
        lines_.push_front(line | state | entry_bit::valid);
        return victim;
    }
    Entry remove(Address line) {
        for (auto it = lines_.begin(); it != lines_.end(); ++it) {
            if (line_of(*it) != line) continue;
            const Entry removed = *it;
            lines_.erase(it);
            return removed;
        }
        return 0;
    }

private:
    unsigned ways_;
    bool reorders_;
    std::list<Entry> lines_;
};

struct Layout {
    unsigned ways;
    Replacement replacement;
    bool packed = false;  ///< in words of 32 bits
};

class ArrayLayout : public testing::TestWithParam<std::tuple<std::string, Layout>> {
protected:
    ArrayLayout() { use_instruction_set(std::get<0>(GetParam())); }
    ~ArrayLayout() override { use_instruction_set(""); }

    static ArrayGeometry geometry(std::uint64_t sets) {
        const Layout& layout = std::get<1>(GetParam());
        return {
            .sets = sets, .ways = layout.ways, .replacement = layout.replacement, .line_bits = layout.packed ? 6U : 0U};
    }
};

TEST_P(ArrayLayout, DoesWhatAListDoes) {
    const Layout layout = std::get<1>(GetParam());
    if (layout.replacement == replacements::tree_plru || layout.replacement == replacements::bit_plru)
        return;  // no list does what they do
    const std::uint64_t sets = layout.packed ? 4 : 3;
    EXPECT_TRUE(rc::check([&] {
        const auto array = make_cache_array(geometry(sets));
        std::vector<ListSet> lists(sets, ListSet(layout.ways, layout.replacement == Replacement::lru));
        const auto steps = *rc::gen::container<std::vector<unsigned>>(rc::gen::inRange(0U, 1U << 20));
        for (const unsigned step : steps) {
            const std::uint64_t set = step % sets;
            // A few lines are too far away for words of 32 bits.
            const Address number = step / sets % (layout.ways * 2 + 1), far = layout.packed && step % 97 == 0;
            const Address line = (number * sets + set) * 64 + (far << 45);
            const auto state = static_cast<std::uint8_t>(step >> 10 & (entry_bit::dirty | entry_bit::prefetched));
            const Touch touch{(step >> 13 & 3) != 0, state, static_cast<std::uint8_t>(step >> 15 & 2)};
            switch (step >> 17) {
                case 0: RC_ASSERT(array->remove(set, line) == lists[set].remove(line)); break;
                case 1: RC_ASSERT(array->make_room(set) == lists[set].make_room()); break;
                case 2:
                case 3: {
                    const Entry expected = lists[set].access(line, touch);
                    RC_ASSERT(array->access(set, line, touch) == expected);
                    if (expected == 0) RC_ASSERT(array->insert(set, line, state) == lists[set].insert(line, state));
                    break;
                }
                default: {
                    const ReplaceResult result = array->replace(set, line, touch, state);
                    const Entry expected = lists[set].access(line, touch);
                    RC_ASSERT(result.miss == (expected == 0 ? 1U : 0U));
                    RC_ASSERT(result.old == (expected == 0 ? lists[set].insert(line, state) : expected));
                }
            }
        }
    }));
}

/// A batch does what its requests do one by one, and sends down what they would.
TEST_P(ArrayLayout, BatchesDoWhatTheirRequestsDo) {
    constexpr Address line_mask = ~Address{63};
    const IndexingPolicy index(Indexing::modulo, 4, 64);
    EXPECT_TRUE(rc::check([&] {
        const auto batched = make_cache_array(geometry(4)), single = make_cache_array(geometry(4));
        const auto steps = *rc::gen::container<std::vector<unsigned>>(rc::gen::inRange(0U, 1U << 20));
        const bool traffic = *rc::gen::inRange(0, 4) != 0, placed = *rc::gen::arbitrary<bool>();
        std::vector<BlockEvent> requests, expected;
        std::vector<std::uint16_t> positions, sent;
        std::array<std::uint64_t, KindLanes::kinds> misses{};
        std::uint64_t first_fills = 0;
        for (const unsigned step : steps) {
            if (requests.size() == KindLanes::most) break;
            constexpr EventKind kinds[] = {EventKind::load,      EventKind::store,    EventKind::fetch,
                                           EventKind::page_walk, EventKind::prefetch, EventKind::write_back};
            const EventKind kind = kinds[step % 6];
            const Address number = step / 6 % (std::get<1>(GetParam()).ways * 8 + 5);
            const Address line = number * 64 + ((step % 211 == 0 ? Address{1} : 0) << 45);
            requests.emplace_back(line + (step >> 10 & 56), kind);
            positions.push_back(static_cast<std::uint16_t>(step >> 4));
            const bool dirties = kind == EventKind::store || kind == EventKind::write_back;
            const Entry state = dirties ? entry_bit::dirty : 0;
            const ReplaceResult result =
                single->replace(index.set_of(line), line, {true, static_cast<std::uint8_t>(state)}, state);
            const auto send = [&](Address address, EventKind sent_kind) {
                expected.emplace_back(address, sent_kind);
                sent.push_back(positions.back());
            };
            if (result.miss == 0) continue;
            ++misses[static_cast<unsigned>(kind)];
            first_fills += result.old == 0;
            if (kind != EventKind::write_back) send(line, kind == EventKind::store ? EventKind::load : kind);
            if (traffic && is_dirty(result.old)) send(line_of(result.old), EventKind::write_back);
        }
        std::vector<BlockEvent> out(2 * requests.size() + 1);
        std::vector<std::uint16_t> out_positions(out.size());
        BatchCounts counts;
        const BlockEvent* const end = batched->handle({.requests = requests,
                                                       .positions = placed ? positions.data() : nullptr,
                                                       .out = out.data(),
                                                       .out_positions = out_positions.data(),
                                                       .line_mask = line_mask,
                                                       .write_back_traffic = traffic},
                                                      index, counts);
        RC_ASSERT(static_cast<std::size_t>(end - out.data()) == expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            RC_ASSERT(out[i].bits() == expected[i].bits());
            if (placed) RC_ASSERT(out_positions[i] == sent[i]);
        }
        for (unsigned kind = 0; kind < KindLanes::kinds; ++kind) RC_ASSERT(counts.misses.of(kind) == misses[kind]);
        RC_ASSERT(counts.first_fills == first_fills);
        for (std::uint64_t set = 0; set < 4; ++set) RC_ASSERT(batched->digest(set) == single->digest(set));
    }));
}

/// A batch of stores and loads, of which few lines are too far away for words of 32 bits.
std::vector<BlockEvent> any_requests(unsigned ways) {
    std::vector<BlockEvent> requests;
    for (const unsigned step : *rc::gen::container<std::vector<unsigned>>(rc::gen::inRange(0U, 1U << 20))) {
        if (requests.size() == KindLanes::most) break;
        const Address line = Address{step % (ways * 8 + 5)} * 64 + ((step % 307 == 0 ? Address{1} : 0) << 45);
        requests.emplace_back(line, step >> 10 & 1 ? EventKind::store : EventKind::load);
    }
    return requests;
}

/// As many lines as the four sets hold, so that no way stays empty.
std::vector<BlockEvent> filling_requests(unsigned ways) {
    std::vector<BlockEvent> requests;
    for (Address number = 0; number < Address{4} * ways; ++number)
        requests.emplace_back(number * 64, number % 2 == 0 ? EventKind::store : EventKind::load);
    return requests;
}

/// Copies do what their originals do; what a log undoes, and a copy written back, was never there; ways that were
/// emptied are filled first.
TEST_P(ArrayLayout, CopiesAndLogsBringBackWhatWas) {
    const IndexingPolicy index(Indexing::modulo, 4, 64);
    const unsigned ways = std::get<1>(GetParam()).ways;
    EXPECT_TRUE(rc::check([&] {
        auto array = make_cache_array(geometry(4));
        const auto single = make_cache_array(geometry(4));
        const auto run = [&](CacheArray& target, std::span<const BlockEvent> requests, ArrayLog* log) {
            std::vector<BlockEvent> out(2 * requests.size() + 1);
            BatchCounts counts;
            target.handle({.requests = requests, .out = out.data(), .line_mask = ~Address{63}, .log = log}, index,
                          counts);
        };
        const auto digests = [](const CacheArray& of) {
            return std::array{of.digest(0), of.digest(1), of.digest(2), of.digest(3)};
        };
        std::unique_ptr<CacheArray> copy;
        const bool full = *rc::gen::arbitrary<bool>();
        for (int round = 0; round < 3; ++round) {
            const std::vector<BlockEvent> requests = full && round == 0 ? filling_requests(ways) : any_requests(ways);
            array->copy_to(copy);
            const auto before = digests(*array);
            RC_ASSERT(digests(*copy) == before);
            if (array->keeps_log()) {
                ArrayLog log;
                log.clear();
                log.make_room(requests.size());
                run(*array, requests, &log);
                run(*copy, requests, nullptr);
                RC_ASSERT(digests(*copy) == digests(*array));
                array->undo(requests, log, index);
                RC_ASSERT(digests(*array) == before);
                array->copy_to(copy);
            }
            run(*array, requests, nullptr);
            copy->copy_to(array);
            RC_ASSERT(digests(*array) == before);
            run(*array, requests, nullptr);
            std::vector<Address> lines;
            for (const BlockEvent request : requests) {
                const Address line = request.block();
                const Entry state = request.kind() == EventKind::store ? entry_bit::dirty : 0;
                single->replace(index.set_of(line), line, {true, static_cast<std::uint8_t>(state)}, state);
                if (line / 64 % 3 == 0) lines.push_back(line);
            }
            RC_ASSERT(digests(*array) == digests(*single));
            bool held = false;
            for (const Address line : lines) held |= single->find(index.set_of(line + 64), line + 64) != 0;
            RC_ASSERT(array->holds_any(lines, 64, index) == held);
            for (const Address line : lines)
                RC_ASSERT(array->remove(index.set_of(line), line) == single->remove(index.set_of(line), line));
        }
    }));
}

std::string layout_name(const testing::TestParamInfo<std::tuple<std::string, Layout>>& test) {
    const Layout& layout = std::get<1>(test.param);
    constexpr std::array names{"lru", "tree_plru", "bit_plru", "fifo"};
    return std::get<0>(test.param) + names[static_cast<std::size_t>(layout.replacement)] + std::to_string(layout.ways) +
           (layout.packed ? "packed" : "");
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, ArrayLayout,
    testing::Combine(
        testing::ValuesIn(instruction_sets()),
        testing::Values(Layout{1, Replacement::lru}, Layout{3, Replacement::lru}, Layout{4, Replacement::lru},
                        Layout{6, Replacement::lru}, Layout{8, Replacement::lru}, Layout{12, Replacement::lru},
                        Layout{16, Replacement::lru}, Layout{24, Replacement::lru}, Layout{40, Replacement::lru},
                        Layout{1, Replacement::lru, true}, Layout{3, Replacement::lru, true},
                        Layout{4, Replacement::lru, true}, Layout{6, Replacement::lru, true},
                        Layout{8, Replacement::lru, true}, Layout{12, Replacement::lru, true},
                        Layout{16, Replacement::lru, true}, Layout{24, Replacement::lru, true},
                        Layout{2, replacements::fifo}, Layout{8, replacements::fifo}, Layout{20, replacements::fifo},
                        Layout{8, replacements::fifo, true}, Layout{4, replacements::tree_plru},
                        Layout{8, replacements::tree_plru}, Layout{12, replacements::tree_plru},
                        Layout{20, replacements::tree_plru}, Layout{3, replacements::tree_plru, true},
                        Layout{8, replacements::tree_plru, true}, Layout{12, replacements::tree_plru, true},
                        Layout{16, replacements::tree_plru, true}, Layout{8, replacements::bit_plru})),
    layout_name);

class EveryPolicy : public testing::TestWithParam<Replacement> {};

/// No line is lost or doubled whatever the policy chooses: what went in is found until it comes out.
TEST_P(EveryPolicy, ConservesLines) {
    constexpr unsigned ways = 6;
    const auto array = make_cache_array({.sets = 2, .ways = ways, .replacement = GetParam(), .seed = 7});
    std::list<Address> inside;
    Random random(3);
    for (int i = 0; i < 20000; ++i) {
        const Address line = random.below(24) * 128;  // all of set 0 as far as the caller is concerned
        const bool expected = std::ranges::find(inside, line) != inside.end();
        ASSERT_EQ(array->find(0, line) != 0, expected);
        if (random.below(10) == 0) {
            ASSERT_EQ(array->remove(0, line) != 0, expected);
            inside.remove(line);
            continue;
        }
        ASSERT_EQ(array->access(0, line, {}) != 0, expected);
        if (expected) continue;
        const Entry victim = array->insert(0, line, 0);
        ASSERT_EQ(victim != 0, inside.size() == ways);
        if (victim != 0) {
            ASSERT_NE(std::ranges::find(inside, line_of(victim)), inside.end());
            inside.remove(line_of(victim));
        }
        inside.push_back(line);
        ASSERT_EQ(array->find(1, line), 0U);
    }
}

/// Skipping a repeated use is right where it changes nothing, and declared where it is right.
TEST_P(EveryPolicy, DeclaresWhetherARepeatedUseChangesNothing) {
    constexpr unsigned ways = 6;
    bool idle_after_use = true, idle_after_insertion = true;
    for (const EmptyWay empty_way : {EmptyWay::lowest, EmptyWay::policy}) {
        const auto array =
            make_cache_array({.ways = ways, .replacement = GetParam(), .seed = 7, .empty_way = empty_way});
        Random random(3);
        for (int i = 0; i < 20000; ++i) {
            const Address line = random.below(12) * 64;
            const bool hit = array->access(0, line, {}) != 0;
            if (!hit) array->insert(0, line, 0);
            const std::uint64_t before = array->digest(0);
            array->access(0, line, {});
            if (array->digest(0) != before) (hit ? idle_after_use : idle_after_insertion) = false;
        }
    }
    const Repetition declared = row_of(GetParam()).repetition;
    EXPECT_EQ(declared.idle_after_use, idle_after_use);
    EXPECT_EQ(declared.idle_after_insertion, idle_after_insertion);
}

std::vector<Replacement> every_policy() {
    std::vector<Replacement> all;
    while (all.size() < replacement_rows().size()) all.push_back(static_cast<Replacement>(all.size()));
    return all;
}

INSTANTIATE_TEST_SUITE_P(All, EveryPolicy, testing::ValuesIn(every_policy()));

}  // namespace
}  // namespace cachetally
