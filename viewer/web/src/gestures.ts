// SPDX-License-Identifier: BSD-3-Clause
// Hands on a canvas: wheel, drag, double click, one and two fingers, keys; and the stretch of an axis that they move.
import type { ScaleContinuousNumeric } from 'd3-scale';
import { select } from 'd3-selection';
import { zoom, zoomIdentity, type D3ZoomEvent } from 'd3-zoom';

/** A stretch of an axis that is looked at. */
export interface Sight {
    /** From it to the pixels of the canvas. */
    scale: () => ScaleContinuousNumeric<number, number>;
    whole: () => [number, number];
    /** Nothing is looked at that takes less room than this. */
    least: [number, number];
    /** null: all. */
    look: (range: [number, number] | null) => void;
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
    let begin: { x: number; y: number; selects: boolean; dragged: boolean } | null = null;
    const { look } = sight;
    const ends = () => sight.scale().range();
    const whole = () => sight.scale().copy().domain(sight.whole());
    const hands = zoom<HTMLCanvasElement, unknown>()
        .filter((event: MouseEvent) => {
            sync();
            return event.type === 'wheel' ? !pans(event as WheelEvent) : event.type !== 'mousedown' || event.shiftKey || event.button === 1;
        })
        .touchable(true)
        .wheelDelta(({ deltaY, deltaMode }) => -0.0036 * Math.max(-200, Math.min(200, deltaMode === 1 ? 16 * deltaY : deltaY)))
        .extent(() => [[ends()[0], 0], [ends()[1], 0]])
        .constrain(({ k, x }, [[left], [right]]) => zoomIdentity.translate(Math.min(left - left * k, Math.max(right - right * k, x)), 0).scale(k))
        .on('zoom', ({ transform }: D3ZoomEvent<HTMLCanvasElement, unknown>) => {
            const [from, to] = transform.rescaleX(whole().clamp(true)).domain();
            look(transform.k < 1.001 ? null : [from, to]);
        });
    const selection = select(canvas).call(hands).on('dblclick.zoom', null);

    /** They begin where the sight is, which others move, too. */
    function sync(): number {
        const [left, right] = ends();
        const [[from, to], [a, b]] = [sight.scale().domain(), sight.least].map((each) => each.map(whole()));
        const closer = (right - left) / (to - from);
        hands.scaleExtent([1, Math.max(1, (right - left) / (b - a))]);
        selection.property('__zoom', zoomIdentity.translate(left - from * closer, 0).scale(closer));
        return closer;
    }

    const pans = ({ deltaX, deltaY, shiftKey }: WheelEvent): boolean => shiftKey || Math.abs(deltaX) > Math.abs(deltaY);
    const pan = (pixels: number) => hands.translateBy(selection, -pixels / sync(), 0);
    const zoomBy = (factor: number) => {
        sync();
        const middle = acts.middle?.();
        hands.scaleBy(selection, factor, middle === undefined ? undefined : [sight.scale()(middle), 0]);
    };

    function key(key: string): boolean {
        const [left, right] = ends();
        const known: Record<string, () => void> = {
            ArrowLeft: () => pan(-0.2 * (right - left)),
            ArrowRight: () => pan(0.2 * (right - left)),
            '+': () => zoomBy(2),
            '-': () => zoomBy(0.5),
            '0': () => look(null),
            Home: () => pan(-Number.MAX_SAFE_INTEGER),
            End: () => pan(Number.MAX_SAFE_INTEGER),
        };
        const same = { '=': '+', Escape: '0' }[key] ?? key;
        known[same]?.();
        return same in known;
    }

    canvas.addEventListener('wheel', (event) => {
        event.preventDefault();
        if (pans(event)) pan(event.deltaX || event.deltaY);
    }, { passive: false });
    canvas.addEventListener('pointerdown', ({ button, isPrimary, pointerId, pointerType, shiftKey, offsetX: x, offsetY: y }) => {
        if (button > 1) return;
        canvas.setPointerCapture(pointerId);
        begin = { x, y, selects: pointerType !== 'touch' && !shiftKey && button === 0, dragged: !isPrimary };
    });
    canvas.addEventListener('pointermove', ({ offsetX: x, offsetY: y }) => {
        if (!begin) return acts.hover(x, y);
        begin.dragged ||= Math.hypot(x - begin.x, y - begin.y) > 4;
        if (begin.dragged && begin.selects) acts.select(begin.x, x, false, begin.y, y);
    });
    canvas.addEventListener('pointerup', ({ offsetX: x, offsetY: y }) => {
        if (begin && !begin.dragged) acts.click?.(x, y);
        else if (begin?.selects) acts.select(begin.x, x, true, begin.y, y);
        begin = null;
    });
    canvas.addEventListener('pointercancel', () => (begin = null));
    canvas.addEventListener('pointerleave', () => acts.hover(null, 0));
    canvas.addEventListener('dblclick', () => look(null));
    canvas.addEventListener('keydown', (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (acts.key?.(event.key, event.shiftKey) || key(event.key)) event.preventDefault();
    });
}
