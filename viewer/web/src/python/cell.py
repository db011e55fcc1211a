# SPDX-License-Identifier: BSD-3-Clause
# What a cell of a sweep blurs: the counts in groups of GROUP lines beside the exact ones.

g = h5py.File(FILE, "r")["exact"]
line = g["address"][:] // g.attrs["unit_bytes"]
lines, at = np.unique(line, return_inverse=True)
exact = np.bincount(at, g["count"][:])
groups, of = np.unique(lines // GROUP, return_inverse=True)
approximate = np.bincount(of, exact)[of] / GROUP  # of the lines that have events
print(np.abs(exact - approximate).sum() / exact.sum())
