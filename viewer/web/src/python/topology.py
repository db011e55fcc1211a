# SPDX-License-Identifier: BSD-3-Clause
# Events on links.

f = h5py.File(FILE, "r")
for name in f["links"].attrs["names"]:
    link = f["links"][name]
    events = {kind: int(link[kind].attrs["events"]) for kind in link}
    print(name, link.attrs["from"], "->", link.attrs["to"], events)
