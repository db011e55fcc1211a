#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A result file of cachetally, looked at from Python, cell by cell ("# %%": Jupyter, VS Code and Spyder run these as notebook cells).

    cachetally run lu n=128 --machine schulz2002 -o lu.h5
    python3 examples/explore_result.py lu.h5

Needs h5py and numpy (Debian: python3-h5py); pandas, xarray (with h5netcdf) and matplotlib are used where they are there. docs/format.md
describes every group.
"""
# %% Open the file
import signal
import sys

import h5py
import numpy as np

if hasattr(signal, "SIGPIPE") and "ipykernel" not in sys.modules:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # ends quietly where its reader does, as in `| head`

path = sys.argv[1] if len(sys.argv) > 1 else "lu.h5"
f = h5py.File(path, "r")
assert f.attrs["format"] == "cachetally result", "not a result of cachetally"
assert f.attrs["kind"] == "run", "this example is about runs; sweeps: f['sweep/rows']"
print(f["input"].attrs["name"], "on", f["machine"].attrs["name"], "complete" if f.attrs["complete"] else "INCOMPLETE")

# %% Counters: totals are attributes, phases are columns
for name in f["levels"].attrs["names"]:
    level = f["levels"][name]
    accesses = sum(int(level[c].attrs["total"]) for c in ("loads", "stores", "fetches"))
    misses = sum(int(level[c].attrs["total"]) for c in ("load_misses", "store_misses", "fetch_misses"))
    if accesses:
        print(f"{name}: {accesses:,} accesses, {misses:,} misses, {100 * misses / accesses:.2f} %")

# %% Which data structure misses most, phase by phase
levels = list(f["structures"].attrs["levels"])
names = f["structures/name"].asstr()[:]
table = f["structures/levels"][levels[0]]["phases"]
structure, phase, missed = table["structure"][:], table["phase"][:], table["misses"][:]
for p in range(min(8, len(f["phases/name"]))):
    here = phase == p
    if here.any():
        worst = np.argmax(missed[here])
        print(f"phase {p}: {names[structure[here][worst]]} with {missed[here][worst]:,.0f} misses of {levels[0]}")

# %% A histogram over addresses: sums over phases
lines = f["combined"][levels[0]]
address, at = np.unique(lines["address"][:], return_inverse=True)
accesses, misses = np.bincount(at, lines["accesses"][:]), np.bincount(at, lines["misses"][:])
for i in np.argsort(-misses)[:5]:
    print(f"{address[i]:#x}: {accesses[i]:,.0f} accesses, {misses[i]:,.0f} misses")

# %% The same from afar: the pyramid has least, most and sum of blocks of 16, 256, ... lines
if "pyramid" in lines:
    for name, block in lines["pyramid"].items():
        print(f"{name}: {len(block['address'])} blocks of {block.attrs['units']} lines, at most {block['misses_max'][:].max():,.0f} misses per line")

# %% What a monitor cost, and what its histogram is worth
for group in f["monitors"].values() if "monitors" in f else []:
    a = group.attrs
    print(f"monitor {a['name']}: {a['counters']} counters, granularity {a['granularity']}, {a['events']:,} events, {a['swapouts']:,} swap-outs, error {100 * a['error']:.2f} %")

# %% As a pandas frame
try:
    import pandas as pd

    frame = pd.DataFrame({c: lines[c][:] for c in ("phase", "address", "accesses", "misses")})
    print(frame.groupby("phase")[["accesses", "misses"]].sum().head())
except ImportError:
    print("(pandas is not installed)")

# %% As xarray: dimension scales make labelled axes
try:
    import xarray as xr

    phases = xr.open_dataset(path, group="phases", engine="h5netcdf")
    print(phases)
    print("longest phase:", int(phases["cycles"].idxmax()), "of", phases.sizes["phase"])
    print("accesses by address:", xr.open_dataset(path, group=f"combined/{levels[0]}", engine="h5netcdf")["accesses"].coords)
except ImportError as error:
    print(f"(xarray: {error})")

# %% A picture
try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 2.5), layout="constrained")
    axes.plot(np.arange(len(address)), misses, linewidth=0.8)
    axes.set(xlabel="lines, by address", ylabel=f"misses of {levels[0]}")
    figure.savefig("misses.png", dpi=120)
    print("misses.png")
except ImportError:
    print("(matplotlib is not installed)")
