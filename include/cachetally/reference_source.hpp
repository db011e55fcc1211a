// SPDX-License-Identifier: BSD-3-Clause
// Where references come from: kernels, traces, and later live programs and probes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cachetally/filtered.hpp"
#include "cachetally/reference.hpp"
#include "cachetally/sites.hpp"

namespace cachetally {

/// A named data structure: a range of virtual addresses.
struct Region {
    std::string name;
    Address base = 0;
    std::uint64_t bytes = 0;
    std::uint32_t element_bytes = 1;
    /// Of a two-dimensional array: elements that lie side by side in a row, so that element e is [e / n][e % n]; 0: it
    /// is none.
    std::uint32_t row_elements = 0;

    bool contains(Address address) const { return address - base < bytes; }
    friend bool operator==(const Region&, const Region&) = default;
};

/// What a program says to the simulation between two references.
struct Control {
    enum class Kind : std::uint8_t {
        none,
        barrier,         ///< all cores meet; monitors swap out and reset; a new phase begins, whose name is number
                         ///< `argument` - 1 of ReferenceSource::phase_names(); 0: it has none
        monitor_on,      ///< monitors count from here
        monitor_off,     ///< monitors ignore events from here
        enter_function,  ///< `argument` is an index into ReferenceSource::functions()
        leave_function,
        meet,  ///< all cores wait for each other, as at a barrier, and no phase ends; `argument`: 0, or the present
               ///< phase gets a name, as at a barrier
        end,   ///< the core's stream is over
        count_off,  ///< by the host, for listeners: events from here on are not counted, though caches go on
        count_on,   ///< they are counted again
    };
    Kind kind = Kind::none;
    std::uint32_t argument = 0;

    friend bool operator==(const Control&, const Control&) = default;
};

/// A piece of one core's stream: references, then one control. Valid until the next call of next() for the same core.
struct Batch {
    std::span<const Reference> references;
    Control control;
    std::span<const FilteredBlock> blocks = {};  ///< more references before the control, filtered as was wished
};

/// One stream of references per core. A source may be live and endless: nothing is known of its length in advance.
class ReferenceSource {
public:
    virtual ~ReferenceSource() = default;

    /// Number of streams; the streams are numbered 0 .. cores() - 1.
    virtual unsigned cores() const = 0;

    /// The next stretch of a core's stream; after Control::Kind::end it is not called again for that core.
    /// Between two barriers streams may be asked in any order; across a barrier no stream is asked before all arrived.
    /// Throws std::runtime_error with a message for the user when the source is damaged.
    virtual Batch next(unsigned core) = 0;

    /// How the reader of the only stream takes filtered references best; nothing: not at all. A source that makes its
    /// batches ahead, on a thread of its own, filters them there, and from the next batch on all of them; others need
    /// not.
    virtual void wish(const std::optional<FilterPlan>&) {}

    /// Named data structures; complete once the streams are over, and for kernels from the beginning.
    virtual std::vector<Region> regions() const { return {}; }

    /// Names of functions that enter_function refers to.
    virtual std::vector<std::string> functions() const { return {}; }

    /// Names of phases that barriers refer to; complete once the streams are over.
    virtual std::vector<std::string> phase_names() const { return {}; }

    /// What Reference::site stands for; null: the number of a statement, and no more. Stays the same.
    virtual const SiteTable* sites() const { return nullptr; }

    /// Complete once the streams are over. Takes time.
    virtual SiteNames site_names() const { return {}; }

    /// Fraction of the work done, 0..1, or a negative number where it is not known.
    virtual double progress() const { return -1.0; }
};

}  // namespace cachetally
