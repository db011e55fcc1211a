# SPDX-License-Identifier: BSD-3-Clause
"""Groups of a result file as tables."""
from typing import Any, Sequence

import h5py
import numpy as np
import pandas as pd

from .errors import CachetallyError


def values(data: h5py.Dataset) -> Any:
    """All values of a dataset as an array; texts as str."""
    return data.asstr()[:] if h5py.check_string_dtype(data.dtype) else data[:]


def texts(group: h5py.Group, attribute: str) -> list[str]:
    """The names in an attribute; none where it is absent."""
    return [each.decode() if isinstance(each, bytes) else str(each) for each in np.atleast_1d(group.attrs.get(attribute, []))]


def one_of(what: str, name: str, known: Sequence[str]) -> str:
    """The name itself, if it is known; else an error that lists those that are."""
    if name in known:
        return name
    raise CachetallyError(f"there is no {what} '{name}'; there are: {', '.join(known)}" if known else f"there is no {what} '{name}', nor any other")


def columns(group: h5py.Group) -> tuple[dict[str, h5py.Dataset], list[str]]:
    """The columns of a group: its datasets of one dimension, which have equal lengths; and the names of the others, which are tables over two
    axes, and the scales of these. Raises CachetallyError where the lengths differ otherwise."""
    flat = {name: each for name, each in group.items() if isinstance(each, h5py.Dataset) and each.ndim == 1}
    others = [name for name, each in group.items() if isinstance(each, h5py.Dataset) and each.ndim != 1]
    length = len(group[group.attrs["signal"]]) if "signal" in group.attrs and others else None
    if length is not None:
        others += [name for name, each in flat.items() if len(each) != length and h5py.h5ds.is_scale(each.id)]
    kept = {name: each for name, each in flat.items() if name not in others}
    lengths = {name: len(each) for name, each in kept.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} {each}" for name, each in lengths.items())
        raise CachetallyError(f"{group.name}: is no table, as its columns differ in length: {said}")
    return kept, others


def table(group: h5py.Group, index: Sequence[str] = ()) -> pd.DataFrame:
    """The columns of a group as a frame. `index` names the columns that become its index; those that are absent are left out. Without any, a
    column `row` is the index. attrs: `group`, `units` and `long_name` by column, `left_out` (names of what is no column), the group's own attributes of
    numbers and texts."""
    kept, others = columns(group)
    if not kept:
        inside = ", ".join(group.keys())
        raise CachetallyError(f"{group.name}: has no columns{'; it has the groups and tables: ' + inside if inside else ''}")
    told = [str(group.attrs.get("signal", "")), *texts(group, "auxiliary_signals")]  # the order of the writer; of others by name
    frame = pd.DataFrame({name: values(kept[name]) for name in sorted(kept, key=lambda name: told.index(name) if name in told else len(told))})
    labels = [name for name in index or ("row",) if name in frame]
    if labels:
        frame = frame.set_index(labels)
    frame.attrs.update(describe(group, kept))
    if others:
        frame.attrs["left_out"] = others
    return frame


def describe(group: h5py.Group, kept: dict[str, h5py.Dataset]) -> dict[str, Any]:
    """What a frame says of itself: see table()."""
    own = {name: each.item() if isinstance(each, np.generic) else each for name, each in group.attrs.items() if np.ndim(each) == 0}
    hdf5 = ("NX_class", "signal", "default")
    return {
        "group": group.name,
        "units": {name: str(each.attrs["units"]) for name, each in kept.items() if "units" in each.attrs},
        "long_name": {name: str(each.attrs["long_name"]) for name, each in kept.items() if "long_name" in each.attrs},
        **{name: each for name, each in own.items() if name not in hdf5 and name != "units" and not isinstance(each, h5py.Reference)},
    }


def dataset(group: h5py.Group) -> Any:
    """A group as an xarray.Dataset: columns and tables, with their scales as coordinates. Needs python3-xarray."""
    try:
        import xarray
    except ImportError as error:
        raise CachetallyError("to_xarray() needs xarray (Debian: python3-xarray)") from error
    variables: dict[str, Any] = {}
    lone = 0
    for name, each in group.items():
        if not isinstance(each, h5py.Dataset) or each.ndim == 0:
            continue
        dimensions = [_dimension(name, each, place) for place in range(each.ndim)]
        lone += None in dimensions
        variables[name] = ([one or f"{name}_{place}" for place, one in enumerate(dimensions)], values(each), _attributes(each))
    scales = {name for name, (dimensions, _, _) in variables.items() if dimensions == [name]}
    made = xarray.Dataset({name: each for name, each in variables.items() if name not in scales}, {name: variables[name] for name in scales})
    made.attrs["group"] = group.name
    return made


def _dimension(name: str, data: h5py.Dataset, place: int) -> str | None:
    if h5py.h5ds.is_scale(data.id):
        return name
    scales = list(data.dims[place].values())
    return str(scales[0].name).rsplit("/", 1)[-1] if scales else None


def _attributes(data: h5py.Dataset) -> dict[str, str]:
    return {name: str(data.attrs[name]) for name in ("units", "long_name", "description") if name in data.attrs}
