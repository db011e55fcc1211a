# SPDX-License-Identifier: BSD-3-Clause
# A column of what monitors cost.

f = h5py.File(FILE, "r")
print(f["intrusion"].attrs["cycles"], "cycles without monitor")
rows = f["intrusion/rows"]
for monitor, value in zip(rows["monitor"].asstr(), rows[COLUMN]):
    print(monitor, COLUMN.replace("_", " "), value)
print("sum", rows[COLUMN][:].sum())
