# SPDX-License-Identifier: BSD-3-Clause
# What trackers give and take.

rows = h5py.File(FILE, "r")["trackers/rows"]
for i, name in enumerate(rows["tracker"].asstr()[:]):
    print(name, f"error {rows['error'][i]}", *(f"{name} {rows[name][i]}" for name in COLUMNS))
