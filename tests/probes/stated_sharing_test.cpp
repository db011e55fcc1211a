// SPDX-License-Identifier: BSD-3-Clause
// Which caches processors share by the files of the system.
#include "probes/validation/stated_sharing.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace cachetally {
namespace {

class StatedSharing : public ::testing::Test {
protected:
    void TearDown() override { std::filesystem::remove_all(folder_); }

    void add(unsigned processor, unsigned index, const char* level, const char* type, const char* list) const {
        const auto cache = folder_ / ("cpu" + std::to_string(processor)) / "cache" / ("index" + std::to_string(index));
        std::filesystem::create_directories(cache);
        std::ofstream(cache / "level") << level << '\n';
        std::ofstream(cache / "type") << type << '\n';
        std::ofstream(cache / "shared_cpu_list") << list << '\n';
    }
    std::vector<std::pair<std::string, std::string>> facts(std::vector<unsigned> processors) const {
        std::vector<std::pair<std::string, std::string>> found;
        for (const Fact& fact : stated_sharing(processors, folder_.string()))
            found.emplace_back(fact.level, fact.value.word);
        return found;
    }
    using Facts = std::vector<std::pair<std::string, std::string>>;

    const std::filesystem::path folder_ =
        std::filesystem::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

// Threads 0 and 2, 1 and 3 of two cores; 3 may not be used.
TEST_F(StatedSharing, IsThatOfTheProcessorsThatMayBeUsed) {
    for (const unsigned processor : {0U, 1U, 2U, 3U}) {
        const char* core = processor % 2 == 0 ? "0,2" : "1,3";
        add(processor, 0, "1", "Data", core);
        add(processor, 1, "1", "Instruction", "0-3");
        add(processor, 2, "2", "Unified", core);
        add(processor, 3, "3", "Unified", "0-3");
    }
    EXPECT_EQ(facts({0, 1, 2, 3}), (Facts{{"L1", "0+2 1+3"}, {"L2", "0+2 1+3"}, {"L3", "0-3"}}));
    EXPECT_EQ(facts({0, 1, 2}), (Facts{{"L1", "0+2 1"}, {"L2", "0+2 1"}, {"L3", "0-2"}}));
}

TEST_F(StatedSharing, IsNotStatedWhereAProcessorIsSilent) {
    add(0, 0, "1", "Data", "0");
    add(1, 0, "1", "Data", "1");
    add(0, 1, "2", "Unified", "0-1");
    EXPECT_EQ(facts({0, 1}), (Facts{{"L1", "0 1"}}));
    EXPECT_EQ(facts({0, 7}), Facts{});
    EXPECT_EQ(facts({0}), Facts{});
}

}  // namespace
}  // namespace cachetally
