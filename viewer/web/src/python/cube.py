# SPDX-License-Identifier: BSD-3-Clause
# What is known of data structures as a whole: misses by cause, core or function.

f = h5py.File(FILE, "r")
program = GROUP.startswith("attribution")
names = f["attribution/objects" if program else "structures/name"].asstr()[:]
g = f[GROUP]
structure = f["attribution/sites/object"][:][g["site"][:]] if program else g["structure"][:]
chosen = np.ones(len(g["phase"]), bool) if PHASES is None else np.isin(g["phase"][:], PHASES)
if GROUP == "cores":
    chosen &= f["cores"].attrs["levels"][g["level"][:]] == LEVEL
if CORE is not None:
    chosen &= g["core"][:] == CORE
if FUNCTIONS is not None:
    code = f["attribution/sites/code"][:][g["site"][:]]
    chosen &= np.isin(f["attribution/code/function"].asstr()[:][code], FUNCTIONS)
if STRUCTURES is not None:
    chosen &= np.isin(names[structure], STRUCTURES)
count = np.bincount(structure[chosen], g[COLUMN][:][chosen], minlength=len(names))
for i in np.argsort(-count)[:10]:
    print(names[i], count[i])
print("sum", count.sum())
