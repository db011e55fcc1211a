# SPDX-License-Identifier: BSD-3-Clause
# Medians of a measure by the values of some parameters; of the points that have the chosen values.

table = h5py.File(FILE, "r")[GROUP]
column = lambda name: table[name].asstr()[:] if h5py.check_string_dtype(table[name].dtype) else table[name][:]
value = column(VALUE[0]).astype(float)
if len(VALUE) == 2:
    value = np.divide(value, column(VALUE[1]), out=np.full(len(value), np.nan), where=column(VALUE[1]) > 0)
keep = ~np.isnan(value)
for name, values in CHOSEN:
    keep &= np.isin(column(name), values)
has = lambda values: values != "" if values.dtype.kind == "O" else ~np.isnan(values)
for name in BY:
    keep &= has(column(name))
by = [column(name)[keep] for name in BY]
for place in dict.fromkeys(zip(*by)):
    of = np.all([each == at for each, at in zip(by, place)], axis=0)
    print(*(f"{name}={at}" for name, at in zip(BY, place)), "median", np.median(value[keep][of]), "of", of.sum())
