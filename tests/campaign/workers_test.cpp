// SPDX-License-Identifier: BSD-3-Clause
// Processes that compute bundles, and end otherwise than they should: made-up work that says where.
#include "campaign/workers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <set>
#include <sstream>

#include "storage/columns.hpp"
#include "tests/storage/temporary.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t bundle_count = 3, bundle_items = 4;

class Workers : public ::testing::Test {
protected:
    /// What happens before an item is done, at the end and at the beginning of a bundle; it may end the process.
    std::function<void(std::uint64_t item)> at_item = [](std::uint64_t) {};
    std::function<void(std::uint64_t bundle)> at_end = [](std::uint64_t) {};
    std::function<void(std::uint64_t bundle)> at_hash = [](std::uint64_t) {};

    Workers() : folder_(directory_.path() / "c", manifest()) {}

    static Manifest manifest() {
        Manifest manifest{"points", campaign_program(), "made up", bundle_count * bundle_items, {}, {}};
        for (std::uint64_t i = 0; i <= bundle_count; ++i) manifest.bundles.push_back(i * bundle_items);
        return manifest;
    }

    WorkResult run(unsigned jobs = 1, bool retry = false) {
        BundleWork work;
        work.hash = [this](std::uint64_t bundle) {
            at_hash(bundle);
            return fmt::format("hash of {}", bundle);
        };
        work.compute = [this](Group& root, std::uint64_t bundle, Steps& steps, const InputFile* /*before*/) {
            std::vector<std::uint64_t> values;
            std::vector<PointFailure> failures;
            for (std::uint64_t item = bundle * bundle_items; item < (bundle + 1) * bundle_items; ++item) {
                if (steps.enter(item)) {
                    std::ofstream(folder_.file("entered"), std::ios::app) << item << "\n";
                    at_item(item);
                    values.push_back(item * item);
                } else {
                    failures.push_back({item, ended_twice});
                }
            }
            steps.end();
            at_end(bundle);
            root.write("values", values);
            return failures;
        };
        return run_bundles(folder_, work, {jobs, 1, 1, retry, [] { return false; }});
    }

    std::string text(const std::string& name) const {
        std::ifstream file(folder_.file(name));
        std::ostringstream all;
        all << file.rdbuf();
        return all.str();
    }

    std::size_t times_entered(std::uint64_t item) const {
        std::istringstream all(text("entered"));
        std::size_t count = 0;
        for (std::uint64_t each = 0; all >> each;) count += each == item;
        return count;
    }

    std::size_t files(const std::string& ending) const {
        std::size_t count = 0;
        for (std::uint64_t bundle = 0; bundle < bundle_count; ++bundle)
            count += std::ifstream(ending == ".h5" ? folder_.bundle(bundle) : folder_.running(bundle)).good();
        return count;
    }

    TemporaryDirectory directory_;
    CampaignFolder folder_;
};

TEST_F(Workers, TwoItemsOfABundleThatEndTheirProcessAreLeftOutAfterTwoTriesEach) {
    at_item = [](std::uint64_t item) {
        if (item == 4 || item == 7) ::raise(SIGKILL);
    };
    for (const unsigned jobs : {1U, 3U}) {
        const WorkResult result = run(jobs);
        EXPECT_EQ(result.error, "");
        EXPECT_EQ(result.missing, 0U);
    }
    EXPECT_EQ(times_entered(4), 2U);
    EXPECT_EQ(times_entered(7), 2U);
    EXPECT_EQ(folder_.failures(1), (std::vector<PointFailure>{{4, ended_twice}, {7, ended_twice}}));
    EXPECT_THAT(folder_.failures(0), ::testing::IsEmpty());
    EXPECT_THAT(text("errors.log"), HasSubstr("bundle 1: its process was ended by signal 9 (Killed)"));
    EXPECT_THAT(text("errors.log"), HasSubstr("point 7: ended its process twice"));
    at_item = [](std::uint64_t) {};
    EXPECT_EQ(run(1, true).computed, 1U);  // tried again: nobody remembers
    EXPECT_THAT(folder_.failures(1), ::testing::IsEmpty());
    EXPECT_EQ(files(".running"), 0U);
}

TEST_F(Workers, ItemsThatEndTheirProcessOnceAreDone) {
    at_item = [this](std::uint64_t item) {
        if (times_entered(item) == 1) ::_exit(3);
    };
    EXPECT_EQ(run().error, "");
    for (std::uint64_t bundle = 0; bundle < bundle_count; ++bundle)
        EXPECT_THAT(folder_.failures(bundle), ::testing::IsEmpty()) << bundle;
    EXPECT_THAT(text("errors.log"), HasSubstr("bundle 0: its process ended with status 3"));
}

TEST_F(Workers, ErrorsOfWritingAreNoFaultOfAnItem) {
    at_end = [](std::uint64_t bundle) {
        if (bundle == 1) throw StorageError("the disk is full");
    };
    for (int i = 0; i < 4; ++i) EXPECT_EQ(run().error, "the disk is full");
    at_end = [](std::uint64_t) {};
    EXPECT_EQ(run().error, "");
    EXPECT_THAT(folder_.failures(1), ::testing::IsEmpty());
    EXPECT_EQ(files(".h5"), bundle_count);
    EXPECT_EQ(times_entered(0), 1U);  // finished ones are not computed again
}

TEST_F(Workers, AProcessThatEndsOutsideOfItemsIsNotBegunForEver) {
    at_end = [](std::uint64_t bundle) {
        if (bundle == 1) ::raise(SIGUSR1);
    };
    EXPECT_THAT(run().error, HasSubstr("results cannot be written"));
    EXPECT_EQ(times_entered(4), 3U);
    EXPECT_THAT(text("errors.log"), HasSubstr("bundle 1: its process was ended by signal 10"));
    at_end = [](std::uint64_t) {};
    at_hash = [](std::uint64_t bundle) {
        if (bundle == 1) ::raise(SIGKILL);
    };
    EXPECT_THAT(run().error, HasSubstr("bundle 1: its process was ended by signal 9"));
    EXPECT_EQ(files(".h5"), 1U);
    at_hash = [](std::uint64_t) {};
    EXPECT_EQ(run().error, "");
    EXPECT_THAT(folder_.failures(1), ::testing::IsEmpty());
}

TEST_F(Workers, AFolderThatIsRemovedIsNamed) {
    at_item = [this](std::uint64_t item) {
        if (item == 5) std::filesystem::rename(folder_.path(), directory_.path() / "gone");
    };
    EXPECT_THAT([this] { run(); }, ::testing::ThrowsMessage<CampaignError>(HasSubstr("is not there any more")));
}

TEST_F(Workers, DamagedBundlesAreSetAsideByWhoComputesThem) {
    run();
    std::filesystem::resize_file(folder_.bundle(2), 100);
    EXPECT_FALSE(folder_.holds(2, "hash of 2"));
    EXPECT_EQ(files(".h5"), bundle_count);  // to look changes nothing
    EXPECT_FALSE(folder_.holds(1, "hash of 2"));
    EXPECT_EQ(run().computed, 1U);
    EXPECT_TRUE(folder_.holds(2, "hash of 2"));
    EXPECT_TRUE(std::filesystem::exists(folder_.file("aside/000002.1.h5")));
    EXPECT_THAT(text("errors.log"), HasSubstr("bundle 2 was set aside"));
    EXPECT_EQ(times_entered(0), 1U);
}

TEST_F(Workers, ALockIsOfOneProcessAtATime) {
    auto lock = BundleLock::take(folder_.running(0));
    ASSERT_TRUE(lock);
    EXPECT_FALSE(BundleLock::take(folder_.running(0)));
    EXPECT_TRUE(lock->enter(3));
    EXPECT_THAT(BundleLock::owner(folder_.running(0)).value_or(""), HasSubstr(fmt::format("pid {}", ::getpid())));
    EXPECT_EQ(BundleLock::state(folder_.running(0)), "step 3 deaths 0\n");
    lock.reset();  // as a process ends
    EXPECT_FALSE(BundleLock::owner(folder_.running(0)));
    lock.emplace(*BundleLock::take(folder_.running(0)));
    EXPECT_TRUE(lock->enter(1));
    EXPECT_EQ(BundleLock::state(folder_.running(0)), "step 1 deaths 0\ndied in 3 times 1\n");
    lock->release();
    EXPECT_EQ(files(".running"), 0U);
}

}  // namespace
}  // namespace cachetally::testing
