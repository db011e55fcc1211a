// SPDX-License-Identifier: BSD-3-Clause
// CacheHierarchy and TracePlayer in platforms of others: data, debug, failures, memories that wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/tlm/both_hosts.hpp"
#include "tests/tlm/mocks.hpp"

namespace cachetally::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// L1 of two lines, 1 ns; memory 10 ns.
MachineDescription small_machine(unsigned cores = 1) {
    MachineDescription machine;
    machine.name = "small";
    machine.cores = cores;
    CacheConfig cache;
    cache.name = "L1";
    cache.next = "memory";
    cache.size = 128;
    cache.ways = 2;
    machine.caches = {cache};
    machine.memories.emplace_back();
    machine.memories.back().latency = 10;
    return machine;
}

/// A hierarchy, a memory with data that answers after 10 ns, and a program on each core.
struct Board {
    explicit Board(const MachineDescription& machine, std::vector<std::function<void(Initiator&)>> programs)
        : hierarchy("hierarchy", Topology(machine)), memory("memory") {
        memory.extra = 10 * nanosecond;
        hierarchy.memory[0].bind(memory.socket);
        for (std::size_t core = 0; core < programs.size(); ++core) {
            const std::string name = "core_" + std::to_string(core);
            cores.push_back(std::make_unique<Initiator>(name.c_str(), programs[core]));
            cores.back()->socket.bind(hierarchy.core[static_cast<unsigned>(core)]);
        }
    }
    CacheCounts counts() { return hierarchy.hierarchy().counts().caches[0]; }

    CacheHierarchy hierarchy;
    Memory memory;
    std::vector<std::unique_ptr<Initiator>> cores;
};

void fill(Payload& payload, tlm::tlm_command command, Address address, unsigned char* data, unsigned bytes) {
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(data);
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    payload.set_dmi_allowed(true);
}

TEST(CacheHierarchy, APayloadIsAReference) {
    Board board(small_machine(), {[](Initiator& core) {
                    unsigned char word[4] = {};
                    sc_time delay = 5 * nanosecond;
                    Payload read;
                    fill(read, tlm::TLM_READ_COMMAND, 0x40, word, 4);
                    core.socket->b_transport(read, delay);
                    EXPECT_TRUE(read.is_response_ok());
                    EXPECT_FALSE(read.is_dmi_allowed());
                    EXPECT_EQ(delay, 16 * nanosecond);
                    Payload write;
                    fill(write, tlm::TLM_WRITE_COMMAND, 0x44, word, 4);
                    core.socket->b_transport(write, delay);
                    EXPECT_EQ(delay, 17 * nanosecond);
                    AccessInfo info;
                    info.kind = EventKind::fetch;
                    Payload fetch;
                    fill(fetch, tlm::TLM_READ_COMMAND, 0x48, word, 4);
                    fetch.set_extension(&info);
                    core.socket->b_transport(fetch, delay);
                    fetch.clear_extension(&info);
                }});
    sc_core::sc_start();
    EXPECT_EQ(board.counts().loads, 1U);
    EXPECT_EQ(board.counts().stores, 1U);
    EXPECT_EQ(board.counts().fetches, 1U);
}

TEST(CacheHierarchy, DataAreThoseOfTheMemory) {
    Board board(small_machine(), {[](Initiator& core) {
                    std::uint32_t value = 0x11223344, found = 0;
                    for (const Address address : {0x0, 0x40, 0x80, 0xc0}) {  // the first two are written back
                        ++value;
                        EXPECT_EQ(core.access(true, address, &value, 4), tlm::TLM_OK_RESPONSE);
                    }
                    EXPECT_EQ(core.access(false, 0x40, &found, 4), tlm::TLM_OK_RESPONSE);
                    EXPECT_EQ(found, 0x11223346U);
                }});
    board.memory.bytes[0x3f] = 7;
    sc_core::sc_start();
    EXPECT_EQ(board.counts().writebacks_out, 3U);
    EXPECT_EQ(board.memory.number(0x0, 4), 0x11223345U);
    EXPECT_EQ(board.memory.bytes[0x3f], 7) << "the line that was written back";
}

TEST(CacheHierarchy, DebugTransportIsNotCountedAndDmiDenied) {
    Board board(small_machine(), {[](Initiator& core) {
                    unsigned char byte = 9;
                    Payload write;
                    fill(write, tlm::TLM_WRITE_COMMAND, 0x10, &byte, 1);
                    EXPECT_EQ(core.socket->transport_dbg(write), 1U);
                    tlm::tlm_dmi dmi;
                    dmi.allow_read_write();
                    EXPECT_FALSE(core.socket->get_direct_mem_ptr(write, dmi));
                    EXPECT_TRUE(dmi.is_none_allowed());
                }});
    sc_core::sc_start();
    EXPECT_EQ(board.memory.bytes[0x10], 9);
    EXPECT_TRUE(board.memory.seen.empty());
    EXPECT_EQ(board.counts(), CacheCounts{});
}

// Core 1 touches page 1, so that both pages lie in one transfer and two memories; what it writes back goes home, too.
TEST(CacheHierarchy, DataAreWhereTheyAreAtHome) {
    MachineDescription machine = small_machine(2);
    machine.caches[0].next = numa_name;
    machine.caches[0].shared_by = 1;
    machine.numa.nodes = 2;
    machine.memories = {{.name = "M0", .mark = {}}, {.name = "M1", .node = 1, .mark = {}}};
    CacheHierarchy hierarchy("hierarchy", Topology(machine));
    Memory near("near"), far("far");
    hierarchy.memory[0].bind(near.socket);
    hierarchy.memory[1].bind(far.socket);
    Initiator second("second", [](Initiator& core) {
        std::uint32_t value = 0x11223344;
        EXPECT_EQ(core.access(true, 0x1000, &value, 4), tlm::TLM_OK_RESPONSE);
    });
    Initiator first("first", [](Initiator& core) {
        wait(1000 * nanosecond);
        std::uint64_t both = 0, found = 0;
        EXPECT_EQ(core.access(false, 0xffc, &both, 8), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(both, 0x1122334400000000U);
        Payload write;
        unsigned char bytes[4] = {1, 2, 3, 4};
        fill(write, tlm::TLM_WRITE_COMMAND, 0xffe, bytes, 4);
        EXPECT_EQ(core.socket->transport_dbg(write), 4U);
        EXPECT_EQ(core.access(false, 0xffc, &found, 8), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(found, 0x1122040302010000U);
    });
    second.socket.bind(hierarchy.core[1]);
    first.socket.bind(hierarchy.core[0]);
    sc_core::sc_start();
    EXPECT_EQ(near.number(0xffe, 2), 0x0201U);
    EXPECT_EQ(far.number(0x1000, 4), 0x11220403U);
    EXPECT_EQ(near.number(0x1000, 4), 0U);
    const HierarchyCounts counts = hierarchy.hierarchy().counts();
    EXPECT_EQ(counts.numa[0], (NumaCounts{.local_reads = 1}));
    EXPECT_EQ(counts.numa[1], (NumaCounts{.local_reads = 1, .remote_reads = 1}));
}

TEST(CacheHierarchy, WhatIsNoReferenceIsRefusedAndNotCounted) {
    Board board(small_machine(), {[](Initiator& core) {
                    unsigned char word[4] = {}, enable[4] = {};
                    const auto answer = [&](Payload& payload) {
                        sc_time delay;
                        core.socket->b_transport(payload, delay);
                        EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
                        return payload.get_response_status();
                    };
                    Payload payload;
                    fill(payload, tlm::TLM_READ_COMMAND, 0, word, 0);
                    EXPECT_EQ(answer(payload), tlm::TLM_BURST_ERROR_RESPONSE);
                    fill(payload, tlm::TLM_READ_COMMAND, 0, word, 65536);
                    EXPECT_EQ(answer(payload), tlm::TLM_BURST_ERROR_RESPONSE);
                    fill(payload, tlm::TLM_WRITE_COMMAND, 0, word, 4);
                    payload.set_byte_enable_ptr(enable);
                    EXPECT_EQ(answer(payload), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
                    fill(payload, tlm::TLM_IGNORE_COMMAND, 0, word, 4);
                    EXPECT_EQ(answer(payload), tlm::TLM_OK_RESPONSE);
                    fill(payload, tlm::TLM_READ_COMMAND, ~Address{2}, nullptr, 8);
                    payload.set_byte_enable_ptr(nullptr);
                    EXPECT_EQ(answer(payload), tlm::TLM_ADDRESS_ERROR_RESPONSE);
                }});
    sc_core::sc_start();
    EXPECT_EQ(board.counts(), CacheCounts{});
}

TEST(CacheHierarchy, TheLastBytesAreAReference) {
    Board board(small_machine(), {[](Initiator& core) {
                    sc_time delay;
                    Payload payload;
                    fill(payload, tlm::TLM_READ_COMMAND, ~Address{7}, nullptr, 8);
                    core.socket->b_transport(payload, delay);
                    EXPECT_TRUE(payload.is_response_ok());
                }});
    sc_core::sc_start();
    EXPECT_EQ(board.counts().loads, 1U);
}

TEST(CacheHierarchy, FailuresOfTheMemoryAreHandedUp) {
    Board board(small_machine(), {[](Initiator& core) {
                    sc_time delay;
                    Payload below;
                    fill(below, tlm::TLM_READ_COMMAND, 0x40, nullptr, 4);
                    core.socket->b_transport(below, delay);
                    EXPECT_EQ(below.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
                    core.socket->b_transport(below, delay);
                    EXPECT_TRUE(below.is_response_ok()) << "told once: the line counts as held";
                    Payload above;
                    fill(above, tlm::TLM_READ_COMMAND, 0x1000, nullptr, 4);
                    core.socket->b_transport(above, delay);
                    EXPECT_TRUE(above.is_response_ok()) << "the failure before is over";
                }});
    board.memory.first_valid = 0x1000;
    sc_core::sc_start();
}

TEST(CacheHierarchy, MemoryLearnsWhoAsksAndWhy) {
    std::vector<AccessInfo> seen;
    Board board(small_machine(2), {[](Initiator&) {},
                                   [](Initiator& core) {
                                       AccessInfo info;
                                       info.site = 5;
                                       for (const Address address : {0x0, 0x40, 0x80}) {
                                           sc_time delay;
                                           Payload payload;
                                           fill(payload, tlm::TLM_WRITE_COMMAND, address, nullptr, 4);
                                           payload.set_extension(&info);
                                           core.socket->b_transport(payload, delay);
                                           payload.clear_extension(&info);
                                       }
                                   }});
    board.memory.on_access = [&](Payload& payload) {
        AccessInfo* info = nullptr;
        payload.get_extension(info);
        ASSERT_NE(info, nullptr);
        EXPECT_EQ(payload.is_write(), info->kind == EventKind::write_back);
        EXPECT_EQ(payload.get_data_length(), 64U);
        seen.push_back(*info);
    };
    sc_core::sc_start();
    ASSERT_EQ(seen.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(seen[i].kind, i == 3 ? EventKind::write_back : EventKind::load) << "a store fetches its line";
        EXPECT_EQ(seen[i].core, 1);
        EXPECT_EQ(seen[i].site, 5U);
        EXPECT_EQ(seen[i].time, 1000U) << "behind the cache";
    }
}

class ConflictAddresses final : public LinkListener {
public:
    std::uint32_t kinds() const override { return bit(EventKind::bank_conflict); }
    bool accepts_merged(std::uint32_t) const override { return false; }
    void on_event(const LinkEvent& event, Injector&) override { seen.push_back(event.address); }
    void on_control(const Control&, Tick, Injector&) override {}

    std::vector<Address> seen;
};

// Three lines are fetched, and the first is written back. Every other access is told to have conflicted.
TEST(CacheHierarchy, MemoriesMayTellOfBankConflicts) {
    Board board(small_machine(), {[](Initiator& core) {
                    for (const Address address : {0x0, 0x40, 0x80}) {
                        sc_time delay;
                        Payload payload;
                        fill(payload, tlm::TLM_WRITE_COMMAND, address, nullptr, 4);
                        core.socket->b_transport(payload, delay);
                    }
                }});
    unsigned accesses = 0;
    board.memory.on_access = [&](Payload& payload) {
        AccessInfo* info = nullptr;
        payload.get_extension(info);
        if (++accesses % 2 == 0) info->conflict = true;
    };
    ConflictAddresses conflicts;
    board.hierarchy.hierarchy().listen(Topology(small_machine()).link("L1-memory"), 0, conflicts);
    sc_core::sc_start();
    EXPECT_EQ(accesses, 4U);
    EXPECT_THAT(conflicts.seen, ElementsAre(0x40, 0x0));
}

// The second core's transaction has to wait until the first one's is through, and its time goes on.
TEST(CacheHierarchy, MemoriesMayWaitWithinATransaction) {
    std::vector<sc_time> ends(2);
    const auto program = [&](std::size_t number) {
        return [&ends, number](Initiator& core) {
            sc_time delay;
            Payload payload;
            fill(payload, tlm::TLM_READ_COMMAND, 0x1000 * (number + 1), nullptr, 4);
            core.socket->b_transport(payload, delay);
            ends[number] = sc_core::sc_time_stamp() + delay;
        };
    };
    MachineDescription machine = small_machine(2);
    machine.caches[0].shared_by = 0;
    Board board(machine, {program(0), program(1)});
    board.memory.latency = 20 * nanosecond;
    sc_core::sc_start();
    EXPECT_EQ(board.counts().load_misses, 2U);
    EXPECT_EQ(ends[0], 31 * nanosecond) << "1 in the cache, 20 and 10 in memory";
    EXPECT_EQ(ends[1], 51 * nanosecond) << "from 20 on";
}

/// One load.
class OneLoad final : public ReferenceSource {
public:
    unsigned cores() const override { return 1; }
    Batch next(unsigned) override { return {{&reference_, 1}, {Control::Kind::end, 0}}; }

private:
    Reference reference_{.address = 0x40, .size = 4};
};

TEST(TracePlayer, TellsWhereTheMemoryFails) {
    Board board(small_machine(), {});
    board.memory.first_valid = 0x1000;
    OneLoad source;
    TraceProgram program(board.hierarchy, source, {});
    TracePlayer player("player", program, 0);
    player.socket.bind(board.hierarchy.core[0]);
    sc_core::sc_start();
    const RunResult result = program.result();
    EXPECT_FALSE(result.complete);
    EXPECT_THAT(result.failure, HasSubstr("player: memory answers TLM_ADDRESS_ERROR_RESPONSE at address 0x40"));
}

TEST(TracePlayer, NeedsATargetThatTakesReferences) {
    Board board(small_machine(), {});
    OneLoad source;
    TraceProgram program(board.hierarchy, source, {});
    TracePlayer player("player", program, 0);
    Memory other("other");
    player.socket.bind(other.socket);
    sc_core::sc_start();
    EXPECT_THAT(program.result().failure, HasSubstr("bind it to a CacheHierarchy"));
}

}  // namespace
}  // namespace cachetally::testing
