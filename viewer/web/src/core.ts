// SPDX-License-Identifier: BSD-3-Clause
// The drawing core (viewer/core, C++) as WebAssembly. Functions give numbers, what they hold (a number), or answers: words.
import { sum } from 'd3-array';
import type { Wanted } from './chart';
import type { AddressRange, Axis, Buckets, Quantity, Stretch } from './protocol';
import { once } from './remembered';

/** Itself, as vite.config.ts puts it here: gzip, base64. */
declare const packedCore: string;

/** Bytes of text in base64. */
export const bytesOf = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** Of gzip. */
export const unpacked = (text: string): Promise<ArrayBuffer> => new Response(new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();

let functions: Record<string, (...numbers: number[]) => number>;
let memory: WebAssembly.Memory;

/** Before it nothing can be asked for. */
export const coreReady: Promise<void> = unpacked(packedCore).then(async (bytes) => {
    const { instance } = await WebAssembly.instantiate(bytes);
    ({ memory } = instance.exports as { memory: WebAssembly.Memory });
    functions = instance.exports as typeof functions;
    functions._initialize();
});

type Numbers = BigUint64Array | Float64Array | Uint32Array;
const padded = (bytes: number): number => Math.ceil(bytes / 8) * 8;

/** Arrays are copied, each behind a record of where it is and how many elements it has. */
export function call(name: string, ...args: (number | boolean | Numbers)[]): number {
    const bytes = sum(args, (each) => (typeof each === 'object' ? 8 + padded(each.byteLength) : 0));
    const place = bytes > 0 ? functions.reserve(bytes) : 0;
    if (bytes > 0 && place === 0) throw new Error('There is not enough memory.');
    let next = place >>> 0;
    const numbers = args.map((each) => {
        if (typeof each !== 'object') return Number(each);
        const [record, data] = [next, next + 8];
        new Uint32Array(memory.buffer, record, 2).set([data, each.length]);
        new Uint8Array(memory.buffer, data).set(new Uint8Array(each.buffer, each.byteOffset, each.byteLength));
        next = data + padded(each.byteLength);
        return record;
    });
    const found = functions[name](...numbers);
    if (bytes > 0) functions.release(place);
    return found;
}

export const forget = (held: number): void => void functions.forget(held);

/** What is made of something held, which is let go of in the end. */
export const holding = <T>(held: number, make: (held: number) => Promise<T>): Promise<T> => make(held).finally(() => forget(held));

/** The words of an answer, as what they may be. */
export function answer(name: string, ...args: Parameters<typeof call>[1][]): { numbers: Float64Array; addresses: BigUint64Array } {
    const held = call(name, ...args);
    const begin = functions.words(held) >>> 0;
    const { buffer } = new Float64Array(memory.buffer, begin, functions.count(held)).slice();
    forget(held);
    return { numbers: new Float64Array(buffer), addresses: new BigUint64Array(buffer) };
}

/** In the core's order. */
const quantities: Quantity[] = ['accesses', 'misses', 'hits', 'missrate', 'count'];
export const kindOf = (quantity: Quantity): number => quantities.indexOf(quantity);
const scales: Wanted[] = ['auto', 'linear', 'log'];
export const scaleOf = (scale: Wanted): number => scales.indexOf(scale);
/** The end of a scale (`auto`: linear, and outliers are cut and marked): the largest, or what all but a hundredth reach where the rest lies far above it. */
export const endOfScale = (clip: number, most: number, scale: Wanted): number => call('end_of_scale', clip, most, scaleOf(scale));
/** First and last byte of each range, as the core has them. */
export const rangeWords = (ranges: AddressRange[]): BigUint64Array => BigUint64Array.from(ranges.flatMap(([from, end]) => [from, end - 1n]));

export const axisWords = once(({ segments, bytes }: Axis): BigUint64Array => {
    const words = new BigUint64Array(1 + 4 * segments.length);
    const numbers = new Float64Array(words.buffer);
    numbers[0] = bytes;
    segments.forEach((each, i) => {
        words[1 + 4 * i] = each.base;
        numbers.set([each.bytes, each.start, Number(each.rest ?? false)], 2 + 4 * i);
    });
    return words;
});

function axisFrom({ numbers, addresses }: ReturnType<typeof answer>): Axis {
    const places = Array.from({ length: (numbers.length - 1) / 4 }, (_, i) => 1 + 4 * i);
    return { bytes: numbers[0], segments: places.map((at) => ({ base: addresses[at], bytes: numbers[at + 1], start: numbers[at + 2], rest: numbers[at + 3] > 0 })) };
}

/** The axis of addresses of several series or files; `unit`: stretches begin and end at multiples of it. */
export const axisOf = (ranges: AddressRange[], unit: number): Axis => axisFrom(answer('axis', rangeWords(ranges), unit));
/** The part of an axis that lies in x0 .. x1, with the same offsets. */
export const cut = (axis: Axis, x0: number, x1: number): Axis => axisFrom(answer('cut', axisWords(axis), x0, x1));

/** Marks of addresses in x0 .. x1, and the middles of their labels (NaN: no room); `apart`, `letter`: bytes from mark to mark, and of a letter. */
export function marksOf(axis: Axis, x0: number, x1: number, apart: number, letter: number): { place: number; address: bigint; label: number }[] {
    const { numbers, addresses } = answer('marks', axisWords(axis), x0, x1, apart, letter);
    return Array.from({ length: numbers.length / 3 }, (_, i) => ({ place: numbers[3 * i], address: addresses[3 * i + 1], label: numbers[3 * i + 2] }));
}

export const viewOf = ({ x0, x1, count, sight }: Stretch): Float64Array => Float64Array.of(x0, x1, count, ...sight);

/** Columns of a stretch, of which an answer may have several. */
export function bucketsFrom(numbers: Float64Array, { x0, x1, count }: Stretch, grain: number, at = 0): Buckets {
    const [total, clip, above] = numbers.subarray(at);
    const [touched, sum, min, max] = [0, 1, 2, 3].map((i) => numbers.slice(at + 3 + i * count, at + 3 + (i + 1) * count));
    return { x0, x1, touched, sum, min, max, total, clip, above, grain };
}
