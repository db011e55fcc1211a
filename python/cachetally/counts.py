# SPDX-License-Identifier: BSD-3-Clause
"""Accesses and misses of a level by data structure, phase, cause, function and line: which group of a file has them."""
from typing import Any

import h5py
import numpy as np
import pandas as pd

from . import tables
from .errors import CachetallyError

_CAUSES = ("first_use", "invalidated", "capacity", "conflict")
_FORMER = {"invalidated": "taken_away"}  # in older files


def misses_of(file: h5py.File, level: str, by: str, phase: int | None) -> pd.DataFrame:
    """See Result.misses()."""
    if by == "cause":
        frame = _causes(file, level, phase)
    elif by == "function":
        frame = _functions(file, level, phase)
    else:
        known = ("structure", "phase", "cause", "function", "line")
        frame = _counts(file, level, "misses", tables.one_of("by of misses():", by, known), phase)
    return _said(frame, level, phase)


def accesses_of(file: h5py.File, level: str, by: str, phase: int | None) -> pd.DataFrame:
    """See Result.accesses()."""
    frame = _counts(file, level, "accesses", tables.one_of("by of accesses():", by, ("structure", "phase", "line")), phase)
    return _said(frame, level, phase)


def _said(frame: pd.DataFrame, level: str, phase: int | None) -> pd.DataFrame:
    own = {"exact": frame.attrs.get("exact", True), "level": level, "units": {frame.columns[0]: "1", **_index_units(frame)}}
    frame.attrs.clear()
    frame.attrs.update(own)
    if phase is not None:
        frame.attrs["phase"] = phase
    return frame


def _index_units(frame: pd.DataFrame) -> dict[str, str]:
    return {"address": {"address": "bytes"}, "phase": {"phase": "1"}}.get(str(frame.index.name), {})


def _counts(file: h5py.File, level: str, what: str, by: str, phase: int | None) -> pd.DataFrame:
    if by == "structure":
        return _structures(file, level, what, phase)
    if by == "phase":
        return _phases(file, level, what, phase)
    return _lines(file, level, what, phase)


def _structures(file: h5py.File, level: str, what: str, phase: int | None) -> pd.DataFrame:
    known = tables.texts(file["structures"], "levels") if "structures" in file else []
    if level not in known:
        raise CachetallyError(f"the file has no counts of {level} by data structure{', only of ' + ', '.join(known) if known else ''}; run with exact counting")
    group = file[f"structures/levels/{level}"]
    chosen = tables.table(group if phase is None else group["phases"])
    if phase is not None:
        chosen = chosen[chosen["phase"] == phase]
    frame = pd.DataFrame({what: chosen[what].to_numpy()}, index=pd.Index(chosen["name"], name="structure"))
    frame.attrs["exact"] = bool(group.attrs["exact"])
    return frame


def _phases(file: h5py.File, level: str, what: str, phase: int | None) -> pd.DataFrame:
    if level in file["levels"]:
        group = file[f"levels/{level}"]
        counters = ("loads", "stores", "fetches") if what == "accesses" else ("load_misses", "store_misses", "fetch_misses")
        counts = sum(group[each][:] for each in counters)
    else:
        group = file[f"tlbs/{level}"]
        counts = group[what][:]
    frame = pd.DataFrame({what: counts}, index=pd.Index(group["phase"][:], name="phase"))
    return frame if phase is None else frame.loc[[phase]]


def _lines(file: h5py.File, level: str, what: str, phase: int | None) -> pd.DataFrame:
    known = tables.texts(file["combined"], "names") if "combined" in file else []
    if level not in known:
        raise CachetallyError(f"the file has no counts of {level} by line{', only of ' + ', '.join(known) if known else ''}; run with exact counting")
    lines = tables.table(file[f"combined/{level}"])
    if phase is not None:
        lines = lines[lines["phase"] == phase]
    exact = file.get(f"structures/levels/{level}")
    frame = lines.groupby("address")[[what]].sum()
    frame.attrs["exact"] = bool(exact.attrs["exact"]) if exact is not None else True
    return frame


def _causes(file: h5py.File, level: str, phase: int | None) -> pd.DataFrame:
    group, suffix = None, ""
    if "causes" in file and level in tables.texts(file["causes"], "levels"):
        group = file[f"causes/{level}/misses"]
    elif "attribution" in file and level in tables.texts(file["attribution"], "caused"):
        group, suffix = file["attribution/rows"], f"_{level}"
    if group is None:
        known = tables.texts(file["causes"], "levels") if "causes" in file else tables.texts(file["attribution"], "caused") if "attribution" in file else []
        raise CachetallyError(f"the file has no causes of misses of {level}; {'it has those of ' + ', '.join(known) if known else 'run with causes=True (--causes)'}")
    chosen = np.ones(len(group["phase"]), dtype=bool) if phase is None else group["phase"][:] == phase
    counts = [int(_cause(group, cause, suffix)[:][chosen].sum()) for cause in _CAUSES]
    return pd.DataFrame({"misses": np.array(counts, dtype=np.uint64)}, index=pd.Index(_CAUSES, name="cause"))


def _cause(group: h5py.Group, cause: str, suffix: str) -> h5py.Dataset:
    found = group.get(cause + suffix)
    return found if found is not None else group[_FORMER[cause] + suffix]


def _functions(file: h5py.File, level: str, phase: int | None) -> pd.DataFrame:
    known = tables.texts(file["attribution"], "levels") if "attribution" in file else []
    if level not in known:
        raise CachetallyError(
            f"the file does not say which functions miss {level}"
            + (f", only {', '.join(known)}" if known else "; runs of programs (run -- PROGRAM) and of their recordings do, without --no-attribution")
        )
    rows = file["attribution/rows"]
    function = tables.values(file["attribution/code/function"])[file["attribution/sites/code"][:][rows["site"][:]]]
    counts: Any = pd.DataFrame({"function": function, "misses": rows[f"misses_{level}"][:]})
    if phase is not None:
        counts = counts[rows["phase"][:] == phase]
    return counts.groupby("function")[["misses"]].sum().sort_values("misses", ascending=False, kind="stable")
