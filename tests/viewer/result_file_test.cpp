// SPDX-License-Identifier: BSD-3-Clause
// Result files: read back as written, laws between groups, damage and foreign files refused.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <functional>
#include <map>
#include <sstream>

#include "base/random.hpp"
#include "monitor/histogram_file.hpp"
#include "tests/storage/temporary.hpp"
#include "viewer/probe_text.hpp"
#include "viewer/run_view.hpp"
#include "viewer/show.hpp"

/// Asked by LeakSanitizer, if that is there: HDF5 itself forgets memory where metadata cannot be decoded.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5\n"; }

namespace cachetally {
namespace {

using cachetally::testing::message_of;
using cachetally::testing::TemporaryDirectory;
using ::testing::HasSubstr;

CacheCounts cache_counts(Random& random) {
    CacheCounts counts;
    counts.loads = random.below(1000);
    counts.load_misses = random.below(100);
    counts.stores = random.below(1000);
    counts.prefetch_hits = random.below(10);  // the last member
    return counts;
}

void add_nodes(StoredRun& stored) {
    stored.names.numa = stored.names.memories;
    stored.run.counts.numa = {{.local_reads = 5, .remote_ring_writes = 9}};
    for (PhaseResult& phase : stored.run.phases) phase.counts.numa = {{.remote_reads = 3 + phase.begin}};
}

/// A run that never happened, with so many phases; one of seven with nodes that have memories of their own.
StoredRun made_up_run(std::size_t phases) {
    Random random(7);
    StoredRun stored;
    stored.names = {{"L1", "L2"}, {"DTLB"}, {"memory"}, {}, {"L2"}, {}};
    stored.period = 500;
    RunResult& run = stored.run;
    run.counts.caches.resize(2);
    run.counts.tlbs.resize(1);
    run.counts.memories.resize(1);
    run.counts.coherence.resize(1);
    for (std::size_t i = 0; i < phases; ++i) {
        PhaseResult& phase = run.phases.emplace_back();
        phase.begin = i * 1000000;
        phase.end = (i + 1) * 1000000;
        phase.counts.caches = {cache_counts(random), cache_counts(random)};
        phase.counts.tlbs = {{random.below(50), random.below(5)}};
        phase.counts.memories = {{1, 2, 3, random.below(9)}};
        phase.counts.coherence = {{.reads = i, .messages = 7 + i}};
        run.counts.coherence[0].reads += i;
        run.counts.coherence[0].messages += 7 + i;
        phase.counts.references = 10 + i;
        run.counts.references += 10 + i;
        for (std::size_t level = 0; level < 2; ++level)
            run.counts.caches[level] = run.counts.caches[level] + phase.counts.caches[level];
        run.counts.tlbs[0] = run.counts.tlbs[0] + phase.counts.tlbs[0];
    }
    run.core_ends = {phases * 1000000, phases * 1000000 + 1};
    stored.hit_times.assign(phases, 750000);
    if (phases == 7) add_nodes(stored);
    return stored;
}

Histogram made_up_histogram(std::uint32_t phases) {
    Random random(3);
    std::vector<HistogramRow> rows;
    for (int i = 0; i < 4000; ++i)
        rows.push_back({random.below(3000) * 32, 1, static_cast<std::uint32_t>(random.below(phases)), no_function,
                        1 + random.below(20)});
    Histogram histogram(32, std::move(rows));
    histogram.set_phases(phases);
    return histogram;
}

class ResultFiles : public ::testing::Test {
protected:
    /// A file as the program writes it, and whatever `change` does to it.
    void write(std::size_t phases, const std::function<void(Group&)>& change = {}) {
        ResultFile file(path_, ResultFile::Existing::overwrite);
        Group& root = file.root();
        root.set_attribute("format", result_format);
        root.set_attribute("format_version", result_format_version);
        root.set_attribute("kind", "run");
        root.create_group("input").set_attribute("name", "made-up");
        root.create_group("machine").set_attribute("name", "none");
        const StoredRun stored = made_up_run(phases);
        write_run(root, stored);
        StructureTable table;
        table.regions = {{"A", 0, 64 * 1024, 8}};
        LevelInput input{"L1", {&histogram_}, {&misses_}};
        const LevelLines lines = level_lines(input);
        table.levels.push_back({"L1", true, by_structure(lines, table.regions)});
        write_combined(root, {lines});
        write_structures(root, table, {});
        if (change) change(root);
        file.finish();
    }
    std::string shown(const ShowOptions& options = {}) { return show(InputFile(path_), options); }
    std::string refusal(const ShowOptions& options = {}) {
        return message_of([&] { (void)shown(options); });
    }

    TemporaryDirectory directory_;
    std::string path_ = directory_ / "r.h5";
    Histogram histogram_ = made_up_histogram(1), misses_ = made_up_histogram(1);
};

TEST_F(ResultFiles, RunsAreReadBackAsWritten) {
    for (const std::size_t phases : {1U, 7U, 10000U}) {
        write(phases);
        const StoredRun stored = made_up_run(phases), read = read_run(InputFile(path_).root());
        EXPECT_EQ(read.names, stored.names);
        EXPECT_EQ(read.period, stored.period);
        EXPECT_EQ(read.run.counts, stored.run.counts);
        EXPECT_EQ(read.hit_times, stored.hit_times);
        EXPECT_THAT(shown(), HasSubstr("; 25.00 % of"));
        EXPECT_EQ(read.run.core_ends, stored.run.core_ends);
        ASSERT_EQ(read.run.phases.size(), phases);
        for (std::size_t i = 0; i < phases; ++i) {
            EXPECT_EQ(read.run.phases[i].counts, stored.run.phases[i].counts);
            EXPECT_EQ(read.run.phases[i].end, stored.run.phases[i].end);
        }
    }
}

TEST_F(ResultFiles, TenThousandPhasesAreASensibleTable) {
    write(10000);
    ShowOptions wide;
    wide.width = 100;  // where no table is split
    const std::string text = shown(wide);
    EXPECT_LT(std::ranges::count(text, '\n'), 60) << text;
    EXPECT_THAT(text, HasSubstr("... 9980 more phases"));
    ShowOptions all;
    all.all_phases = true;
    EXPECT_GT(std::ranges::count(shown(all), '\n'), 10000);
    ShowOptions one;
    one.phases = PhaseChoice({{9999, 9999}});
    EXPECT_THAT(shown(one), HasSubstr("phase 9999 of 0-9999\n10,009 references, 2,000 cycles"));
}

TEST_F(ResultFiles, OnePhaseHasNoTableOfPhases) {
    write(1);
    EXPECT_THAT(shown(), ::testing::Not(HasSubstr("\nphase")));
}

TEST_F(ResultFiles, TwoPhasesHaveATable) {
    write(2);
    EXPECT_THAT(shown(), HasSubstr("\nphase"));
}

TEST_F(ResultFiles, EveryPictureAndTableFitsTheWidth) {
    write(30);
    for (const unsigned width : {40U, 60U, 80U, 133U}) {
        ShowOptions options;
        options.width = width;
        const std::string text = shown(options);
        const std::size_t picture = text.find("misses of L1 per");
        ASSERT_NE(picture, std::string::npos);
        std::size_t columns = 0;
        for (std::size_t i = width < 60 ? picture : 0; i < text.size(); ++i) {  // words are not cut for narrower ones
            if (text[i] == '\n') {
                columns = 0;
            } else if ((static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U) {
                ++columns;
            }
            ASSERT_LE(columns, width) << text;
        }
    }
}

TEST_F(ResultFiles, ScoresFitTheWidth) {
    ValidationView view;
    view.result.machines = 12;
    view.noise = "realistic";
    view.left_out = "published has no variant of the tests of a name that is long";
    view.result.scores = {{"levels", "robust", "capacity", 7, 2, 1}, {"tlb", "published", "entries", 12345, 0, 0}};
    view.result.failures = {{5, 2, 1, {"capacity of L2 is 64 KiB for 128 KiB", "ways of L1 are 2 for 4"}}};
    for (const unsigned width : {40U, 60U, 80U}) {
        std::istringstream lines(to_text(view, "12.3 s, 4.5 s of processor time", width));
        for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), width) << line;
    }
    const std::string wide = to_text(view, "", 80);
    EXPECT_THAT(wide, HasSubstr("levels  capacity   robust          7      2        1     70.0     20.0"));
    EXPECT_THAT(wide, HasSubstr("12,345"));
}

TEST_F(ResultFiles, RunsWithoutStructuresOrLinesAreShownWithARemark) {
    const auto without = [&](const char* group) {
        write(2, [&](Group& root) { H5Ldelete(root.id(), group, H5P_DEFAULT); });
        return shown();
    };
    for (const char* group : {"structures", "combined"}) {
        const std::string text = without(group);
        EXPECT_THAT(text, HasSubstr("\nlevel "));
        EXPECT_THAT(text, HasSubstr(fmt::format("(/{})", group)));
    }
}

TEST_F(ResultFiles, HitsAreAccessesThatDidNotMiss) {
    write(1);
    const auto sum = [&](const char* what) {
        ShowOptions options;
        options.json = true;
        options.what = what;
        double total = 0;
        const auto json = nlohmann::json::parse(shown(options));
        for (const double value : json["histogram"]["values"]) total += value;
        return total;
    };
    const double accesses = sum("accesses"), misses = sum("misses");
    ASSERT_GT(misses, 0);
    EXPECT_GE(sum("hits"), accesses - misses);  // more misses than accesses of a line are no hits
    EXPECT_LT(sum("hits"), accesses);
}

TEST_F(ResultFiles, PyramidsAreThoseOfTheColumns) {
    write(3, [&](Group& root) { write_histogram(root, "histogram", histogram_); });
    const InputFile file(path_);
    const Group group = file.root().open_group("histogram");
    const auto address = group.read<std::uint64_t>("address"), count = group.read<std::uint64_t>("count");
    std::map<Address, std::uint64_t> lines;
    for (std::size_t i = 0; i < address.size(); ++i) lines[address[i]] += count[i];
    const Group pyramid = group.open_group("pyramid");
    ASSERT_FALSE(pyramid.children().empty());
    for (const std::string& name : pyramid.children()) {
        const Group level = pyramid.open_group(name);
        const auto first = level.read<std::uint64_t>("address");
        const auto sums = level.read<double>("sum"), mins = level.read<double>("min"), maxs = level.read<double>("max");
        for (std::size_t block = 0; block < first.size(); ++block) {
            double sum = 0, least = 1e9, most = 0;
            const Address end = first[block] + level.whole_attribute("units") * 32;
            for (auto line = lines.lower_bound(first[block]); line != lines.end() && line->first < end; ++line) {
                const auto value = static_cast<double>(line->second);
                sum += value;
                least = std::min(least, value);
                most = std::max(most, value);
            }
            EXPECT_EQ(sums[block], sum);
            EXPECT_EQ(mins[block], least);
            EXPECT_EQ(maxs[block], most);
        }
    }
}

TEST_F(ResultFiles, ForeignFilesAndOtherVersionsAreRefused) {
    const auto remake = [&](const std::string& format, std::uint64_t version, const std::string& kind) {
        ResultFile file(path_, ResultFile::Existing::overwrite);
        if (!format.empty()) file.root().set_attribute("format", format);
        file.root().set_attribute("format_version", version);
        file.root().set_attribute("kind", kind);
        file.finish();
    };
    remake("", 1, "run");
    EXPECT_THAT(refusal(), HasSubstr("not a result of cachetally"));
    remake("cachetally trace", 1, "run");
    EXPECT_THAT(refusal(), HasSubstr("its format is 'cachetally trace'"));
    remake(result_format, 2, "run");
    EXPECT_THAT(refusal(), HasSubstr("use a newer cachetally"));
    remake(result_format, 0, "run");
    EXPECT_THAT(refusal(), HasSubstr("make it anew"));
    remake(result_format, 1, "dream");
    EXPECT_THAT(refusal(), HasSubstr("unknown kind 'dream'"));
    remake(result_format, 1, "run");  // and nothing in it
    EXPECT_THAT(refusal(), HasSubstr("input"));
}

#ifdef CACHETALLY_SANITIZED
constexpr std::size_t byte_step = 31;
#else
constexpr std::size_t byte_step = 5;
#endif

TEST_F(ResultFiles, TruncatedFilesAreRefused) {
    write(50);
    const std::string whole = cachetally::testing::contents(path_);
    for (std::size_t bytes = 0; bytes < whole.size(); bytes += 1 + whole.size() / 40) {
        cachetally::testing::write_contents(path_, whole.substr(0, bytes));
        EXPECT_THAT(refusal(), HasSubstr("r.h5")) << bytes;
    }
}

/// Bytes that are wrong are noticed, or do not matter; never a crash. The first few KiB have texts of attributes.
TEST_F(ResultFiles, DamagedFilesDoNotCrash) {
    write(20);
    const std::string whole = cachetally::testing::contents(path_);
    Random random(11);
    const auto damage = [&](std::size_t place) {
        std::string damaged = whole;
        damaged[place] ^= static_cast<char>(1U << random.below(8));
        cachetally::testing::write_contents(path_, damaged);
        (void)refusal();
    };
    for (int i = 0; i < 300; ++i) damage(random.below(whole.size()));
    ASSERT_NE(whole.find("GCOL"), std::string::npos);
    for (std::size_t place = 0; place < 8192; place += byte_step) damage(place);
}

TEST_F(ResultFiles, StructuresAreCountedLineByLine) {
    Random random(5);
    const std::vector<std::vector<Region>> layouts{
        {{"A", 100, 5000, 8}, {"B", 5100, 40, 8}, {"C", 20000, 30000, 8}},
        {{"outer", 1000, 50000, 8}, {"inner", 2000, 100, 8}, {"late", 40000, 60000, 1}},
        {}};
    for (const auto& regions : layouts) {
        std::vector<HistogramRow> rows;
        for (int i = 0; i < 2000; ++i)
            rows.push_back({random.below(1600) * 64, 1 + static_cast<std::uint32_t>(random.below(2)),
                            static_cast<std::uint32_t>(random.below(3)), no_function, 2 * (1 + random.below(9))});
        const Histogram above(64, rows), below = made_up_histogram(2);
        const LevelInput input{"L1", {&above}, {&below}};
        std::map<std::pair<std::size_t, std::uint32_t>, Tally> expected;
        const auto count = [&](const Histogram& histogram, double Tally::*number) {
            for (const HistogramRow& row : histogram.rows())
                for (std::uint32_t unit = 0; unit < row.span; ++unit) {
                    const Address line = align_down(row.address + Address{unit} * histogram.unit_bytes(), 64);
                    const auto touches = [&](const Region& each) {
                        return line < each.base + each.bytes && line + 64 > each.base;
                    };
                    const auto structure = std::ranges::find_if(regions, touches) - regions.begin();
                    expected[{static_cast<std::size_t>(structure), row.phase}].*number +=
                        static_cast<double>(row.count) / static_cast<double>(row.span);
                }
        };
        count(above, &Tally::accesses);
        count(below, &Tally::misses);
        std::map<std::pair<std::size_t, std::uint32_t>, Tally> found;
        for (const StructureTally& row : by_structure(level_lines(input), regions))
            found[{row.structure, row.phase}] = row.tally;
        EXPECT_EQ(found, expected);
    }
}

TEST_F(ResultFiles, MonitorsWithTheSameNameAreKeptApart) {
    MonitorSummary first, second;
    first.name = second.name = "a/b";
    first.events = 1;
    second.events = 2;
    first.events_per_phase = first.swapouts_per_phase = second.events_per_phase = second.swapouts_per_phase = {0};
    write(1, [&](Group& root) {
        write_monitors(root, {{first, &histogram_, {}}, {second, &histogram_, [](Address a) { return a + 4096; }}});
    });
    const InputFile file(path_);
    EXPECT_EQ(read_monitors(file.root()), (std::vector<MonitorSummary>{first, second}));
    EXPECT_EQ(read_monitor_histogram(file.root(), "a/b"), histogram_);
    const auto json = to_json(read_run_view(file));
    EXPECT_EQ(json["monitors"]["a/b"]["events"], 1);
    EXPECT_EQ(json["monitors"]["a/b#2"]["events"], 2);
}

}  // namespace
}  // namespace cachetally
