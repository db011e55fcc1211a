// SPDX-License-Identifier: BSD-3-Clause
// What TlmMonitor counts and what it leaves alone, between mocks with bad habits.
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "monitor/counter_array.hpp"
#include "tests/monitor/slow_counters.hpp"
#include "tests/tlm/mocks.hpp"
#include "tests/tlm/warnings.hpp"

namespace cachetally {
namespace {

using namespace testing;
using sc_core::sc_start;
using Counts = std::map<std::uint64_t, std::uint64_t>;

TEST(TlmTransport, CountsReadsAndWritesByLine) {
    Platform platform([](Initiator& cpu) {
        cpu.touch(false, 0x1000);
        cpu.touch(true, 0x1020);
        cpu.touch(false, 0x103e);       // straddles two lines
        cpu.touch(false, 0x2000, 129);  // three lines
        std::uint32_t word = 0;
        Payload nothing;
        nothing.set_command(tlm::TLM_IGNORE_COMMAND);
        nothing.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
        sc_time delay;
        cpu.socket->b_transport(nothing, delay);
    });
    sc_start();
    EXPECT_TRUE(platform.cpu.finished);
    EXPECT_EQ(platform.monitor.result().resident, 7U);
    EXPECT_EQ(platform.counts(), (Counts{{0x1000, 3}, {0x1040, 1}, {0x2000, 1}, {0x2040, 1}, {0x2080, 1}}));
    EXPECT_EQ(platform.monitor.result().events, 7U);
    EXPECT_EQ(platform.memory.seen.size(), 5U);
}

/// All that a platform's software would find in the ring, added up.
Counts read_ring(Memory& memory, std::uint64_t base, std::uint64_t records) {
    Counts counts;
    for (std::uint64_t i = 0; i < records; ++i)
        counts[memory.number(base + 16 * i, 8)] += memory.number(base + 16 * i + 12, 4);
    return counts;
}

TEST(TlmTransport, RecordsInMemoryAreThoseOfTheCounterArrayInOrder) {
    constexpr std::uint64_t base = 0x1000000;
    const std::string settings =
        "counters=8,ways=4,eviction=lru,width=6,granularity=2,seed=3,capacity=100000,base=0x1000000";
    SlowCounters slow(parse_monitor("link=core-L1,line=64," + settings));
    Counts truth;
    Random random(11);
    std::vector<std::uint64_t> addresses;
    for (int i = 0; i < 3000; ++i) addresses.push_back(random.below(random.below(2) == 0 ? 0x400 : 0x2000));
    for (const std::uint64_t address : addresses) {
        slow.event(address / 128);
        ++truth[address / 128 * 128];
    }
    Platform platform(
        [&](Initiator& cpu) {
            for (const std::uint64_t address : addresses) cpu.touch((address & 1) != 0, address, 1);
        },
        settings);
    platform.memory.latency = nanosecond;
    sc_start();
    ASSERT_GT(slow.records.size(), 500U);
    ASSERT_EQ(platform.monitor.result().records, slow.records.size());
    for (std::size_t i = 0; i < slow.records.size(); ++i) {
        EXPECT_EQ(platform.memory.number(base + 16 * i, 8), slow.records[i].first * 128) << i;
        EXPECT_EQ(platform.memory.number(base + 16 * i + 8, 4), 2U) << i;
        EXPECT_EQ(platform.memory.number(base + 16 * i + 12, 4), slow.records[i].count) << i;
    }
    EXPECT_EQ(platform.monitor.result().resident, slow.resident());
    EXPECT_EQ(platform.counts(), truth);
}

TEST(TlmTransport, AddressesAreThoseBeforeTheBusRewroteThem) {
    Initiator cpu("cpu", [](Initiator& self) {
        self.touch(true, 0x80001234);
        self.touch(false, 0x80001240);
        self.touch(false, 0x40);
    });
    TlmMonitor monitor("monitor", Platform::config_of("counters=1,base=0x80002000"));
    Bus bus("bus");
    Memory low("low"), high("high");
    bus.split = 0x80000000;
    cpu.socket.bind(monitor.in);
    monitor.out.bind(bus.in);
    bus.first.bind(low.socket);
    bus.second.bind(high.socket);
    sc_start();
    const TlmMonitorResult result = monitor.finish();
    ASSERT_EQ(result.rows.size(), 3U);
    EXPECT_EQ(result.rows[0].address, 0x40U);
    EXPECT_EQ(result.rows[1].address, 0x80001200U);
    EXPECT_EQ(result.rows[2].address, 0x80001240U);
    EXPECT_EQ(high.seen.at(0).address, 0x1234U);
    EXPECT_EQ(read_ring(high, 0x2000, 2), (Counts{{0x80001200, 1}, {0x80001240, 1}}));
}

struct Note : tlm::tlm_extension<Note> {
    tlm_extension_base* clone() const override { return new Note(*this); }
    void copy_from(const tlm_extension_base& other) override { *this = static_cast<const Note&>(other); }
};

TEST(TlmTransport, LaxPayloadsPassAsTheyCame) {
    Note note;
    Payload lax;
    unsigned char data[8] = {1, 2, 3, 4, 5, 6, 7, 8}, enables[3] = {0xff, 0, 0xff};
    bool same = false;
    Platform platform([&](Initiator& cpu) {
        lax.set_extension(&note);
        lax.set_write();
        lax.set_address(0x777);
        lax.set_data_ptr(data);
        lax.set_data_length(8);
        lax.set_streaming_width(0);
        lax.set_byte_enable_ptr(enables);
        lax.set_byte_enable_length(3);
        lax.set_response_status(tlm::TLM_OK_RESPONSE);  // left over
        lax.set_dmi_allowed(true);
        sc_time delay(7, sc_core::SC_NS);
        cpu.socket->b_transport(lax, delay);
        EXPECT_EQ(delay, sc_time(7, sc_core::SC_NS));
        lax.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        lax.set_data_length(0);
        cpu.socket->b_transport(lax, delay);
    });
    platform.memory.on_access = [&](Payload& payload) {
        same = &payload == &lax && payload.get_extension<Note>() == &note && payload.get_streaming_width() == 0 &&
               payload.get_byte_enable_ptr() == enables && payload.get_byte_enable_length() == 3 &&
               payload.get_response_status() >= tlm::TLM_OK_RESPONSE;
        platform.memory.on_access = nullptr;
    };
    sc_start();
    EXPECT_TRUE(same);
    EXPECT_EQ(platform.counts(), (Counts{{0x740, 2}}));
    lax.clear_extension(&note);
}

TEST(TlmTransport, TheResponseIsTheTargets) {
    Platform platform([](Initiator& cpu) {
        EXPECT_EQ(cpu.set(0x40, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        EXPECT_EQ(cpu.set(0x1040, 1), tlm::TLM_OK_RESPONSE);
    });
    platform.memory.first_valid = 0x1000;
    sc_start();
    EXPECT_EQ(platform.counts(), (Counts{{0x40, 1}, {0x1040, 1}}));
}

TEST(TlmTransport, TargetsThatForgetTheStatusHaveTakenTheRecord) {
    Platform platform(
        [](Initiator& cpu) {
            for (std::uint64_t i = 0; i < 10; ++i) cpu.touch(true, 64 * i);
        },
        "counters=1,base=0x100000");
    platform.memory.sets_status = false;
    sc_start();
    EXPECT_EQ(platform.monitor.result().records, 9U);
    EXPECT_EQ(platform.monitor.result().lost_records, 0U);
}

TEST(TlmTransport, RecordsThatCannotBeWrittenAreLostAndTold) {
    Platform platform(
        [](Initiator& cpu) {
            for (std::uint64_t i = 0; i < 10; ++i) cpu.touch(true, 0x200000 + 64 * i);
        },
        "counters=1,base=0x1000");
    platform.memory.first_valid = 0x1000 + 1;
    sc_start();
    const TlmMonitorResult result = platform.monitor.finish();
    EXPECT_EQ(result.lost_records, 9U);  // the first place is taken again and again
    EXPECT_EQ(result.lost_events, 9U);
    EXPECT_EQ(result.records, 0U);
    EXPECT_EQ(result.rows.size(), 1U);
    EXPECT_EQ(warnings(), (std::vector<std::string>{
                              "/cachetally/tlm_monitor/failed_record: monitor: a record could not be written to "
                              "0x1000 (TLM_ADDRESS_ERROR_RESPONSE) and is lost, as may be others; is 'base' "
                              "memory?"}));
}

// Behind a bus that takes its base off the address.
TEST(TlmTransport, AFailedRecordIsToldByItsOwnAddress) {
    Initiator cpu("cpu", [](Initiator& self) {
        for (std::uint64_t i = 0; i < 3; ++i) self.touch(false, 64 * i);
    });
    TlmMonitor monitor("monitor", Platform::config_of("counters=1,base=0x80002000"));
    Bus bus("bus");
    Memory low("low"), high("high");
    bus.split = 0x80000000;
    high.first_valid = 0x100000;
    cpu.socket.bind(monitor.in);
    monitor.out.bind(bus.in);
    bus.first.bind(low.socket);
    bus.second.bind(high.socket);
    sc_start();
    ASSERT_EQ(warnings().size(), 1U);
    EXPECT_NE(warnings()[0].find("monitor: a record could not be written to 0x80002000 ("), std::string::npos);
    EXPECT_EQ(warnings()[0].rfind(tlm_monitor_report::failed_record, 0), 0U);
}

TEST(TlmTransport, DebugAccessesPassUncounted) {
    Platform platform([](Initiator& cpu) {
        std::uint32_t word = 77;
        Payload payload;
        payload.set_write();
        payload.set_address(0x40);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
        payload.set_data_length(4);
        EXPECT_EQ(cpu.socket->transport_dbg(payload), 4U);
    });
    sc_start();
    EXPECT_EQ(platform.memory.debugged, 1U);
    EXPECT_EQ(platform.memory.number(0x40, 4), 77U);
    EXPECT_EQ(platform.monitor.finish().events, 0U);
}

/// A non-blocking initiator: one request, then waits for its response.
struct Requester : sc_core::sc_module {
    SC_HAS_PROCESS(Requester);
    explicit Requester(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
        socket.register_nb_transport_bw(this, &Requester::respond);
        SC_THREAD(run);
    }
    void run() {
        for (std::uint64_t i = 0; i < 20; ++i) {
            Payload payload;
            payload.set_command(i % 2 == 0 ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND);
            payload.set_address(i * 32);
            payload.set_data_ptr(data);
            payload.set_data_length(4);
            payload.set_streaming_width(4);
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_time delay;
            if (socket->nb_transport_fw(payload, phase, delay) == tlm::TLM_COMPLETED) continue;
            wait(responded);
            EXPECT_FALSE(payload.is_dmi_allowed());
            EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
            phase = tlm::END_RESP;
            socket->nb_transport_fw(payload, phase, delay);
        }
    }
    tlm::tlm_sync_enum respond(Payload&, tlm::tlm_phase& phase, sc_time&) {
        if (phase == tlm::BEGIN_RESP) responded.notify(sc_core::SC_ZERO_TIME);
        return tlm::TLM_ACCEPTED;
    }
    tlm_utils::simple_initiator_socket<Requester> socket;
    sc_core::sc_event responded;
    unsigned char data[4] = {};
};

TEST(TlmTransport, NonBlockingRequestsCountOnce) {
    Requester requester("requester");
    TlmMonitor monitor("monitor", Platform::config_of("counters=2,base=0x100000"));
    Memory memory("memory");  // its socket makes the phases
    requester.socket.bind(monitor.in);
    monitor.out.bind(memory.socket);
    sc_start();
    const TlmMonitorResult result = monitor.finish();
    EXPECT_EQ(result.events, 20U);
    ASSERT_EQ(result.rows.size(), 10U);
    for (const TlmMonitorRow& row : result.rows) EXPECT_EQ(row.count, 2U);
    EXPECT_EQ(result.records, 8U);
    EXPECT_EQ(read_ring(memory, 0x100000, 8).size(), 8U);
    EXPECT_EQ(memory.seen.size(), 20U + 8);
}

TEST(TlmTransport, SeveralInitiatorsInsideAtOnce) {
    constexpr std::uint64_t cpus = 4, accesses = 200;
    std::vector<std::unique_ptr<Initiator>> initiators;
    Bus mux("mux"), bus("bus");
    for (std::uint64_t cpu = 0; cpu < cpus; ++cpu) {
        const auto program = [cpu](Initiator& self) {
            for (std::uint64_t i = 0; i < accesses; ++i) self.touch(i % 3 == 0, cpu * 0x10000 + i % 40 * 64);
        };
        initiators.push_back(std::make_unique<Initiator>(sc_core::sc_gen_unique_name("cpu"), program));
        initiators.back()->socket.bind(mux.in);
    }
    TlmMonitor monitor("monitor", Platform::config_of("counters=8,eviction=random,base=0x1000000"));
    Memory memory("memory");
    mux.first.bind(monitor.in);
    monitor.out.bind(bus.in);
    bus.first.bind(memory.socket);
    bus.locks = true;  // the records have to wait for their turn on it
    memory.latency = 3 * nanosecond;
    sc_start();
    const TlmMonitorResult result = monitor.finish();
    EXPECT_EQ(result.events, cpus * accesses);
    EXPECT_EQ(result.lost_events, 0U);
    ASSERT_EQ(result.rows.size(), cpus * 40);
    for (const TlmMonitorRow& row : result.rows) EXPECT_EQ(row.count, accesses / 40);
    EXPECT_EQ(memory.seen.size(), cpus * accesses + result.records);
}

TEST(TlmTransport, CoresAreToldApartByTheirPayloads) {
    TlmMonitorConfig config = Platform::config_of("cores=1+3,base=0x100000");
    config.core_of = [](const Payload& payload) { return static_cast<unsigned>(payload.get_address() >> 12); };
    Platform platform(
        [](Initiator& cpu) {
            for (const std::uint64_t core : {0U, 1U, 2U, 3U, 257U}) cpu.touch(false, core << 12);
        },
        config);
    sc_start();
    EXPECT_EQ(platform.counts(), (Counts{{0x1000, 1}, {0x3000, 1}}));
}

TEST(TlmTransport, RecordsCostTheInitiatorTime) {
    TlmMonitorConfig config = Platform::config_of("counters=1,write_cost=5,base=0x100000");
    config.cycle = 2 * nanosecond;
    Platform platform(
        [](Initiator& cpu) {
            for (std::uint64_t i = 0; i < 4; ++i) cpu.touch(false, i * 64);
        },
        config);
    sc_start();
    EXPECT_EQ(platform.cpu.lost_time, 3 * 10 * nanosecond);
}

TEST(TlmTransport, TheLastAddressesDoNotWrapAround) {
    Platform platform([](Initiator& cpu) { cpu.touch(false, ~std::uint64_t{0} - 3, 4); });
    sc_start();
    EXPECT_EQ(platform.counts(), (Counts{{~std::uint64_t{63}, 1}}));
}

TEST(TlmTransport, WrongSettingsAreToldByName) {
    const auto message = [](const std::string& settings, std::uint32_t watermark = 0) -> std::string {
        try {
            TlmMonitorConfig config = Platform::config_of(settings);
            config.watermark = watermark;
            TlmMonitor monitor(sc_core::sc_gen_unique_name("monitor"), config);
            return "";
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
    };
    EXPECT_EQ(message("counters=8,watermark=4"),
              "monitor 'counters=8,watermark=4', column 12: 'watermark' does not belong here; set "
              "TlmMonitorConfig::watermark");
    EXPECT_NE(message("kinds=page_walk,base=0").find("'kinds' names neither"), std::string::npos);
    EXPECT_NE(message("width=33,base=0").find("'width' up to 32"), std::string::npos);
    EXPECT_NE(message("record=8,base=0").find("'record=16'"), std::string::npos);
    EXPECT_NE(message("granularity=mask:3,base=0").find("'line=8'"), std::string::npos);
    EXPECT_EQ(message("capacity=4,base=0", 4), "");
    EXPECT_EQ(message("capacity=4,base=0", 5),
              "TlmMonitor: a ring of 4 records never holds the 5 of TlmMonitorConfig::watermark; write at most "
              "'capacity', or 0 for no interrupt");
    EXPECT_NE(message("cuonters=3").find("counters"), std::string::npos);
    for (const std::string settings : {"", "capacity=4"})
        EXPECT_EQ(message(settings),
                  "monitor '" + settings +
                      "', column 1: 'base' is missing; the monitor writes records there, so give an address of memory "
                      "that nothing else uses: base=0x80000000");
}

}  // namespace
}  // namespace cachetally
