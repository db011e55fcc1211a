// SPDX-License-Identifier: BSD-3-Clause
// Hands on a canvas: wheel, drag, double click, one and two fingers, keys; and the stretch of an axis that they move.
import type { ScaleLinear } from 'd3-scale';

/** A stretch of an axis that is looked at. */
export interface Sight {
    /** From it to the pixels of the canvas. */
    scale: () => ScaleLinear<number, number>;
    whole: () => [number, number];
    /** Nothing shorter is looked at. */
    least: number;
    /** null: all. */
    look: (range: [number, number] | null) => void;
}

export function moveSight({ whole, look }: Sight, from: number, width: number): void {
    const [first, last] = whole();
    if (width >= (last - first) * 0.999) return look(null);
    const begin = Math.min(Math.max(from, first), last - width);
    look([begin, begin + width]);
}

/** Around a place; below 1 = closer. */
function zoom(sight: Sight, at: number, factor: number): void {
    const [from, to] = sight.scale().domain();
    const width = Math.max(sight.least, (to - from) * factor);
    const share = Math.min(1, Math.max(0, (at - from) / (to - from)));
    moveSight(sight, at - share * width, width);
}

/** By a share of what is looked at. */
function pan(sight: Sight, share: number): void {
    const [from, to] = sight.scale().domain();
    moveSight(sight, from + share * (to - from), to - from);
}

const moving = new Set<Hand>();

/** Waits until a hand has come to rest. */
export class Hand {
    private timer = 0;
    private resume: (last: boolean) => void = () => {};

    /** Resolves so many milliseconds after the last call; to false at once where another call comes before. */
    rest(milliseconds: number): Promise<boolean> {
        window.clearTimeout(this.timer);
        this.resume(false);
        moving.add(this);
        return new Promise((resolve) => {
            this.resume = resolve;
            this.timer = window.setTimeout(() => (moving.delete(this), resolve(true)), milliseconds);
        });
    }

    static moves = (): boolean => moving.size > 0;
}

export interface Acts {
    /** Dragged from one place to another: across, and down. */
    select(from: number, to: number, done: boolean, fromY: number, toY: number): void;
    hover(at: number | null, y: number): void;
    click?(x: number, y: number): void;
    /** True where the key did something: then it does not move the sight. */
    key?(key: string, shift: boolean): boolean;
    /** What zooming by keys goes around; default: the middle. */
    middle?(): number | undefined;
}

export function followHands(canvas: HTMLCanvasElement, sight: Sight, acts: Acts): void {
    const fingers = new Map<number, { x: number; y: number }>();
    let begin: { x: number; y: number; panning: boolean } | null = null;
    let dragged = false;

    const panBy = (pixels: number) => {
        const [left, right] = sight.scale().range();
        pan(sight, pixels / (right - left));
    };
    const zoomAt = (pixel: number, factor: number) => zoom(sight, sight.scale().invert(pixel), factor);

    function key(key: string): boolean {
        const [from, to] = sight.scale().domain();
        const middle = acts.middle?.() ?? (from + to) / 2;
        const known: Record<string, () => void> = {
            ArrowLeft: () => pan(sight, -0.2),
            ArrowRight: () => pan(sight, 0.2),
            '+': () => zoom(sight, middle, 0.5),
            '-': () => zoom(sight, middle, 2),
            '0': () => sight.look(null),
            Home: () => moveSight(sight, -Infinity, to - from),
            End: () => moveSight(sight, Infinity, to - from),
        };
        const same = { '=': '+', Escape: '0' }[key] ?? key;
        known[same]?.();
        return same in known;
    }

    function wheel(event: WheelEvent): void {
        event.preventDefault();
        if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) return panBy(event.deltaX);
        if (event.shiftKey) return panBy(event.deltaY);
        const lines = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
        zoomAt(event.offsetX, Math.exp(Math.max(-200, Math.min(200, lines)) * 0.0025));
    }

    function down({ button, pointerId, pointerType, shiftKey, offsetX: x, offsetY: y }: PointerEvent): void {
        if (button > 1) return;
        canvas.setPointerCapture(pointerId);
        fingers.set(pointerId, { x, y });
        begin = { x, y, panning: pointerType === 'touch' || shiftKey || button === 1 };
        dragged = fingers.size > 1;
    }

    function move({ pointerId, offsetX: x, offsetY: y }: PointerEvent): void {
        const finger = fingers.get(pointerId);
        if (!finger) return acts.hover(x, y);
        const other = [...fingers].find(([id]) => id !== pointerId)?.[1];
        if (other) zoomAt((x + other.x) / 2, Math.max(20, Math.abs(finger.x - other.x)) / Math.max(20, Math.abs(x - other.x)));
        else if (begin && (dragged || Math.hypot(x - begin.x, y - begin.y) > 4)) {
            dragged = true;
            if (begin.panning) panBy(finger.x - x);
            else acts.select(begin.x, x, false, begin.y, y);
        }
        fingers.set(pointerId, { x, y });
    }

    function up({ pointerId, offsetX: x, offsetY: y }: PointerEvent): void {
        fingers.delete(pointerId);
        if (!begin || fingers.size > 0) return;
        if (!dragged) acts.click?.(x, y);
        else if (!begin.panning) acts.select(begin.x, x, true, begin.y, y);
        begin = null;
    }

    canvas.addEventListener('wheel', wheel, { passive: false });
    canvas.addEventListener('pointerdown', down);
    canvas.addEventListener('pointermove', move);
    canvas.addEventListener('pointerup', up);
    canvas.addEventListener('pointercancel', ({ pointerId }) => fingers.delete(pointerId));
    canvas.addEventListener('pointerleave', () => acts.hover(null, 0));
    canvas.addEventListener('dblclick', () => sight.look(null));
    canvas.addEventListener('keydown', (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (acts.key?.(event.key, event.shiftKey) || key(event.key)) event.preventDefault();
    });
}
