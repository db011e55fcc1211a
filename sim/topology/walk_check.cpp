// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with page walks: where they enter, and what their caches hold.
#include <algorithm>

#include "base/text.hpp"
#include "sim/model/tlb/page_table.hpp"
#include "sim/topology/validate.hpp"

namespace cachetally {
namespace {

class WalkChecker : Complaints {
public:
    explicit WalkChecker(const MachineDescription& machine) : machine_(machine), pages_(machine.pages) {}

    std::vector<Diagnostic> all() {
        if (machine_.tlbs.empty() && pages_.keys.contains("walk"))
            complain(place_of(pages_, "walk"),
                     "there are no TLBs, so there are no page walks; add 'tlbs', or remove 'walk'");
        check_entrance();
        if (!pages_.walk_caches.empty()) check_caches();
        return std::move(diagnostics_);
    }

private:
    void check_entrance() {
        const auto entry = std::ranges::find(machine_.caches, pages_.walk_through, &CacheConfig::name);
        if (!machine_.tlbs.empty() && entry != machine_.caches.end() && filled_by_victims(entry->inclusion))
            complain(place_of(pages_, "walk.through"),
                     "page walks cannot enter '{}', which is filled by victims only; name a level above or below it",
                     shown(entry->name));
        if (pages_.keys.contains("walk.through") && !pages_.walk_references)
            complain(place_of(pages_, "walk.through"),
                     "page walks without references enter nothing; remove 'through', or write 'references: true'");
    }

    void check_caches() {
        const Mark mark = place_of(pages_, "walk.caches");
        if (!pages_.walk_references)
            complain(mark,
                     "page walks without references read nothing that their caches could spare; remove 'caches', "
                     "or write 'references: true'");
        if (std::ranges::all_of(pages_.walk_caches, [](unsigned entries) { return entries == 0; }))
            complain(mark,
                     "caches of page walks without entries spare nothing; write how many, as in [2, 4, 32], or "
                     "remove 'caches'");
        constexpr unsigned upper = PageTable::deepest_walk - 1;
        if (pages_.walk_caches.size() > upper)
            complain(mark, "walks read at most {} entries above the last; write at most {} numbers, from the root down",
                     upper, upper);
    }

    const MachineDescription& machine_;
    const PagesConfig& pages_;
};

}  // namespace

std::vector<Diagnostic> check_walks(const MachineDescription& machine) { return WalkChecker(machine).all(); }

}  // namespace cachetally
