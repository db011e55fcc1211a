// SPDX-License-Identifier: BSD-3-Clause
// No event is lost from sight while initiators wait for the ring, nor where the simulation ends meanwhile.
#include <gtest/gtest.h>

#include <string>

#include "tests/tlm/mocks.hpp"

namespace cachetally {
namespace {

using namespace testing;
namespace reg = tlm_monitor_register;
using sc_core::sc_start;

std::uint64_t events_of_rows(const TlmMonitorResult& result) {
    std::uint64_t sum = 0;
    for (const TlmMonitorRow& row : result.rows) sum += row.count;
    return sum;
}

void expect_all_accounted_for(const TlmMonitorResult& result) {
    EXPECT_EQ(events_of_rows(result) + result.lost_events + result.resident, result.events);
}

/// Three processors in front of one monitor; each reads its own lines, from `first` on.
struct Crowd {
    explicit Crowd(const TlmMonitorConfig& config) : monitor("monitor", config) {
        mux.first.bind(monitor.in);
        monitor.out.bind(memory.socket);
        for (std::uint64_t cpu = 0; cpu < 3; ++cpu) {
            const auto program = [cpu](Initiator& self) {
                for (std::uint64_t i = 0; i < 10; ++i) self.touch(false, cpu * 0x1000 + i / 2 * 64);
            };
            initiators.push_back(std::make_unique<Initiator>(sc_core::sc_gen_unique_name("cpu"), program));
            initiators.back()->socket.bind(mux.in);
        }
    }
    bool finished() const {
        for (const auto& initiator : initiators)
            if (!initiator->finished) return false;
        return true;
    }
    unsigned waiting() const {
        unsigned count = 0;
        for (const auto& initiator : initiators) count += initiator->finished ? 0 : 1;
        return count;
    }

    TlmMonitor monitor;
    Bus mux{"mux"};
    Memory memory{"memory"};
    std::vector<std::unique_ptr<Initiator>> initiators;
};

TlmMonitorConfig ring_of(std::uint64_t capacity, bool software_reads) {
    TlmMonitorConfig config;
    config.settings = "counters=1,base=0x8000,capacity=" + std::to_string(capacity);
    config.software_reads = software_reads;
    return config;
}

// Lines 0, 0, 1, 1, 2 of one processor: line 0 is in the ring, line 1 waits for a place, line 2 is in the counter.
TEST(TlmWaiting, ARecordThatWaitsIsResident) {
    Platform platform(
        [](Initiator& cpu) {
            for (std::uint64_t i = 0; i < 10; ++i) cpu.touch(false, i / 2 * 64);
        },
        ring_of(1, true));
    sc_start(1000 * nanosecond);
    EXPECT_FALSE(platform.cpu.finished);
    const TlmMonitorResult meanwhile = platform.monitor.result();
    EXPECT_EQ(meanwhile.events, 5U);
    EXPECT_EQ(events_of_rows(meanwhile), 2U);
    EXPECT_EQ(meanwhile.resident, 3U);
    const TlmMonitorResult result = platform.monitor.finish();
    EXPECT_EQ(result.rows, (std::vector<TlmMonitorRow>{{0, 1, 0, 2}, {64, 1, 0, 2}, {128, 1, 0, 1}}));
    EXPECT_EQ(result.resident, 0U);
    EXPECT_EQ(platform.counts(), (std::map<std::uint64_t, std::uint64_t>{{0, 2}, {64, 2}, {128, 1}}));
}

TEST(TlmWaiting, SeveralInitiatorsWaitAtAFullRing) {
    Crowd crowd(ring_of(2, true));
    sc_start(1000 * nanosecond);
    EXPECT_EQ(crowd.waiting(), 3U);
    const TlmMonitorResult meanwhile = crowd.monitor.result();
    EXPECT_EQ(meanwhile.records, 2U);
    expect_all_accounted_for(meanwhile);
    const TlmMonitorResult result = crowd.monitor.finish();
    EXPECT_EQ(result.events, meanwhile.events);
    EXPECT_EQ(result.resident, 0U);
    EXPECT_EQ(events_of_rows(result), result.events);
}

/// At any time, with places that become free late; in the end all have come through.
TEST(TlmWaiting, SeveralInitiatorsWaitForASlowMemory) {
    Crowd crowd(ring_of(1, false));
    crowd.memory.latency = 7 * nanosecond;
    for (unsigned i = 0; i < 1000 && !crowd.finished(); ++i) {
        sc_start(3 * nanosecond);
        expect_all_accounted_for(crowd.monitor.result());
    }
    EXPECT_TRUE(crowd.finished());
    const TlmMonitorResult result = crowd.monitor.finish();
    EXPECT_EQ(result.events, 30U);
    EXPECT_EQ(events_of_rows(result), 30U);
}

// finish() has put into the rows what the initiators waited with: they do not send it again when they go on.
TEST(TlmWaiting, WhoGoesOnAfterTheEndSendsNothingTwice) {
    Crowd crowd(ring_of(2, true));
    sc_start(1000 * nanosecond);
    crowd.monitor.finish();
    Payload payload;
    std::uint32_t control = 1;  // the tail follows the head from now on
    payload.set_write();
    payload.set_address(reg::control);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&control));
    payload.set_data_length(4);
    payload.set_streaming_width(4);
    sc_time delay;
    crowd.monitor.control.get_base_interface().b_transport(payload, delay);
    EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
    sc_start(1000 * nanosecond);
    EXPECT_TRUE(crowd.finished());
    const TlmMonitorResult result = crowd.monitor.finish();
    EXPECT_EQ(result.events, 30U);
    EXPECT_EQ(events_of_rows(result), 30U);
}

}  // namespace
}  // namespace cachetally
