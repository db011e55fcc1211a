# SPDX-License-Identifier: BSD-3-Clause
# What the field shows: counts by line and by phase.

g = h5py.File(FILE, "r")[PATH]
phase = g["phase"][:]
chosen = in_phases(g, PHASES)
value = by_line(g, chosen)
def total(rows):
    if QUANTITY != "missrate":
        return sum(by_line(g, rows).values())
    a, m = (g[name][:][in_sight(g, rows)].sum() for name in ("accesses", "misses"))
    return m / a if a > 0 else 0


print(PATH, "rate" if QUANTITY == "missrate" else "sum", total(chosen), "lines", len(value))
for line in sorted(value, key=value.get, reverse=True)[:5]:
    print("  ", hex(line), value[line])
for i in np.unique(phase[chosen]):
    print("phase", i, total(phase == i))
