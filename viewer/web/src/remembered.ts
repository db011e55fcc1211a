// SPDX-License-Identifier: BSD-3-Clause

/** What a map has of a key; made where it has nothing yet. */
export function remembered<K, V>(map: { get(key: K): V | undefined; set(key: K, value: V): unknown }, key: K, make: () => V): V {
    let found = map.get(key);
    if (found === undefined) map.set(key, (found = make()));
    return found;
}
