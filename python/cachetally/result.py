# SPDX-License-Identifier: BSD-3-Clause
"""A result file as frames (docs/format.md)."""
import os
from typing import Any, Sequence

import h5py
import numpy as np
import pandas as pd

from . import damage, tables
from .counts import accesses_of, misses_of
from .errors import CachetallyError

_FORMAT = "cachetally result"
_VERSION = 1


class Result:
    """What a run, a sweep or another command wrote. load() opens one; close() or `with` closes it.

    Frames have named columns and index; `frame.attrs["units"]` has the unit of each column of numbers.
    """

    def __init__(self, path: str, file: h5py.File, verified: bool) -> None:
        self.path = path
        self.verified = verified  #: whether digests were compared
        self._opened = file

    @property
    def _file(self) -> h5py.File:
        if not self._opened:
            raise CachetallyError(f"{self.path}: is closed; load it again")
        return self._opened

    def __enter__(self) -> "Result":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        said = "closed" if not self._opened else f"{self.kind}{'' if self.complete else ', partial'}"
        return f"<cachetally {self.path}: {said}>"

    def close(self) -> None:
        """Frames that were made stay."""
        self._opened.close()

    @property
    def file(self) -> h5py.File:
        """The file itself, for what is asked of it otherwise."""
        return self._file

    @property
    def kind(self) -> str:
        """ "run" (also of replay), "sweep", "intrusion", "trackers", "probe", "validate", "campaign"."""
        return str(self._file.attrs["kind"])

    @property
    def complete(self) -> bool:
        """False where the run was interrupted, or its source failed or is partial."""
        return bool(self._file.attrs["complete"])

    @property
    def incomplete(self) -> str:
        """The reason why it is not complete; else empty."""
        return str(self._file.attrs.get("incomplete", ""))

    @property
    def provenance(self) -> dict[str, Any]:
        """Origin: version, commit, compiler, seed, machine_name, machine_hash, trace_name, trace_hash, host, utc, command_line (a list), ..."""
        group = self._group("/provenance")
        found: dict[str, Any] = {name: each.item() if isinstance(each, np.generic) else each for name, each in group.attrs.items() if name != "NX_class"}
        for name in ("command_line", "execution"):
            if name in group:
                found[name] = list(tables.values(group[name]))
        if "machine_file" in group:
            found["machine_file"] = group["machine_file"][:].tobytes().decode(errors="replace")
        return found

    @property
    def machine(self) -> str:
        """The machine file with all options in effect (YAML)."""
        return str("\n".join(tables.values(self._group("/machine")["yaml"])))

    @property
    def levels(self) -> list[str]:
        """Names of the caches and TLBs of a run, in the order of the machine file."""
        return tables.texts(self._group("/levels"), "names") + (tables.texts(self._file["tlbs"], "names") if "tlbs" in self._file else [])

    @property
    def phases(self) -> pd.DataFrame:
        """Of a run, by phase: name, references, cycles, page_walks, begin, end (ps)."""
        return self.table("/phases", index=["phase"])[["name", "references", "cycles", "page_walks", "begin", "end"]]

    def misses(self, level: str, by: str = "structure", phase: int | None = None) -> pd.DataFrame:
        """Misses of loads, stores and fetches of a cache or TLB: a column `misses`, by

        "structure": data structures, by name; "phase"; "line": addresses of lines, in the program;
        "cause": first_use, invalidated, capacity, conflict (of runs with causes=True);
        "function": functions (of programs and their recordings).

        phase: of this phase alone. attrs: `units`, `level`, `phase` (if one was asked for), `exact` (False: counts for several lines were spread evenly).
        """
        return misses_of(self._file, self._level(level), by, self._phase(phase))

    def accesses(self, level: str, by: str = "structure", phase: int | None = None) -> pd.DataFrame:
        """Loads, stores and fetches of a cache or TLB: a column `accesses`, by "structure", "phase" or "line" as of misses()."""
        return accesses_of(self._file, self._level(level), by, self._phase(phase))

    def levels_table(self) -> pd.DataFrame:
        """Caches and TLBs of a run, by `level`: accesses, misses (loads, stores, fetches), miss_rate, and all counters of caches over the run; what
        TLBs do not count is missing (<NA>)."""
        rows = []
        for level in self.levels:
            counters = self._file[f"levels/{level}"] if level in self._file["levels"] else self._file[f"tlbs/{level}"]
            row: dict[str, Any] = {name: int(each.attrs["total"]) for name, each in counters.items() if "total" in each.attrs}
            if "loads" in row:
                row["accesses"] = row["loads"] + row["stores"] + row["fetches"]
                row["misses"] = row["load_misses"] + row["store_misses"] + row["fetch_misses"]
            rows.append({"level": level, "accesses": row.pop("accesses"), "misses": row.pop("misses"), **row})
        frame = pd.DataFrame(rows).set_index("level").astype("UInt64")
        rate = frame["misses"].astype(float) / frame["accesses"].astype(float).replace(0.0, np.nan)
        frame.insert(2, "miss_rate", rate.fillna(0.0))
        frame.attrs["units"] = {name: "1" for name in frame.columns}
        return frame

    def sweep(self) -> pd.DataFrame:
        """The cells of a sweep: a row for each, the index its axes (workload, link, settings, eviction, granularity, counters). attrs: what the file says of
        all of it (docs/format.md, "Sweeps")."""
        self._expect("sweep")
        frame = self.table("/sweep/rows", index=["workload", "link", "settings", "eviction", "granularity", "counters"])
        for name in ("admitted", "front", "remains", "published", "published_misprint"):
            if name in frame:
                frame[name] = frame[name].astype(bool)
        own = self._file["sweep"].attrs
        for name in ("link", "monitor", "references", "events", "runs", "objectives", "where", "tolerance", "slowdown_unknown"):
            if name in own:
                frame.attrs[name] = own[name].item() if isinstance(own[name], np.generic) else own[name]
        return frame

    def points(self) -> pd.DataFrame:
        """The points of a campaign (docs/campaigns.md): a row for each, the index `point`; parameters first, then measures (NaN: a point does not have it).
        attrs: `parameters` and `measures` name the columns of both."""
        self._expect("campaign")
        frame = self.table("/campaign", index=["point"])
        own = self._file["campaign"]
        for name in ("parameters", "measures"):
            frame.attrs[name] = tables.texts(own, name)
        frame["failed"] = frame["failed"].astype(bool)
        return frame[[*frame.attrs["parameters"], *frame.attrs["measures"], "failed", "hash"]]

    def histogram(self, monitor: str | None = None, link: str | None = None, kind: str | None = None, phase: int | None = None) -> pd.DataFrame:
        """Events by `address` (the index): of a monitor, by its name; or of a link, counted exactly, of one kind ("load", "store", ...; without: all that
        happened, with a column `kind`); of a sweep, without both, its exact histogram.

        Columns: phase, span (units of attrs["unit_bytes"] that share the count), count; and function (its name; "(none)"), virtual_address, where the file has them.
        """
        if monitor is not None and link is not None:
            raise CachetallyError("histogram(): give monitor= or link=, not both")
        if link is not None:
            frame = self._link_histogram(link, kind)
        elif kind is not None:
            raise CachetallyError("histogram(): kind= is of links; name one by link=")
        elif monitor is not None:
            frame = self.table(f"/monitors/{self._monitor_group(monitor)}/histogram", index=["address"])
        else:
            self._expect("sweep")
            frame = self.table("/exact", index=["address"])
        if "function" in frame and "functions" in self._file:
            names = dict(enumerate(tables.values(self._file["functions/name"])))
            frame["function"] = [names.get(int(each), "(none)") for each in frame["function"]]
        chosen = self._phase(phase, int(frame.attrs["phases"]))
        return frame if chosen is None else frame[frame["phase"] == chosen]

    def combined(self, level: str) -> pd.DataFrame:
        """Accesses, misses, hits and miss_rate of a cache or TLB by `phase` and `address` of lines in the program (the index). attrs: `line_bytes`."""
        all_levels = self._group("/combined")
        return self.table(f"/combined/{tables.one_of('level', level, tables.texts(all_levels, 'names'))}", index=["phase", "address"])

    def findings(self) -> pd.DataFrame:
        """Answers of probes, by `finding`: test, variant, level, parameter, value, low, high, unit, word, method, reason, truth, verdict, ..."""
        self._expect("probe")
        frame = self.table("/findings", index=["finding"])
        order = ("test", "variant", "level", "parameter", "value", "low", "high", "unit", "word", "method", "reason", "verdict")
        return frame[sorted(frame, key=lambda name: order.index(name) if name in order else len(order))]

    def scores(self) -> pd.DataFrame:
        """Of validate, by `test`, `variant` and `parameter`: right, wrong, not_identifiable (answers over levels and machines)."""
        self._expect("validate")
        return self.table("/summary", index=["test", "variant", "parameter"]).drop(columns="row", errors="ignore")

    def table(self, group: str, index: Sequence[str] = ()) -> pd.DataFrame:
        """Any group of columns of equal length, as "/cores" or "/reuse/core-L1D_64/curve". index: columns that become the index. What has two axes is named
        in attrs["left_out"]; to_xarray() has it."""
        return tables.table(self._group(group), index)

    def to_xarray(self, group: str) -> Any:
        """A group as an xarray.Dataset, with tables over several axes, as "/combined/L1D/grid". Needs python3-xarray."""
        return tables.dataset(self._group(group))

    def _expect(self, kind: str) -> None:
        if self.kind != kind:
            raise CachetallyError(f"{self.path}: is of kind {self.kind}; this asks for one of kind {kind}")

    def _group(self, name: str) -> h5py.Group:
        found = self._file.get(name)
        if isinstance(found, h5py.Group):
            return found
        known = ", ".join("/" + each for each, data in self._file.items() if isinstance(data, h5py.Group))
        what = "is a column, not a group" if found is not None else f"has no group {name}; a result of kind {self.kind} has here: {known}"
        raise CachetallyError(f"{self.path}: {name + ' ' if found is not None else ''}{what}")

    def _level(self, level: str) -> str:
        return tables.one_of("level", level, self.levels)

    def _phase(self, phase: int | None, count: int | None = None) -> int | None:
        if phase is None:
            return None
        count = len(self._group("/phases")["phase"]) if count is None else count
        if isinstance(phase, bool) or not isinstance(phase, (int, np.integer)) or not 0 <= phase < count:
            raise CachetallyError(f"there is no phase {phase}; there are {count}, from 0 to {count - 1}")
        return phase

    def _monitor_group(self, name: str) -> str:
        all_monitors = self._group("/monitors")
        groups = {str(all_monitors[group].attrs["name"]): group for group in reversed(tables.texts(all_monitors, "groups"))}
        return groups[tables.one_of("monitor", name, list(reversed(groups)))]

    def _link_histogram(self, link: str, kind: str | None) -> pd.DataFrame:
        links = self._group("/links")
        group = links[tables.one_of("link", link, tables.texts(links, "names"))]
        kinds = [name for name, each in group.items() if isinstance(each, h5py.Group)]
        chosen = kinds if kind is None else [tables.one_of(f"kind of events on {link}", kind, kinds)]
        if not chosen:
            raise CachetallyError(f"there were no events on {link}")
        frames = {each: self.table(f"{group.name}/{each}", index=["address"]) for each in chosen}
        if kind is not None:
            return frames[kind]
        frame = pd.concat([each.assign(kind=name) for name, each in frames.items()])
        frame.attrs.update(frames[chosen[0]].attrs, group=group.name, events=sum(int(each.attrs["events"]) for each in frames.values()))
        return frame


def load(path: str | os.PathLike[str], trust: bool = False) -> Result:
    """Opens a result file.

    trust: read it without comparing it with its digests, as files that another program or an earlier version wrote have none.
    Raises CachetallyError where it is no result file, of another version, or damaged. Where python3-xxhash is not installed, only its length is compared
    (`Result.verified` is False).
    """
    name = os.fspath(path)
    try:
        verified = False if trust else damage.verify(name)
        file = h5py.File(name, "r")
    except OSError as error:
        if error.errno is not None:
            raise CachetallyError(f"{name}: {os.strerror(error.errno)}") from error
        raise CachetallyError(f"{name}: is no HDF5 file, or is damaged: {error}") from error
    try:
        _check_format(name, file)
    except BaseException:
        file.close()
        raise
    return Result(name, file, verified)


def _check_format(name: str, file: h5py.File) -> None:
    if "format" not in file.attrs and "trace" in file:
        raise CachetallyError(f"{name}: is a trace, not a result of cachetally; 'cachetally replay' runs it")
    if file.attrs.get("format") != _FORMAT:
        raise CachetallyError(f"{name}: is an HDF5 file, but not a result of cachetally; give what it wrote with -o FILE.h5")
    version = int(file.attrs["format_version"])
    if version != _VERSION:
        advice = "use a newer package" if version > _VERSION else "make it anew"
        raise CachetallyError(f"{name}: has version {version} of the format, and this package reads version {_VERSION}; {advice}")
