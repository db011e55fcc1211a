// SPDX-License-Identifier: BSD-3-Clause
// Parts of streams, and streams on other cores: by hand, and against models that go a reference at a time.
#include "workloads/traces/source_window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "workloads/traces/byte_stream.hpp"
#include "workloads/traces/source_end.hpp"

namespace cachetally {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using K = Control::Kind;

/// A reference, or a control.
struct Item {
    Address address = 0;
    Control control;
    std::uint32_t site = 0;
    friend bool operator==(const Item&, const Item&) = default;
};
using Stream = std::vector<Item>;

std::ostream& operator<<(std::ostream& out, const Item& item) {
    return out << item.address << '/' << static_cast<int>(item.control.kind) << ':' << item.control.argument;
}

Item at(Address address, std::uint32_t site = 0) { return {address, {}, site}; }
Item does(K kind, std::uint32_t argument = 0) { return {0, {kind, argument}}; }

/// Batches of at most three references.
class Script final : public ReferenceSource {
public:
    explicit Script(std::vector<Stream> streams) : streams_(std::move(streams)), at_(streams_.size()) {
        sites_.add({1, 0});
        sites_.add({2, 0});
    }
    unsigned cores() const override { return static_cast<unsigned>(streams_.size()); }
    Batch next(unsigned core) override {
        std::vector<Reference>& references = kept_.emplace_back();
        const Stream& stream = streams_[core];
        for (std::size_t& i = at_[core]; i < stream.size() && references.size() < 3; ++i) {
            if (stream[i].control.kind != K::none) return {references, stream[i++].control};
            references.push_back({stream[i].address, stream[i].site, 8, ReferenceKind::load, 0});
        }
        return {references, {at_[core] == stream.size() ? K::end : K::none, 0}};
    }
    std::vector<std::string> functions() const override { return {"main", "f(int)", "g"}; }
    const SiteTable* sites() const override { return &sites_; }
    SiteNames site_names() const override {
        SiteNames names;
        names.code = {{}, {1, "main", "", 0, ""}, {2, "solve(double*)", "", 0, ""}};
        return names;
    }

private:
    std::vector<Stream> streams_;
    std::vector<std::size_t> at_;
    std::deque<std::vector<Reference>> kept_;
    SiteTable sites_;
};

/// All that a source gives, asked as a host asks.
std::vector<Stream> all_of(ReferenceSource& source) {
    std::vector<Stream> streams(source.cores());
    enum class State : std::uint8_t { running, waiting, over };
    std::vector<State> states(source.cores(), State::running);
    while (std::ranges::find(states, State::over) == states.end() ||
           std::ranges::count(states, State::over) != static_cast<std::ptrdiff_t>(states.size())) {
        bool any = false;
        for (unsigned core = 0; core < states.size(); ++core) {
            if (states[core] != State::running) continue;
            any = true;
            const Batch batch = source.next(core);
            for (const Reference& reference : batch.references)
                streams[core].push_back(at(reference.address, reference.site));
            if (batch.control.kind == K::end) {
                states[core] = State::over;
                continue;
            }
            if (batch.control.kind != K::none) streams[core].push_back({0, batch.control});
            if (batch.control.kind == K::barrier || batch.control.kind == K::meet) states[core] = State::waiting;
        }
        if (!any) std::ranges::replace(states, State::waiting, State::running);
    }
    return streams;
}

std::vector<Stream> late(const std::vector<Stream>& streams, const std::string& from, std::uint64_t skip) {
    const auto source = late_source(std::make_unique<Script>(streams), {from, skip});
    return all_of(*source);
}

TEST(LateSource, SkipsAndKeepsWhatTheProgramSaid) {
    const Stream stream = {at(1),
                           does(K::barrier),
                           does(K::enter_function, 1),
                           does(K::enter_function, 2),
                           at(2),
                           does(K::monitor_off),
                           does(K::leave_function),
                           at(3),
                           does(K::barrier),
                           at(4)};
    EXPECT_THAT(late({stream}, "", 2),
                ElementsAre(Stream{does(K::enter_function, 1), does(K::enter_function, 2), does(K::monitor_off),
                                   does(K::leave_function), at(3), does(K::barrier), at(4)}));
    EXPECT_THAT(late({stream}, "", 3),
                ElementsAre(Stream{does(K::enter_function, 1), does(K::monitor_off), does(K::barrier), at(4)}));
    EXPECT_THAT(late({stream}, "", 0), ElementsAre(stream));
}

TEST(LateSource, SaysWhichNameThePhaseHas) {
    const Stream first = {at(1), does(K::barrier, 7), at(2), does(K::meet), at(3), does(K::barrier), at(4)};
    const Stream other = {at(5), does(K::barrier), at(6), does(K::meet), at(7), does(K::barrier), at(8)};
    const Item name = does(K::meet, 7);
    EXPECT_THAT(late({first, other}, "", 3),
                ElementsAre(Stream{name, does(K::meet), at(3), does(K::barrier), at(4)},
                            Stream{name, at(6), does(K::meet), at(7), does(K::barrier), at(8)}));
    EXPECT_THAT(late({first, other}, "", 5),
                ElementsAre(Stream{name, does(K::barrier), at(4)}, Stream{name, at(7), does(K::barrier), at(8)}));
    EXPECT_THAT(late({first, other}, "", 7), ElementsAre(Stream{}, Stream{at(8)}));
    EXPECT_THAT(late({{name, at(1), at(2)}}, "", 1), ElementsAre(Stream{name, at(2)})) << "cut twice";
}

TEST(LateSource, BeginsWhereAFunctionIsEntered) {
    const Stream stream = {at(1), does(K::enter_function, 0), at(2), does(K::enter_function, 1), at(3), at(4)};
    const Item main = does(K::enter_function, 0), f = does(K::enter_function, 1);
    EXPECT_THAT(late({stream}, "f", 0), ElementsAre(Stream{main, f, at(3), at(4)}));
    EXPECT_THAT(late({stream}, "f(int)", 1), ElementsAre(Stream{main, f, at(4)}));
}

TEST(LateSource, BeginsAtTheFirstReferenceOfAFunction) {
    const Stream first = {at(1, 1), at(2, 1), at(3, 1), at(4, 1), at(5, 1)}, second = {at(11, 1), at(12, 2), at(13, 1)};
    EXPECT_THAT(late({first, second}, "solve", 0),
                ElementsAre(Stream{at(3, 1), at(4, 1), at(5, 1)}, Stream{at(12, 2), at(13, 1)}));
    EXPECT_THAT(late({first, second}, "main", 0), ElementsAre(first, second));
}

TEST(LateSource, SaysWhatIsWrong) {
    const auto message = [](const std::string& from, std::uint64_t skip) -> std::string {
        try {
            late({{at(1, 1), at(2, 1)}}, from, skip);
        } catch (const TraceError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(message("solv", 0), HasSubstr("--from: no function 'solv' is entered; did you mean 'solve'?"));
    EXPECT_THAT(message("", 3), HasSubstr("--skip: all 2 references are skipped"));
    EXPECT_THAT(message("main", 3), HasSubstr("--skip"));
    EXPECT_EQ(message("", 2), "");
}

std::vector<Stream> random_streams(std::mt19937& random) {
    std::vector<Stream> streams(1 + random() % 3);
    for (unsigned phase = 0, phases = 1 + random() % 3; phase < phases; ++phase)
        for (std::size_t i = 0; i < streams.size(); ++i) {
            for (unsigned count = random() % 9; count > 0; --count) {
                if (random() % 6 == 0) streams[i].push_back(does(K::enter_function, random() % 3));
                streams[i].push_back(at(1000 * i + streams[i].size()));
            }
            if (phase + 1 < phases) streams[i].push_back(does(random() % 2 == 0 ? K::barrier : K::meet));
        }
    return streams;
}

/// The references that are left when the streams have made `skip`, one each in turn.
std::vector<std::vector<Address>> left(const std::vector<Stream>& streams, std::uint64_t skip) {
    std::vector<std::size_t> place(streams.size());
    std::vector<bool> waits(streams.size());
    const auto skips_controls = [&](std::size_t i) {
        for (; place[i] < streams[i].size() && !waits[i]; ++place[i]) {
            const K kind = streams[i][place[i]].control.kind;
            if (kind == K::none) return true;
            waits[i] = kind == K::barrier || kind == K::meet;
            if (waits[i]) return false;
        }
        return false;
    };
    while (skip != 0) {
        bool any = false;
        for (std::size_t i = 0; i < streams.size() && skip != 0; ++i)
            if (skips_controls(i)) ++place[i], --skip, any = true;
        if (any) continue;
        for (std::size_t i = 0; i < streams.size(); ++i)
            if (waits[i]) waits[i] = false, ++place[i];
    }
    std::vector<std::vector<Address>> all(streams.size());
    for (std::size_t i = 0; i < streams.size(); ++i)
        for (; place[i] < streams[i].size(); ++place[i])
            if (streams[i][place[i]].control.kind == K::none) all[i].push_back(streams[i][place[i]].address);
    return all;
}

std::vector<std::vector<Address>> addresses(const std::vector<Stream>& streams) {
    std::vector<std::vector<Address>> all(streams.size());
    for (std::size_t i = 0; i < streams.size(); ++i)
        for (const Item& item : streams[i])
            if (item.control.kind == K::none) all[i].push_back(item.address);
    return all;
}

std::vector<Stream> ended(const std::vector<Stream>& streams, std::uint64_t most) {
    Script read(streams);
    const std::vector<std::uint64_t> references = first_references(read, most, [] { return true; });
    const auto source = ended_source(std::make_unique<Script>(streams), references);
    return all_of(*source);
}

TEST(EndedSource, OneStreamEndsAfterSoManyReferences) {
    const Stream stream = {at(1), at(2), does(K::enter_function, 1), at(3), does(K::barrier), at(4), at(5)};
    const auto first = [&](std::ptrdiff_t items) { return Stream(stream.begin(), stream.begin() + items); };
    EXPECT_THAT(ended({stream}, 1), ElementsAre(first(1)));
    EXPECT_THAT(ended({stream}, 3), ElementsAre(first(4)));
    EXPECT_THAT(ended({stream}, 4), ElementsAre(first(6)));
    EXPECT_THAT(ended({stream}, 9), ElementsAre(stream));
}

// The second stream waits at the barrier with two references, and the third is over with one.
TEST(EndedSource, StreamsTakeTurnsBetweenBarriers) {
    const std::vector<Stream> streams = {{at(1), at(2), at(3), at(4), does(K::barrier), at(5), at(6)},
                                         {at(11), at(12), does(K::barrier), at(13), at(14)},
                                         {at(21)}};
    const auto sizes = [&](std::uint64_t most) {
        std::vector<std::size_t> references;
        for (const Stream& stream : ended(streams, most))
            references.push_back(static_cast<std::size_t>(
                std::ranges::count_if(stream, [](const Item& item) { return item.control.kind == K::none; })));
        return references;
    };
    EXPECT_THAT(sizes(2), ElementsAre(1, 1, 0));
    EXPECT_THAT(sizes(4), ElementsAre(2, 1, 1));
    EXPECT_THAT(sizes(7), ElementsAre(4, 2, 1));
    EXPECT_THAT(sizes(8), ElementsAre(5, 2, 1));
    EXPECT_THAT(ended(streams, 99), ElementsAre(streams[0], streams[1], streams[2]));
    Script read(streams);
    EXPECT_THROW(first_references(read, 5, [] { return false; }), std::runtime_error);
}

TEST(LateSource, StreamsTakeTurns) {
    for (unsigned seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const std::vector<Stream> streams = random_streams(random);
        std::size_t references = 0;
        for (const auto& stream : addresses(streams)) references += stream.size();
        if (references == 0) continue;
        const std::uint64_t skip = random() % references;
        EXPECT_EQ(addresses(late(streams, "", skip)), left(streams, skip)) << "of " << references << ", skip " << skip;
    }
}

std::vector<Stream> mapped(const std::vector<Stream>& streams, const std::vector<unsigned>& map, unsigned cores) {
    const auto source = mapped_source(std::make_unique<Script>(streams), map, cores);
    return all_of(*source);
}

TEST(MappedSource, StreamsGoWhereTheyAreMappedAndMeet) {
    const std::vector<Stream> streams = {
        {at(1), does(K::barrier), at(2)}, {at(11), does(K::barrier), at(12)}, {at(21), does(K::meet), at(22)}};
    EXPECT_THAT(mapped(streams, {2, 0, 0}, 3), ElementsAre(Stream{at(11), at(21), does(K::barrier), at(12), at(22)},
                                                           Stream{}, Stream{at(1), does(K::barrier), at(2)}));
    EXPECT_THAT(mapped(streams, {1}, 2), ElementsAre(Stream{at(21), does(K::meet), at(22)},
                                                     Stream{at(1), at(11), does(K::barrier), at(2), at(12)}));
    Stream named{at(1), does(K::barrier), at(2)};
    named[1].control.argument = 3;
    EXPECT_THAT(mapped({named, {at(11), does(K::barrier)}, {does(K::meet)}}, {0, 0, 0}, 1),
                ElementsAre(Stream{at(1), at(11), named[1], at(2)}));
}

TEST(MappedSource, StreamsOfACoreTakeTurnsOfTenThousand) {
    std::vector<Stream> streams(2);
    for (Address i = 0; i < 25'000; ++i) streams[0].push_back(at(i)), streams[1].push_back(at(100'000 + i));
    const std::vector<Address> merged = addresses(mapped(streams, {0, 0}, 1)).front();
    ASSERT_EQ(merged.size(), 50'000U);
    for (std::size_t i = 0; i < 50'000; ++i) {
        const std::size_t turn = i < 40'000 ? i / 10'000 : i < 45'000 ? 4 : 5;
        const std::size_t before = turn / 2 * 10'000, in_turn = i - (turn < 5 ? turn * 10'000 : 45'000);
        ASSERT_EQ(merged[i], (turn % 2) * 100'000 + before + in_turn);
    }
}

TEST(FunctionNames, AreMeantWithoutTheirParameters) {
    EXPECT_TRUE(is_function("f(int)", "f"));
    EXPECT_TRUE(is_function("f(int)", "f(int)"));
    EXPECT_TRUE(is_function("f", "f"));
    EXPECT_FALSE(is_function("ff", "f"));
    EXPECT_FALSE(is_function("", ""));
}

TEST(Functions, AreMeantByTheirNames) {
    const std::string sum = "double ns::sum<double>(std::vector<double, std::allocator<double> > const&)";
    for (const char* const name : {"ns::sum", "ns::sum<double>", "double ns::sum<double>", sum.c_str()})
        EXPECT_TRUE(is_function(sum, name)) << name;
    for (const char* const name : {"sum", "ns", "ns::su", "ns::sum<float>", "double", "std::allocator<double>", ""})
        EXPECT_FALSE(is_function(sum, name)) << name;
    EXPECT_TRUE(is_function("std::pair<int, long> pair_of<int>(int)", "pair_of"));
    EXPECT_FALSE(is_function("std::pair<int, long> pair_of<int>(int)", "long"));
    EXPECT_TRUE(is_function("solve", "solve"));
    EXPECT_TRUE(is_function("solve(int)", "solve"));
    EXPECT_FALSE(is_function("solver", "solve"));
    EXPECT_TRUE(is_function("(anonymous namespace)::step(int)", "(anonymous namespace)::step"));
}

}  // namespace
}  // namespace cachetally
