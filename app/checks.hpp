// SPDX-License-Identifier: BSD-3-Clause
// Values of options: checks that say what would be right, and lists, "16,32", "1-6,dynamic:4": each value once, in the
// order given; errors name the option.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/spec.hpp"
#include "storage/target.hpp"
#include "viewer/sweep_choice.hpp"

namespace cachetally::app {

/// `what` may not be empty, e.g. "the name of a file".
CLI::Validator not_empty(const std::string& what);

/// An option with a text that may not be empty: `type` as the help names it, `what` as errors do.
template <class Text>
CLI::Option* add_text_option(CLI::App& command, const std::string& names, Text& target, const std::string& help,
                             const std::string& type, const std::string& what) {
    return command.add_option(names, target, help)->type_name(type)->check(not_empty(what));
}

/// A whole number (base/units.hpp: parse_whole) of at least `least` and at most `most`, for CLI::Option::transform:
/// digits are left.
CLI::Validator whole_number(std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// A number above zero.
CLI::Validator positive_number();
/// A number from 0 to 100.
CLI::Validator percentage();

/// One of some words, which the help names.
CLI::Validator one_of(std::vector<std::string> words);
/// One of some counts of lines, or a cause of misses.
CLI::Validator one_of_counts(std::vector<std::string> counts);

/// --trust, of commands that read files of ours.
void add_trust_option(CLI::App& command, Trust& trust);

/// Throws UsageError where there is no file of this name.
void require_present(const std::string& path);

/// Throws UsageError where a page cannot show these results together: of sweeps and trackers, or of probes, any number;
/// of others two of one kind.
void check_together(const std::vector<std::string>& files, Trust trust);

/// The parts between commas.
std::vector<std::string> split_list(const std::string& text);

/// Values of any kind; with `ranges`, "4-8" is five of them. `option`: as messages name it.
std::vector<std::string> parse_values(const std::string& option, const std::string& text, bool ranges);

/// Of --link: names, which nobody has looked up.
std::vector<std::string> parse_links(const std::string& text);

/// Of --counters: "16,32", "1-8".
std::vector<std::uint32_t> parse_counters(const std::string& text);

/// Of --granularity: "1-6", "1,2,dynamic:4".
std::vector<Granularity> parse_granularities(const std::string& text);

/// Of --eviction.
std::vector<Eviction> parse_evictions(const std::string& text);

/// Of --ring: capacities in records.
std::vector<std::uint64_t> parse_capacities(const std::string& text);

/// When the software empties the ring.
struct DrainChoice {
    RingSpec::Drain drain = RingSpec::Drain::full;
    std::uint64_t amount = 0;  ///< records (watermark; 0 = half of the ring) or cycles (periodic)
    friend bool operator==(const DrainChoice&, const DrainChoice&) = default;
};

/// Of --drain: "full,watermark:32,periodic:10000".
std::vector<DrainChoice> parse_drains(const std::string& text);

/// --objectives, --where, --tolerance, of commands that tell cells of sweeps.
struct ChoiceTexts {
    std::string objectives, where;
    std::optional<double> tolerance;  ///< percent
    bool given() const { return !objectives.empty() || !where.empty() || tolerance; }
};
/// `more`: what --where means besides.
void add_choice_options(CLI::App& command, ChoiceTexts& texts, const std::string& more = {});
/// `kept`: what counts where nothing is given.
SweepChoice choice_of(const ChoiceTexts& texts, const SweepChoice& kept = {});

}  // namespace cachetally::app
