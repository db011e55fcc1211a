// SPDX-License-Identifier: BSD-3-Clause
// Addresses, and where they lie on the axis, which the core makes (viewer/core/axis.hpp).
import { extent } from 'd3-array';
import type { AddressRange, Axis, Structure } from './protocol';
import { once, remembered } from './remembered';

export const rangeOf = ({ base, bytes }: { base: bigint; bytes: number }): AddressRange => [base, base + BigInt(bytes)];

/** The address at a place of the axis; null in gaps. */
export function addressAt(axis: Axis, x: number): bigint | null {
    const found = axis.segments.find(({ bytes, start }) => x >= start && x < start + bytes);
    return found ? found.base + BigInt(Math.floor(x - found.start)) : null;
}

/** The addresses of a stretch of the axis, without holes: from, and one behind the last; what begins in them is drawn in it. */
export function addressesIn(axis: Axis, from: number, to: number): AddressRange[] {
    return axis.segments.flatMap(({ base, bytes, start }): AddressRange[] => {
        const first = Math.ceil(Math.max(0, from - start) - 1e-6);
        const end = Math.ceil(Math.min(bytes, to - start) - 1e-6);
        return first < end ? [[base + BigInt(first), base + BigInt(end)]] : [];
    });
}

/** The stretch of the axis that addresses take; null where none of them is there. */
export function placeOf({ segments }: Axis, [begin, end]: AddressRange): [number, number] | null {
    const [from, to] = extent(segments.flatMap(({ base, bytes, start }) => {
        const [first, last] = [begin, end].map((at) => Math.min(bytes, Math.max(0, Number(at - base))));
        return first < last ? [start + first, start + last] : [];
    }));
    return from === undefined ? null : [from, to];
}

const places = once((_: Axis) => new Map<Structure, [number, number] | null>());
/** That of a structure, which is looked up once: each frame asks for all. */
export const structurePlace = (axis: Axis, structure: Structure) => remembered(places(axis), structure, () => placeOf(axis, rangeOf(structure)));

export const hex = (address: bigint): string => `0x${address.toString(16)}`;

/** The structure that an address lies in. */
export const structureAt = (structures: Structure[], address: bigint): Structure | null =>
    structures.find(({ base, bytes }) => bytes > 0 && address >= base && address < base + BigInt(bytes)) ?? null;

/** What lies in a line: "A [7] +0x38, B [0] +0x0", or its address. */
export function describeLine(structures: Structure[], address: bigint, unit: number): string {
    const own = structures.filter(({ base, bytes }) => bytes > 0 && base < address + BigInt(unit) && base + BigInt(bytes) > address);
    return own.map((each) => describe([each], each.base > address ? each.base : address)).join(', ') || hex(address);
}

/** "A[8] +0x40", of a two-dimensional array "A[2][3] +0x98", or the address alone. */
export function describe(structures: Structure[], address: bigint): string {
    const structure = structureAt(structures, address);
    if (!structure) return hex(address);
    const { name, base, elementBytes, rowElements, heap } = structure;
    const offset = Number(address - base);
    const element = Math.floor(offset / elementBytes);
    const place = rowElements > 0 ? `[${Math.floor(element / rowElements)}][${element % rowElements}]` : `[${element}]`;
    return `${name}${elementBytes > 0 ? ` ${place}` : heap ? ` ${hex(base)}` : ''} +0x${offset.toString(16)}`;
}
