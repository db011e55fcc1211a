// SPDX-License-Identifier: BSD-3-Clause
#include "probes/recording/recording.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"

namespace cachetally {
namespace {

RecordedString recorded(const Chase& chase) {
    RecordedString string{chase.recipe};
    if (chase.recipe.generator == Generator::listed) string.listed.assign(chase.offsets.begin(), chase.offsets.end());
    if (chase.recipe.generator == Generator::page_lines) string.listed = std::exchange(string.recipe.pages, {});
    return string;
}

std::uint64_t digest_of_string(const RecordedString& string) {
    const Recipe& recipe = string.recipe;
    std::uint64_t digest = splitmix64(recipe.seed + static_cast<unsigned>(recipe.generator));
    const auto add = [&](std::uint64_t value) { digest = splitmix64(digest ^ value); };
    std::ranges::for_each(recipe.parameters, add);
    for (const std::uint64_t value : {recipe.moved_by, recipe.line, recipe.other_words}) add(value);
    std::ranges::for_each(string.listed, add);
    return digest;
}

}  // namespace

Offsets RecordedString::offsets(std::uint64_t arena_bytes) const {
    if (recipe.generator == Generator::listed) return Offsets(listed);
    Recipe whole = recipe;
    whole.pages = listed;
    return string_of(whole, arena_bytes / sizeof(void*));
}

RecordedStrings::RecordedStrings(std::vector<RecordedString> all) {
    for (RecordedString& string : all) {
        const std::uint64_t digest = digest_of_string(string);
        add(std::move(string), digest);
    }
}

std::optional<std::uint32_t> RecordedStrings::find(const RecordedString& string, std::uint64_t digest) const {
    for (auto [at, end] = by_digest_.equal_range(digest); at != end; ++at)
        if (all_[at->second] == string) return at->second;
    return std::nullopt;
}

std::optional<std::uint32_t> RecordedStrings::find(const Chase& chase) const {
    const RecordedString string = recorded(chase);
    return find(string, digest_of_string(string));
}

std::uint32_t RecordedStrings::find_or_add(const Chase& chase) {
    RecordedString string = recorded(chase);
    const std::uint64_t digest = digest_of_string(string);
    if (const auto known = find(string, digest)) return *known;
    return add(std::move(string), digest);
}

std::uint32_t RecordedStrings::add(RecordedString string, std::uint64_t digest) {
    const auto number = static_cast<std::uint32_t>(all_.size());
    all_.push_back(std::move(string));
    by_digest_.emplace(digest, number);
    return number;
}

}  // namespace cachetally
