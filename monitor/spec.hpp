// SPDX-License-Identifier: BSD-3-Clause
// MonitorSpec: what a monitor watches and how it is built, and the one parser for it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cachetally/listener.hpp"
#include "cachetally/machine.hpp"
#include "monitor/eviction/table.hpp"

namespace cachetally {

/// Which counter is swapped out to make room (docs/monitors.md). fifo is the order of Schulz et al. 2002, section 3.1;
/// the others are ours.
#define CACHETALLY_ENUMERATOR(name, ...) name,
enum class Eviction : std::uint8_t { CACHETALLY_EVICTIONS(CACHETALLY_ENUMERATOR) };
#undef CACHETALLY_ENUMERATOR

/// The names of all policies of the program, in the order of their numbers.
std::span<const std::string_view> eviction_names();

std::string_view to_string(Eviction eviction);

/// Which addresses share a counter (Schulz et al. 2002, section 3.2).
struct Granularity {
    enum class Mode : std::uint8_t {
        aligned,  ///< address-fixed groups of `amount` lines
        mask,     ///< `amount` low address bits cleared
        dynamic,  ///< windows without predefined boundaries of at most `amount` lines
    };
    Mode mode = Mode::aligned;
    std::uint32_t amount = 1;

    friend bool operator==(const Granularity&, const Granularity&) = default;
};

/// "4", "mask:6", "dynamic:4": as the parser takes it.
std::string to_string(const Granularity& granularity);

/// Addresses [from, to).
struct AddressRange {
    Address from = 0;
    Address to = 0;

    bool contains(Address address) const { return address - from < to - from; }
    friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

/// The ring buffer in simulated memory, its reader, and what happens when it is full.
struct RingSpec {
    enum class Path : std::uint8_t { memory, link };
    enum class Drain : std::uint8_t { full, watermark, periodic };
    enum class Overflow : std::uint8_t { stall, drop };

    std::uint64_t capacity = 4096;        ///< records
    std::uint32_t record = 16;            ///< bytes: counter and address tag
    Address base = Address{1} << 51;      ///< physical; no page is mapped there
    Path path = Path::memory;             ///< straight to memory, or into the component below the link
    Drain drain = Drain::full;            ///< when the software begins to empty the ring
    std::uint64_t watermark = 0;          ///< records (drain watermark; specs that do not say: usual_watermark())
    std::uint64_t period = 0;             ///< cycles (drain periodic)
    std::uint64_t drain_cost = 0;         ///< cycles until the software has taken one record
    std::uint64_t write_cost = 0;         ///< cycles that the core loses per record
    Overflow overflow = Overflow::stall;  ///< wait for a free place, or lose the record

    friend bool operator==(const RingSpec&, const RingSpec&) = default;
};

struct MonitorSpec {
    std::string link;              ///< as Topology names it, e.g. "core-L1D"
    std::string name;              ///< empty: the link's
    std::uint32_t counters = 128;  ///< C
    std::uint32_t ways = 0;        ///< counters per set; 0 = fully associative
    Eviction eviction = Eviction::fifo;
    std::uint64_t seed = 1;    ///< of random eviction
    std::uint32_t width = 32;  ///< bits of a counter, 1 to 64
    Granularity granularity;
    std::uint32_t line = 0;  ///< bytes; 0: whoever attaches it fills in the line of the first cache below the link
    std::uint32_t kinds = bit(EventKind::load) | bit(EventKind::store) | bit(EventKind::fetch);
    std::vector<AddressRange> ranges;  ///< of addresses as they are on the link; empty = everywhere
    std::vector<std::uint32_t> cores;  ///< empty = all
    bool barriers = true;              ///< a barrier of the program swaps all counters out and begins a new phase
    bool functions = false;  ///< entering and leaving a function swaps all counters out: one histogram per function
    bool start = true;       ///< counting from the beginning; else from the first monitor_on
    RingSpec ring;

    /// Bytes of the units that histograms count in: a line, or less where the mask keeps more of the address.
    std::uint32_t unit() const;
    /// Units that a counter is for: all of them (mask, aligned) or at most (dynamic).
    std::uint32_t units_per_key() const;
    bool is_dynamic() const { return granularity.mode == Granularity::Mode::dynamic; }
    /// The largest count that a counter can hold: 2^width - 1.
    std::uint64_t full() const { return ~std::uint64_t{0} >> (64 - width); }
    const std::string& label() const { return name.empty() ? link : name; }

    friend bool operator==(const MonitorSpec&, const MonitorSpec&) = default;
};

/// A monitor specification that is wrong. what() says where, what is wrong, and what would be right.
class SpecError : public std::invalid_argument {
public:
    SpecError(const std::string& place, const std::string& message, Mark mark)
        : std::invalid_argument(place + message), message_(message), mark_(mark) {}
    const std::string& message() const { return message_; }  ///< without the place
    /// In a machine file: line and column. In a text: line 0 and the column, counted from 1.
    Mark mark() const { return mark_; }

private:
    std::string message_;
    Mark mark_;
};

/// Settings that are valid one by one and contradict each other: with another value of one of them they may be valid.
class ContradictingSpec : public SpecError {
    using SpecError::SpecError;
};

/// From a machine file; `file` is for messages ("file:line:column: error: ..."). Throws SpecError.
MonitorSpec parse_monitor(const MonitorEntry& entry, const std::string& file);

/// From the command line: "link=core-L1D,counters=128,eviction=lru". Throws SpecError.
MonitorSpec parse_monitor(std::string_view text);

/// A setting that does not belong where a specification stands, and what to write instead.
struct RefusedKey {
    std::string_view key, advice;
};

/// A setting that has to be given where a specification stands, and why.
struct RequiredKey {
    std::string_view key, advice;
};

/// What several monitors have in common: settings as above, without a link. Throws SpecError, also for `refused` keys
/// and where one of the `required` keys is absent. `start`: what is not given stays as it is there.
MonitorSpec parse_common(std::string_view text, std::span<const RefusedKey> refused,
                         std::span<const RequiredKey> required = {}, const MonitorSpec& start = {});

/// "ways=4" of a key that is varied and its value; "watermark:64" of the key drain is two settings.
std::string varied_setting(const std::string& key, const std::string& value);

/// "4", "aligned:4", "mask:6", "dynamic:4"; and an eviction policy by its name. Throw SpecError.
Granularity parse_granularity(std::string_view text);
Eviction parse_eviction(std::string_view text);

/// Throws SpecError where keys contradict each other. Parsed specifications have passed it; those built by hand may
/// not.
void validate(const MonitorSpec& spec);

/// The link and all keys that differ from their default, as parse_monitor takes them.
std::string to_string(const MonitorSpec& spec);

struct SpecKey {
    std::string_view name;
    std::string_view form;      ///< of the value, e.g. "N", "fifo|lru"
    std::string_view standard;  ///< default
    std::string_view help;
};
/// Every key in the order of the documentation: for --help.
std::vector<SpecKey> monitor_keys();
/// Of settings as parse_monitor takes them those that say what is counted, beside the link, and in which lines, each
/// written in one way: what differs in these counts other things. Throws SpecError.
std::string counting_settings(std::string_view settings);

/// True where the sum of all records is the exact histogram whatever happens, so that the error is 0 by law: one line
/// (or less) per counter and a ring that loses nothing.
bool error_known_zero(const MonitorSpec& spec);

/// Half of the ring.
constexpr std::uint64_t usual_watermark(std::uint64_t capacity) { return capacity < 2 ? 1 : capacity / 2; }

inline constexpr std::uint64_t most_counters = 1U << 22;
inline constexpr std::uint64_t most_window_lines = 1U << 23;        ///< counters times lines; half a GiB of ours
inline constexpr std::uint64_t longest_period = 1'000'000'000'000;  ///< cycles
inline constexpr std::uint64_t most_cost = 1'000'000;               ///< cycles per record

struct SpecConflict {
    std::string_view key;
    std::string message;
};

std::optional<SpecConflict> find_conflict(const MonitorSpec& spec);

}  // namespace cachetally
