# SPDX-License-Identifier: BSD-3-Clause
# Columns of the cells of a policy; of files with several workloads, links or settings those that are chosen.

rows = h5py.File(FILE, "r")[GROUP]
parts = [rows[name].asstr()[:] for name in ("workload", "link", "settings", "eviction")]
chosen = np.ones(len(rows["counters"]), bool)
for name, value in CHOSEN:
    chosen &= rows[name].asstr()[:] == value
for i in np.flatnonzero(chosen):
    told = [part[i] for part in parts if part[i]]
    print("G =", rows["granularity"].asstr()[i], "C =", rows["counters"][i], *told, *(f"{name} {rows[name][i]}" for name in COLUMNS))
