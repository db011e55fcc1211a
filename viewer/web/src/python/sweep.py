# SPDX-License-Identifier: BSD-3-Clause
# Columns of the cells of a policy.

rows = h5py.File(FILE, "r")["sweep/rows"]
for i in np.flatnonzero(rows["eviction"].asstr()[:] == EVICTION):
    print("G =", rows["granularity"].asstr()[i], "C =", rows["counters"][i], *(f"{name} {rows[name][i]}" for name in COLUMNS))
