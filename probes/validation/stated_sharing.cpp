// SPDX-License-Identifier: BSD-3-Clause
#include "probes/validation/stated_sharing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "probes/ours/cores.hpp"

namespace cachetally {
namespace {

std::string first_word(const std::filesystem::path& file) {
    std::string word;
    std::ifstream(file) >> word;
    return word;
}

/// By level the list of processors that share this one's cache, as the system writes it: equal for all of these.
std::map<std::string, std::string> lists_of(unsigned processor, const std::string& folder) {
    std::map<std::string, std::string> lists;
    const std::filesystem::path caches = fmt::format("{}/cpu{}/cache", folder, processor);
    std::error_code none;
    for (const auto& index : std::filesystem::directory_iterator(caches, none)) {
        const std::string level = first_word(index.path() / "level"),
                          list = first_word(index.path() / "shared_cpu_list");
        if (!level.empty() && !list.empty() && first_word(index.path() / "type") != "Instruction")
            lists["L" + level] = list;
    }
    return lists;
}

}  // namespace

std::vector<Fact> stated_sharing(std::span<const unsigned> processors, const std::string& folder) {
    std::map<std::string, std::map<std::string, std::vector<unsigned>>> levels;  // processors by level and list
    std::map<std::string, std::size_t> said;                                     // how many say something of a level
    for (const unsigned processor : processors)
        for (const auto& [level, list] : lists_of(processor, folder)) {
            levels[level][list].push_back(processor);
            ++said[level];
        }
    std::vector<Fact> facts;
    if (processors.size() < 2) return facts;
    for (const auto& [level, lists] : levels) {
        if (said[level] != processors.size()) continue;
        ProcessorGroups groups;
        for (const auto& [list, sharers] : lists) groups.push_back(sharers);
        std::ranges::sort(groups);
        facts.push_back({level, "shared_among", {0, in_words(groups)}});
    }
    return facts;
}

}  // namespace cachetally
