# SPDX-License-Identifier: BSD-3-Clause
# Scores of probes on random machines.

s = h5py.File(FILE, "r")["summary"]
print(s.attrs["machines"], "machines")
names = zip(s["test"].asstr(), s["variant"].asstr(), s["parameter"].asstr())
for name, right, wrong, unknown in zip(names, s["right"], s["wrong"], s["not_identifiable"]):
    print(*name, right, "right", wrong, "wrong", unknown, "not identifiable")
print("sum", s["right"][:].sum(), s["wrong"][:].sum(), s["not_identifiable"][:].sum())
