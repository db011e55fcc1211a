// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with sectors: their sizes, and levels that take or hand on whole lines.
#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "sim/model/tags/sector_table.hpp"
#include "sim/topology/validate.hpp"

namespace cachetally {
namespace {

class SectorChecker : Complaints {
public:
    explicit SectorChecker(const MachineDescription& machine) : machine_(machine) {}

    std::vector<Diagnostic> all() {
        for (const CacheConfig& cache : machine_.caches)
            if (cache.sector != 0) check(cache);
        return std::move(diagnostics_);
    }

private:
    void check(const CacheConfig& cache) {
        const Mark mark = place_of(cache, "sector");
        const unsigned least = std::max(8U, cache.line / SectorTable::most_sectors);
        if (!is_power_of_two(cache.sector) || cache.sector < least || cache.sector >= cache.line)
            complain(
                mark,
                "the sectors of '{}' have {} bytes; write a power of two from {} to {}, half the line, or remove it",
                shown(cache.name), cache.sector, least, cache.line / 2);
        if (filled_by_victims(cache.inclusion))
            complain(mark, "'{}' is filled by victims, which are whole lines; remove 'sector'", shown(cache.name));
        for (const CacheConfig& other : machine_.caches) {
            if (other.name == cache.next && filled_by_victims(other.inclusion))
                complain(mark, "'{}' hands its victims to '{}' as whole lines; remove 'sector'", shown(cache.name),
                         shown(other.name));
            if (other.next == cache.name && !filled_by_victims(cache.inclusion)) check(cache, other);
        }
    }

    /// What comes from above is in one sector; what an inclusive level takes away there is whole lines.
    void check(const CacheConfig& cache, const CacheConfig& upper) {
        const bool lines = upper.sector == 0 || cache.inclusion == Inclusion::inclusive;
        const unsigned least = lines ? upper.line : upper.sector;
        if (cache.sector >= least) return;
        complain(place_of(cache, "sector"),
                 "the sectors of '{}' have {} bytes, less than the {} of a {} of '{}' above; write at least {} here",
                 shown(cache.name), cache.sector, least, lines ? "line" : "sector", shown(upper.name), least);
    }

    const MachineDescription& machine_;
};

}  // namespace

std::vector<Diagnostic> check_sectors(const MachineDescription& machine) { return SectorChecker(machine).all(); }

}  // namespace cachetally
