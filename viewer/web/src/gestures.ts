// SPDX-License-Identifier: BSD-3-Clause
// Hands on a canvas: wheel, drag, double click, one and two fingers, keys; and the stretch of an axis that they move.

/** A stretch of an axis that is looked at. */
export interface Sight {
    range: () => [number, number];
    whole: () => [number, number];
    /** Nothing shorter is looked at. */
    least: number;
    /** Where the axis lies on the canvas. */
    box: () => { x: number; width: number };
    /** null: all. */
    look: (range: [number, number] | null) => void;
}

export const placeAt = ({ range, box }: Sight, pixel: number): number => {
    const [from, to] = range();
    return from + ((pixel - box().x) / box().width) * (to - from);
};

export function moveSight({ whole, look }: Sight, from: number, width: number): void {
    const [first, last] = whole();
    if (width >= (last - first) * 0.999) return look(null);
    const begin = Math.min(Math.max(from, first), last - width);
    look([begin, begin + width]);
}

/** Around a place; below 1 = closer. */
function zoom(sight: Sight, at: number, factor: number): void {
    const [from, to] = sight.range();
    const width = Math.max(sight.least, (to - from) * factor);
    const share = Math.min(1, Math.max(0, (at - from) / (to - from)));
    moveSight(sight, at - share * width, width);
}

/** By a share of what is looked at. */
function pan(sight: Sight, share: number): void {
    const [from, to] = sight.range();
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

export class Gestures {
    private readonly fingers = new Map<number, { x: number; y: number }>();
    private begin: { x: number; y: number; panning: boolean } | null = null;
    private dragged = false;

    constructor(
        private readonly canvas: HTMLCanvasElement,
        private readonly sight: Sight,
        private readonly acts: Acts,
    ) {
        canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
        canvas.addEventListener('pointerdown', (event) => this.down(event));
        canvas.addEventListener('pointermove', (event) => this.move(event));
        canvas.addEventListener('pointerup', (event) => this.up(event));
        canvas.addEventListener('pointercancel', (event) => this.fingers.delete(event.pointerId));
        canvas.addEventListener('pointerleave', () => acts.hover(null, 0));
        canvas.addEventListener('dblclick', () => sight.look(null));
        canvas.addEventListener('keydown', (event) => {
            if (event.ctrlKey || event.metaKey || event.altKey) return;
            if (acts.key?.(event.key, event.shiftKey) || this.key(event.key)) event.preventDefault();
        });
    }

    private key(key: string): boolean {
        const { sight } = this;
        const [from, to] = sight.range();
        const middle = this.acts.middle?.() ?? (from + to) / 2;
        const known: Record<string, () => void> = {
            ArrowLeft: () => pan(sight, -0.2),
            ArrowRight: () => pan(sight, 0.2),
            '+': () => zoom(sight, middle, 0.5),
            '=': () => zoom(sight, middle, 0.5),
            '-': () => zoom(sight, middle, 2),
            '0': () => sight.look(null),
            Escape: () => sight.look(null),
            Home: () => moveSight(sight, -Infinity, to - from),
            End: () => moveSight(sight, Infinity, to - from),
        };
        known[key]?.();
        return key in known;
    }

    private pan(pixels: number): void {
        pan(this.sight, pixels / this.sight.box().width);
    }

    private wheel(event: WheelEvent): void {
        event.preventDefault();
        if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) return this.pan(event.deltaX);
        if (event.shiftKey) return this.pan(event.deltaY);
        const lines = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
        zoom(this.sight, placeAt(this.sight, event.offsetX), Math.exp(Math.max(-200, Math.min(200, lines)) * 0.0025));
    }

    private down(event: PointerEvent): void {
        if (event.button > 1) return;
        this.canvas.setPointerCapture(event.pointerId);
        this.fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
        const panning = event.pointerType === 'touch' || event.shiftKey || event.button === 1;
        this.begin = { x: event.offsetX, y: event.offsetY, panning };
        this.dragged = this.fingers.size > 1;
    }

    private move(event: PointerEvent): void {
        const finger = this.fingers.get(event.pointerId);
        if (!finger) return this.acts.hover(event.offsetX, event.offsetY);
        const other = [...this.fingers.entries()].find(([id]) => id !== event.pointerId)?.[1];
        const dx = event.offsetX - finger.x;
        if (other) {
            const before = Math.max(20, Math.abs(finger.x - other.x));
            const after = Math.max(20, Math.abs(event.offsetX - other.x));
            zoom(this.sight, placeAt(this.sight, (event.offsetX + other.x) / 2), before / after);
        } else if (this.begin && (this.dragged || Math.hypot(event.offsetX - this.begin.x, event.offsetY - this.begin.y) > 4)) {
            this.dragged = true;
            if (this.begin.panning) this.pan(-dx);
            else this.acts.select(this.begin.x, event.offsetX, false, this.begin.y, event.offsetY);
        }
        this.fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    }

    private up(event: PointerEvent): void {
        this.fingers.delete(event.pointerId);
        const { begin } = this;
        if (!begin || this.fingers.size > 0) return;
        this.begin = null;
        if (!this.dragged) this.acts.click?.(event.offsetX, event.offsetY);
        else if (!begin.panning) this.acts.select(begin.x, event.offsetX, true, begin.y, event.offsetY);
    }
}
