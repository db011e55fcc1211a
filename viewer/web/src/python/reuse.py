# SPDX-License-Identifier: BSD-3-Clause
# Reuse distances, and what fully associative LRU caches miss: uses at distances of their lines and above, at edges of bins.

for path in GROUPS:
    g = h5py.File(FILE, "r")[path]
    structure, phase, distance, count = (g["distances"][each][:] for each in ("structure", "phase", "distance", "count"))
    chosen = np.ones(len(count), bool) if PHASES is None else np.isin(phase, PHASES)
    if STRUCTURES is not None:
        chosen &= np.isin(g["structures"].asstr()[:][structure], STRUCTURES)
    distances, at = np.unique(distance[chosen], return_inverse=True)
    uses = np.bincount(at, count[chosen], minlength=len(distances))
    print(path, uses.sum(), "uses; distance, uses, misses of so many lines:")
    for i, each in enumerate(distances):
        print("  ", "first use" if each == 2**64 - 1 else each, int(uses[i]), int(uses[i:].sum()))
