// SPDX-License-Identifier: BSD-3-Clause

/** What a map has of a key; made where it has nothing yet. */
export function remembered<K, V>(map: { get(key: K): V | undefined; set(key: K, value: V): unknown }, key: K, make: () => V): V {
    let found = map.get(key);
    if (found === undefined) map.set(key, (found = make()));
    return found;
}

/** What is made of a thing, once: as long as the thing is there. */
export function once<K extends object, V>(make: (thing: K) => V): (thing: K) => V {
    const known = new WeakMap<K, V>();
    return (thing) => remembered(known, thing, () => make(thing));
}

/** As remembered(); while the map is `full` what was asked for longest ago goes; `drop` is told. */
export function rememberedLast<K, V>(map: Map<K, V>, key: K, make: () => V, full: (map: Map<K, V>) => boolean, drop?: (value: V) => void): V {
    const found = map.get(key) ?? make();
    map.delete(key);
    map.set(key, found);
    while (map.size > 1 && full(map)) {
        const [oldest, value] = map.entries().next().value as [K, V];
        map.delete(oldest);
        drop?.(value);
    }
    return found;
}
