# SPDX-License-Identifier: BSD-3-Clause
# What the field shows: counts by line and by phase.

g = h5py.File(FILE, "r")[PATH]
phase = g["phase"][:]
chosen = in_phases(g, PHASES)
value = by_line(g, chosen)
print(PATH, "sum", sum(value.values()), "lines", len(value))
for line in sorted(value, key=value.get, reverse=True)[:5]:
    print("  ", hex(line), value[line])
for i in np.unique(phase[chosen]):
    print("phase", i, sum(by_line(g, phase == i).values()))
