// MonitorSpec: what a monitor is to be. Read from machine files and from the command line by one parser.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/model/link.hpp"
#include "sim/topology/machine.hpp"

namespace cachetally {

/// Which counter leaves when a new one is needed (Schulz et al. 2002, 3.1, leave it open).
enum class Eviction : std::uint8_t {
    fifo,       ///< allocated longest ago
    lru,        ///< counted longest ago
    random,     ///< drawn by a seeded generator
    clock,      ///< first without its use bit, as a hand goes round and clears use bits
    lfu,        ///< smallest count, of these the one allocated longest ago
    clear_all,  ///< all leave
};

/// How addresses become keys of counters (Schulz et al. 2002, 3.2).
enum class GranularityMode : std::uint8_t {
    mask,     ///< low bits cleared
    aligned,  ///< groups of lines with fixed boundaries
    dynamic,  ///< windows without predefined boundaries that grow while they span at most so many lines
};

struct GranularitySpec {
    GranularityMode mode = GranularityMode::aligned;
    std::uint32_t lines = 1;  ///< per group or window (aligned, dynamic)
    std::uint32_t bits = 0;   ///< cleared (mask)
    friend bool operator==(const GranularitySpec&, const GranularitySpec&) = default;
};

enum class RingPath : std::uint8_t {
    memory,  ///< records are written past the caches
    link,    ///< records enter the component below the monitored link
};
enum class Drain : std::uint8_t { full, watermark, periodic };
enum class Overflow : std::uint8_t { stall, drop };

struct RingSpec {
    std::uint64_t capacity = 4096;    ///< records
    std::uint32_t record = 16;        ///< bytes
    Address base = Address{1} << 51;  ///< physical; above every frame
    RingPath path = RingPath::memory;
    Drain drain = Drain::full;
    std::uint64_t watermark = 0;   ///< records
    std::uint64_t period = 0;      ///< cycles
    std::uint64_t drain_cost = 0;  ///< cycles that the software needs per record
    std::uint64_t write_cost = 0;  ///< cycles that the core loses per record
    Overflow overflow = Overflow::stall;
};

struct AddressRange {
    Address from = 0;  ///< first
    Address to = 0;    ///< one past the last
};

struct MonitorSpec {
    std::string name;  ///< empty = the link's
    std::string link;  ///< e.g. "core-L1D"
    std::uint32_t counters = 128;
    std::uint32_t ways = 0;  ///< of the counter array; 0 = fully associative
    Eviction eviction = Eviction::lru;
    std::uint64_t seed = 1;    ///< of random eviction
    std::uint32_t width = 32;  ///< bits per counter
    GranularitySpec granularity;
    std::uint32_t line = 0;  ///< bytes; 0 = the line of the first cache at or below the link
    std::uint32_t kinds = bit(EventKind::load) | bit(EventKind::store) | bit(EventKind::fetch);
    std::vector<AddressRange> ranges;  ///< of the addresses on the link; empty = all
    std::vector<std::uint32_t> cores;  ///< empty = all
    bool barriers = true;    ///< a barrier of the program swaps all counters out and begins a phase (Schulz 3.4)
    bool functions = false;  ///< a histogram per function (Schulz 3.4)
    bool enabled = true;     ///< counts from the beginning
    RingSpec ring;
};

/// A wrong specification. `mark` is the place in a machine file, or column = position in the text on the command line.
class SpecError : public std::invalid_argument {
public:
    SpecError(const std::string& message, Mark mark) : std::invalid_argument(message), mark_(mark) {}
    Mark mark() const { return mark_; }

private:
    Mark mark_;
};

/// Reads the settings of a machine file's monitor. Throws SpecError.
MonitorSpec parse_monitor(const MonitorEntry& entry);

/// Reads "link=core-L1D,counters=64,eviction=fifo". Throws SpecError.
MonitorSpec parse_monitor(std::string_view text);

/// "1", "4", "dynamic:4", "mask:6". Throws SpecError.
GranularitySpec parse_granularity(std::string_view text, Mark mark = {});
std::string to_string(const GranularitySpec& granularity);

Eviction parse_eviction(std::string_view text, Mark mark = {});
std::string_view to_string(Eviction eviction);

}  // namespace cachetally
