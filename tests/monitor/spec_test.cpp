// SPDX-License-Identifier: BSD-3-Clause
// Monitor specifications: what the parser takes, and what its messages say.
#include "monitor/spec.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/monitor/streams.hpp"

namespace cachetally {
namespace {

TEST(Spec, DefaultsAreAsDocumented) {
    const MonitorSpec spec = parse_monitor("link=core-L1D");
    EXPECT_EQ(spec.label(), "core-L1D");
    EXPECT_EQ(spec.counters, 128U);
    EXPECT_EQ(spec.eviction, Eviction::fifo);
    EXPECT_EQ(spec.width, 32U);
    EXPECT_EQ(spec.granularity, Granularity{});
    EXPECT_EQ(spec.kinds, bit(EventKind::load) | bit(EventKind::store) | bit(EventKind::fetch));
    EXPECT_TRUE(spec.barriers);
    EXPECT_FALSE(spec.functions);
    EXPECT_TRUE(spec.start);
    EXPECT_EQ(spec.ring.record, 16U);
    EXPECT_EQ(spec.ring.drain, RingSpec::Drain::full);
}

TEST(Spec, ReadsEveryKey) {
    const MonitorSpec spec = parse_monitor(
        "link=L1-L2, name=misses,counters=24,ways=3,eviction=random,seed=7,width=8,granularity=mask:6,line=32,"
        "kinds=load+write_back,range=0x1000-0x2000+4K-8 "
        "KiB,cores=2+0+2,barriers=off,functions=on,start=off,capacity=64,"
        "record=8,base=0x10000,path=link,drain=watermark,watermark=32,drain_cost=5,write_cost=2,overflow=drop");
    EXPECT_EQ(spec.name, "misses");
    EXPECT_EQ(spec.counters, 24U);
    EXPECT_EQ(spec.ways, 3U);
    EXPECT_EQ(spec.eviction, Eviction::random);
    EXPECT_EQ(spec.seed, 7U);
    EXPECT_EQ(spec.width, 8U);
    EXPECT_EQ(spec.granularity, (Granularity{Granularity::Mode::mask, 6}));
    EXPECT_EQ(spec.line, 32U);
    EXPECT_EQ(spec.unit(), 32U);
    EXPECT_EQ(spec.units_per_key(), 2U);
    EXPECT_EQ(spec.kinds, bit(EventKind::load) | bit(EventKind::write_back));
    EXPECT_EQ(spec.ranges, (std::vector<AddressRange>{{0x1000, 0x2000}, {4096, 8192}}));
    EXPECT_EQ(spec.cores, (std::vector<std::uint32_t>{0, 2}));
    EXPECT_FALSE(spec.barriers);
    EXPECT_TRUE(spec.functions);
    EXPECT_FALSE(spec.start);
    EXPECT_EQ(spec.ring, (RingSpec{64, 8, 0x10000, RingSpec::Path::link, RingSpec::Drain::watermark, 32, 0, 5, 2,
                                   RingSpec::Overflow::drop}));
    EXPECT_EQ(parse_monitor("link=a-b,drain=periodic,period=100").ring.period, 100U);
    EXPECT_EQ(parse_monitor("link=a-b,kinds=all").kinds, (1U << event_kind_count) - 1);
}

TEST(Spec, WatermarksThatAreNotStatedAreHalfOfTheRing) {
    EXPECT_EQ(parse_monitor("link=a-b,drain=watermark").ring.watermark, 2048U);
    EXPECT_EQ(parse_monitor("link=a-b,drain=watermark,capacity=9").ring.watermark, 4U);
    EXPECT_EQ(parse_monitor("link=a-b,watermark=0,capacity=1,drain=watermark").ring.watermark, 1U);
    EXPECT_EQ(parse_monitor("link=a-b,capacity=9").ring.watermark, 0U);
}

TEST(Spec, GranularitiesInAllTheirForms) {
    using Mode = Granularity::Mode;
    EXPECT_EQ(parse_granularity("4"), (Granularity{Mode::aligned, 4}));
    EXPECT_EQ(parse_granularity("aligned:6"), (Granularity{Mode::aligned, 6}));
    EXPECT_EQ(parse_granularity("dynamic:4"), (Granularity{Mode::dynamic, 4}));
    EXPECT_EQ(parse_granularity("mask:0"), (Granularity{Mode::mask, 0}));
    for (const char* wrong :
         {"", "0", "4097", "-1", "mask", "mask:", "mask:31", "dynamic:0", "dynamic:4:4", "four", ":4"})
        EXPECT_THROW(parse_granularity(wrong), SpecError) << wrong;
}

std::string error_of(const std::string& text) {
    try {
        parse_monitor(text);
    } catch (const SpecError& error) {
        return error.what();
    }
    return "no error";
}

struct Wrong {
    std::string text;
    std::string column;
    std::string says;

    friend void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.text; }
};

class SpecMistakes : public ::testing::TestWithParam<Wrong> {};

TEST_P(SpecMistakes, SayWhereAndWhatWouldBeRight) {
    const std::string error = error_of(GetParam().text);
    EXPECT_NE(error.find("column " + GetParam().column + ":"), std::string::npos) << error;
    EXPECT_NE(error.find(GetParam().says), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(
    All, SpecMistakes,
    ::testing::Values(
        Wrong{"link=a-b,couters=4", "10", "did you mean 'counters'?"}, Wrong{"link=a-b,counters", "10", "KEY=VALUE"},
        Wrong{"link=a-b,", "10", "KEY=VALUE"}, Wrong{"counters=4", "1", "needs the 'link'"},
        Wrong{"", "1", "KEY=VALUE"}, Wrong{"link=,counters=4", "1", "'link' has no value"},
        Wrong{"link=a-b,counters=many", "10", "'many' is not a whole number"},
        Wrong{"link=a-b,counters=0", "10", "write 1 to 4194304"},
        Wrong{"link=a-b,counters=99999999999999999999", "10", "counters: "},
        Wrong{"link=a-b,width=65", "10", "write 1 to 64"}, Wrong{"link=a-b,counters=4,counters=8", "21", "given twice"},
        Wrong{"link=a-b,eviction=liru", "10", "did you mean 'lru'?"},
        Wrong{"link=a-b,kinds=load+stor", "10", "did you mean 'store'?"},
        Wrong{"link=a-b,range=0x1000", "10", "FROM-TO"}, Wrong{"link=a-b,range=8-8", "10", "is empty"},
        Wrong{"link=a-b,barriers=maybe", "10", "off, on"}, Wrong{"link=a-b,counters=10,ways=4", "22", "divisor of 10"},
        Wrong{"link=a-b,granularity=dynamic:4,ways=2", "32", "belong to no set"},
        Wrong{"link=a-b,counters=4194304,granularity=dynamic:1024", "27", "write at most dynamic:2"},
        Wrong{"link=a-b,line=48", "10", "power of two"},
        Wrong{"link=a-b,watermark=4", "10", "with 'drain: watermark' only"},
        Wrong{"link=a-b,drain=watermark,watermark=9,capacity=8", "26", "to the capacity (8)"},
        Wrong{"link=a-b,drain=periodic", "1", "needs a 'period'"},
        Wrong{"link=a-b,write_cost=1000001", "10", "write 0 to 1000000"},
        Wrong{"link=a-b,drain_cost=1000000000000", "10", "write 0 to 1000000"},
        Wrong{"link=a-b,base=0xffffffffffffff00", "10", "lower base"}));

TEST(Spec, MachineFileMessagesNameFileLineAndColumn) {
    MonitorEntry entry;
    entry.mark = {10, 5};
    entry.settings = {{"link", "core-L1", {10, 7}}, {"counters", "12", {11, 7}}, {"ways", "5", {12, 7}}};
    try {
        parse_monitor(entry, "m.yaml");
        FAIL();
    } catch (const SpecError& error) {
        EXPECT_EQ(std::string(error.what()).rfind("m.yaml:12:7: error: 12 counters cannot", 0), 0U) << error.what();
        EXPECT_EQ(error.mark().line, 12);
        EXPECT_EQ(error.mark().column, 7);
    }
    entry.settings = {{"link", "core-L1", {10, 7}}, {"barriers", "false", {11, 7}}, {"start", "true", {12, 7}}};
    EXPECT_FALSE(parse_monitor(entry, "m.yaml").barriers);
}

TEST(Spec, EveryKeyHasItsHelp) {
    const auto keys = monitor_keys();
    EXPECT_EQ(keys.size(), 25U);
    for (const SpecKey& key : keys) {
        EXPECT_FALSE(key.help.empty()) << key.name;
        // The default that help states is the default that holds (but where it is a word for nothing).
        if (key.standard.empty() || key.standard == "the link" || key.standard == "everywhere" || key.standard == "all")
            continue;
        EXPECT_EQ(parse_monitor("link=a-b," + std::string(key.name) + "=" + std::string(key.standard)),
                  parse_monitor("link=a-b"))
            << key.name;
    }
}

RC_GTEST_PROP(SpecProperty, IsReadBackAsWritten, ()) {
    MonitorSpec spec = *spec_gen();
    spec.kinds = *rc::gen::inRange(1U, 1U << event_kind_count);
    spec.name = *rc::gen::element<std::string>("", "a name");
    spec.start = *rc::gen::arbitrary<bool>();
    spec.ring.overflow = *rc::gen::element(RingSpec::Overflow::stall, RingSpec::Overflow::drop);
    if (*rc::gen::arbitrary<bool>()) spec.ranges = {{0x1234, 0x99999}, {5, 6}};
    if (*rc::gen::arbitrary<bool>()) spec.cores = {0, 3};
    RC_ASSERT(parse_monitor(to_string(spec)) == spec);
}

RC_GTEST_PROP(SpecProperty, AnyTextIsReadOrRefused, (const std::string& text)) {
    for (const std::string& whole :
         {text, "link=a-b," + text, "link=a-b,granularity=" + text, "link=a-b,range=" + text}) {
        try {
            parse_monitor(whole);
        } catch (const SpecError&) {
        }
    }
}

TEST(Spec, KnowsWhenTheErrorIsZeroByLaw) {
    MonitorSpec spec = parse_monitor("link=a-b,line=64");
    EXPECT_TRUE(error_known_zero(spec));
    spec.granularity.amount = 2;
    EXPECT_FALSE(error_known_zero(spec));
    EXPECT_TRUE(error_known_zero(parse_monitor("link=a-b,line=64,granularity=mask:3")));
    EXPECT_TRUE(error_known_zero(parse_monitor("link=a-b,line=64,granularity=mask:6")));
    EXPECT_FALSE(error_known_zero(parse_monitor("link=a-b,line=64,granularity=mask:7")));
    EXPECT_TRUE(error_known_zero(parse_monitor("link=a-b,line=64,overflow=drop")));
    EXPECT_FALSE(error_known_zero(parse_monitor("link=a-b,line=64,overflow=drop,drain_cost=1")));
    EXPECT_FALSE(error_known_zero(parse_monitor("link=a-b,line=64,overflow=drop,drain=periodic,period=9")));
}

TEST(MonitorSpecs, InCommonHaveNoLinkAndRefuseWhatDoesNotBelong) {
    constexpr RefusedKey refused[] = {{"counters", "write --counters"}};
    EXPECT_EQ(parse_common("width=8,kinds=load", refused).width, 8U);
    EXPECT_EQ(parse_common("width=8", refused).link, "");
    try {
        parse_common("width=8,counters=4", refused);
        FAIL();
    } catch (const SpecError& error) {
        EXPECT_STREQ(error.what(),
                     "monitor 'width=8,counters=4', column 9: 'counters' does not belong here; write --counters");
    }
}

}  // namespace
}  // namespace cachetally
