// SPDX-License-Identifier: BSD-3-Clause
// The pictures of causes: stacked bars of misses by structure, and the graph of what evicts what.
import { distinctColours, theme, type Theme } from '../colours';
import { brief, full, percent } from '../numbers';
import type { Painter } from '../paint';

export interface MissRow {
    structure: number;
    /** By cause, as causeKinds. */
    counts: number[];
    all: number;
}

export interface Eviction {
    by: number;
    victim: number;
    count: number;
}

/** A part of a picture that tells more under the pointer. */
export interface Hit {
    x: number;
    y: number;
    width: number;
    height: number;
    text: string;
}

/** In the order of the file's columns. */
export const causeKinds: { title: string; colour: (of: Theme) => string }[] = [
    { title: 'First use', colour: (of) => of.hits },
    { title: 'Taken away', colour: (of) => of.missrate },
    { title: 'Capacity', colour: (of) => of.accesses },
    { title: 'Conflict', colour: (of) => of.misses },
];

export const rowsAtMost = 24;
export const structuresAtMost = 12;

const shortened = (name: string, letters: number) => (name.length > letters ? `${name.slice(0, letters - 1)}…` : name);

function legend(p: Painter, left: number): void {
    const colours = theme();
    let x = left;
    for (const kind of causeKinds) {
        p.rect(x, 10, 12, 12, kind.colour(colours));
        p.text(x + 17, 16, kind.title, { colour: colours.ink, size: 12 });
        x += 30 + kind.title.length * 7;
    }
}

export function drawCauses(p: Painter, rows: MissRow[], nameOf: (structure: number) => string): Hit[] {
    const colours = theme();
    const narrow = p.width < 500;
    const left = narrow ? 84 : 130;
    if (rows.length === 0) {
        p.text(p.width / 2, p.height / 2, 'no misses', { colour: colours.faint, anchor: 'middle' });
        return [];
    }
    legend(p, narrow ? 4 : left);
    const hits: Hit[] = [];
    const wide = p.width - left - 70;
    const most = rows[0].all;
    rows.slice(0, rowsAtMost).forEach((row, i) => {
        const y = 36 + i * 30;
        const name = nameOf(row.structure);
        p.text(left - 8, y + 10, shortened(name, narrow ? 11 : 18), { colour: colours.ink, size: 12, anchor: 'end' });
        let x = left;
        row.counts.forEach((count, cause) => {
            const width = (count / most) * wide;
            if (count === 0) return;
            p.rect(x, y, Math.max(width, 0.5), 20, causeKinds[cause].colour(colours));
            const text = `${name}: ${full(count)} of ${full(row.all)} misses (${percent(count / row.all)}): ${causeKinds[cause].title.toLowerCase()}`;
            hits.push({ x, y, width: Math.max(width, 3), height: 20, text });
            x += width;
        });
        p.text(x + 6, y + 10, brief(row.all), { colour: colours.faint, size: 12 });
    });
    if (rows.length > rowsAtMost)
        p.text(left, p.height - 10, `and ${rows.length - rowsAtMost} more with fewer misses: see the table`, {
            colour: colours.faint,
            size: 12,
        });
    return hits;
}

interface Place {
    y: number;
    size: number;
    /** Of the size, from above, by bands. */
    used: number;
}

/** The structures of most evictions on one side, each `lines` pixels tall for a line. */
function side(totals: [number, number][], top: number, gap: number, lines: number): Map<number, Place> {
    const places = new Map<number, Place>();
    let y = top;
    for (const [structure, count] of totals) {
        const size = Math.max(2, count * lines);
        places.set(structure, { y, size, used: 0 });
        y += size + gap;
    }
    return places;
}

/** Solid, as if seen through: SVG of other programs knows no transparent strokes everywhere. */
function faded(colour: string, ground: string): string {
    const part = (text: string, at: number) => parseInt(text.slice(at, at + 2), 16);
    const mixed = [1, 3, 5].map((at) => Math.round(0.5 * part(colour, at) + 0.5 * part(ground, at)));
    return `#${mixed.map((each) => each.toString(16).padStart(2, '0')).join('')}`;
}

/** Structures and their lines, those with most first. */
function most(rows: Eviction[], key: 'by' | 'victim'): [number, number][] {
    const sums = new Map<number, number>();
    for (const row of rows) sums.set(row[key], (sums.get(row[key]) ?? 0) + row.count);
    return [...sums].sort((a, b) => b[1] - a[1]).slice(0, structuresAtMost);
}

/** Points of a band that leaves and arrives level. */
function band(x0: number, y0: number, x1: number, y1: number): [number, number][] {
    return Array.from({ length: 25 }, (_, i) => {
        const t = i / 24;
        return [x0 + (x1 - x0) * t, y0 + (y1 - y0) * t * t * (3 - 2 * t)];
    });
}

/** Bands from those that evict (left) to those that are evicted (right), as wide as lines are many. */
export function drawEvictions(p: Painter, rows: Eviction[], nameOf: (structure: number) => string): Hit[] {
    const colours = theme();
    const all = rows.reduce((sum, row) => sum + row.count, 0);
    if (all === 0) {
        p.text(p.width / 2, p.height / 2, 'nothing was evicted', { colour: colours.faint, anchor: 'middle' });
        return [];
    }
    const margin = p.width < 500 ? 90 : 150;
    const [x0, x1] = [margin, p.width - margin];
    const [top, tall] = [36, p.height - 56];
    const gap = 14;
    const [evicting, evicted] = [most(rows, 'by'), most(rows, 'victim')];
    const lines = (tall - gap * (Math.max(evicting.length, evicted.length) - 1)) / all;
    const [from, to] = [side(evicting, top, gap, lines), side(evicted, top, gap, lines)];
    const few = [colours.accesses, colours.misses, colours.hits, colours.missrate, colours.marker, colours.count];
    const palette = from.size <= few.length ? few : distinctColours(from.size);
    const colourOf = (structure: number) => palette[[...from.keys()].indexOf(structure)];
    p.text(x0, 16, 'evicts', { colour: colours.faint, size: 12, anchor: 'middle' });
    p.text(x1, 16, 'is evicted', { colour: colours.faint, size: 12, anchor: 'middle' });
    const hits: Hit[] = [];
    let hidden = 0;
    // in the order of both sides, so that bands of one structure do not cross each other
    const rank = (places: Map<number, Place>, structure: number) => [...places.keys()].indexOf(structure);
    const ordered = [...rows].sort(
        (a, b) => rank(from, a.by) - rank(from, b.by) || rank(to, a.victim) - rank(to, b.victim),
    );
    for (const row of ordered) {
        const [a, b] = [from.get(row.by), to.get(row.victim)];
        if (!a || !b) {
            hidden += row.count;
            continue;
        }
        const width = Math.max(1, row.count * lines);
        const [ya, yb] = [a.y + a.used + width / 2, b.y + b.used + width / 2];
        p.line(band(x0 + 5, ya, x1 - 5, yb), faded(colourOf(row.by), colours.panel), width);
        const text = `${nameOf(row.by)} evicts ${nameOf(row.victim)}: ${full(row.count)} lines (${percent(row.count / all)})`;
        hits.push({ x: x0, y: ya - width / 2 - 1, width: 30, height: width + 2, text });
        hits.push({ x: x1 - 30, y: yb - width / 2 - 1, width: 30, height: width + 2, text });
        a.used += width;
        b.used += width;
    }
    const letters = p.width < 500 ? 11 : 18;
    const node = (x: number, structure: number, place: { y: number; size: number }, anchor: 'start' | 'end') => {
        p.rect(x - 5, place.y, 10, place.size, colours.ink);
        const name = shortened(nameOf(structure), letters);
        p.text(anchor === 'end' ? x - 12 : x + 12, place.y + place.size / 2, name, { colour: colours.ink, size: 12, anchor });
    };
    from.forEach((place, structure) => node(x0, structure, place, 'end'));
    to.forEach((place, structure) => node(x1, structure, place, 'start'));
    if (hidden > 0)
        p.text(p.width / 2, p.height - 8, `${brief(hidden)} lines between others: see the table`, {
            colour: colours.faint,
            size: 12,
            anchor: 'middle',
        });
    return hits;
}
