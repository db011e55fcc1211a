# SPDX-License-Identifier: BSD-3-Clause
# What is known of data structures as a whole: misses by cause, core or function.

f = h5py.File(FILE, "r")
program = GROUP.startswith("attribution")
names = f["attribution/objects" if program else "structures/name"].asstr()[:]
if program:
    names[0] = "(code)"
g = f[GROUP]
structure = f["attribution/sites/object"][:][g["site"][:]] if program else g["structure"][:]
chosen = np.ones(len(g["phase"]), bool) if PHASES is None else np.isin(g["phase"][:], PHASES)
if GROUP == "cores":
    chosen &= f["cores"].attrs["levels"][g["level"][:]] == LEVEL
if CORE is not None:
    chosen &= g["core"][:] == CORE
if FUNCTIONS is not None:
    code = f["attribution/sites/code"][:][g["site"][:]]
    named = zip(*(f[f"attribution/code/{each}"].asstr()[:] for each in ("function", "module")))
    functions = np.array([function or (f"(in {module})" if module else "(not known)") for function, module in named])
    chosen &= np.isin(functions[code], FUNCTIONS)
if STRUCTURES is not None:
    chosen &= np.isin(names[structure], STRUCTURES)
sums = lambda values: np.bincount(structure[chosen], values[chosen], minlength=len(names))
misses = sums(g[COLUMN][:])
count, total = misses, misses.sum()
if QUANTITY != "misses" and ASKED is None:
    print("accesses of", LEVEL, "are not known by site; these are misses")
elif QUANTITY != "misses":  # of programs those of code or of data, which the level is asked by
    accesses = sums(g["accesses"][:] * (np.array(ASKED)[np.minimum(structure, 1)] if program else 1))
    rates = np.divide(misses, accesses, out=np.zeros(len(names)), where=accesses > 0)
    count = {"accesses": accesses, "hits": accesses - misses, "missrate": rates}[QUANTITY]
    total = misses.sum() / max(1, accesses.sum()) if QUANTITY == "missrate" else count.sum()
for i in np.argsort(-count)[:10]:
    print(names[i], count[i])
print("rate" if QUANTITY == "missrate" and ASKED is not None else "sum", total)
