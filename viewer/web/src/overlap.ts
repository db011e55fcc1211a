// SPDX-License-Identifier: BSD-3-Clause
// Curves that lie on each other: where several share a stretch each shows in turn, so that none is hidden.
import type { Painter } from './paint';

type Point = [number, number];

export interface Curve {
    points: Point[];
    colour: string;
    width: number;
    dash: number[];
}

const stripe = 7;

/** Two ends as they are seen; the same for what lies on each other. */
const placeOf = (...points: Point[]): string => points.map(([x, y]) => `${Math.round(2 * x)},${Math.round(2 * y)}`).join(' ');

/** How many have a key so far, and in all. */
class Shared {
    private readonly all = new Map<string, number>();
    private readonly drawn = new Map<string, number>();

    constructor(keys: Iterable<string>) {
        for (const key of keys) this.all.set(key, (this.all.get(key) ?? 0) + 1);
    }

    /** Which of how many this one is. */
    take(key: string): [number, number] {
        const rank = this.drawn.get(key) ?? 0;
        this.drawn.set(key, rank + 1);
        return [rank, this.all.get(key) ?? 1];
    }
}

const stretchKeys = ({ points }: Curve): string[] => [...new Set(points.slice(1).map((to, i) => placeOf(points[i], to)))];

export function drawOverlapping(p: Painter, curves: Curve[]): void {
    const shared = new Shared(curves.flatMap(stretchKeys));
    for (const { points, colour, width, dash } of curves) {
        let alone = points.slice(0, 1);
        const flush = (next: Point[]) => {
            if (alone.length > 1) p.line(alone, colour, width, dash);
            alone = next;
        };
        for (let i = 1; i < points.length; ++i) {
            const [from, to] = [points[i - 1], points[i]];
            const [rank, of] = shared.take(placeOf(from, to));
            if (of === 1) {
                alone.push(to);
                continue;
            }
            flush([to]);
            const length = Math.min(stripe, Math.hypot(to[0] - from[0], to[1] - from[1]) / of);
            if (length > 0) p.line([from, to], colour, width, [0, rank * length, length, (of - 1 - rank) * length]);
        }
        flush([]);
    }
}

/** Radii of dots in the order in which they are drawn: of those on one place the first are larger, and show as rings. */
export function dotRadii(places: Point[], radius: number): number[] {
    const shared = new Shared(places.map((each) => placeOf(each)));
    return places.map((each) => {
        const [rank, of] = shared.take(placeOf(each));
        return radius + (of > 1 ? Math.min(1.8, 6 / (of - 1)) * (of - 1 - rank) : 0);
    });
}
