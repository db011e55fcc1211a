// SPDX-License-Identifier: BSD-3-Clause
// The three tests of Cooper and Xu 2018 as published.
#pragma once

#include "probes/cooper_xu/stable_sweep.hpp"
#include "probes/xray/l1.hpp"

namespace cachetally {

/// L1 by G(n,k,o) (3.2, Figure 3): the first gap at which 17 locations miss, then fewer locations at wider gaps by
/// halves, then the offset at which the last location leaves the set. All in powers of two, as published.
TestReport gap_published(Meter& meter);

/// C(k) up to 32 MiB in stable sweeps (3.3). The authors' analysis (4) is not described; in its place any rise of the
/// rounded times ends a level; rises at neighbouring sizes are one.
TestReport levels_published(Meter& meter, const L1Geometry& l1, const SweepOptions& options = {});

struct TlbOptions {
    SweepOptions sweep;
    bool on_demand = true;  ///< T(2..4) at suspect sizes and their neighbours only; false: at every size
};

/// T(1,k) up to 8 MiB in stable sweeps; a rise at x pages is a TLB's if T(2,k), T(3,k) and T(4,k) rise there, too (3.4,
/// Figure 9).
TestReport tlb_published(Meter& meter, const L1Geometry& l1, const TlbOptions& options = {});

}  // namespace cachetally
