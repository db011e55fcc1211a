# SPDX-License-Identifier: BSD-3-Clause
# Points of response curves, without those that were knocked out.

f = h5py.File(FILE, "r")
for path in PATHS:
    g = f[path]
    x, value = g["x"], g["value"]
    kept = g["knocked_out"][:] == 0 if "knocked_out" in g else np.ones(len(x), bool)
    print(path, g.attrs["x_name"], "in", x.attrs["units"], "->", value.attrs["units"], "sum", value[:].sum())
    for a, b in zip(x[:][kept], value[:][kept]):
        print("  ", a, b)
