// SPDX-License-Identifier: BSD-3-Clause
// Hands on a canvas: wheel, drag, double click, one and two fingers, keys.

export interface Acts {
    /** Around a pixel; below 1 = closer. */
    zoom(at: number, factor: number): void;
    pan(pixels: number): void;
    /** Dragged from one place to another: across, and down. */
    select(from: number, to: number, done: boolean, fromY: number, toY: number): void;
    hover(at: number | null, y: number): void;
    click(x: number, y: number): void;
    reset(): void;
    /** True where the key did something. */
    key(key: string, shift: boolean): boolean;
}

export class Gestures {
    private readonly fingers = new Map<number, { x: number; y: number }>();
    private begin: { x: number; y: number; panning: boolean } | null = null;
    private dragged = false;

    constructor(
        private readonly canvas: HTMLCanvasElement,
        private readonly acts: Acts,
    ) {
        canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
        canvas.addEventListener('pointerdown', (event) => this.down(event));
        canvas.addEventListener('pointermove', (event) => this.move(event));
        canvas.addEventListener('pointerup', (event) => this.up(event));
        canvas.addEventListener('pointercancel', (event) => this.fingers.delete(event.pointerId));
        canvas.addEventListener('pointerleave', () => acts.hover(null, 0));
        canvas.addEventListener('dblclick', () => acts.reset());
        canvas.addEventListener('keydown', (event) => {
            if (!event.ctrlKey && !event.metaKey && !event.altKey && acts.key(event.key, event.shiftKey)) event.preventDefault();
        });
    }

    private wheel(event: WheelEvent): void {
        event.preventDefault();
        if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) return this.acts.pan(event.deltaX);
        if (event.shiftKey) return this.acts.pan(event.deltaY);
        const lines = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
        this.acts.zoom(event.offsetX, Math.exp(Math.max(-200, Math.min(200, lines)) * 0.0025));
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
            this.acts.zoom((event.offsetX + other.x) / 2, before / after);
        } else if (this.begin && (this.dragged || Math.hypot(event.offsetX - this.begin.x, event.offsetY - this.begin.y) > 4)) {
            this.dragged = true;
            if (this.begin.panning) this.acts.pan(-dx);
            else this.acts.select(this.begin.x, event.offsetX, false, this.begin.y, event.offsetY);
        }
        this.fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    }

    private up(event: PointerEvent): void {
        this.fingers.delete(event.pointerId);
        const { begin } = this;
        if (!begin || this.fingers.size > 0) return;
        this.begin = null;
        if (!this.dragged) this.acts.click(event.offsetX, event.offsetY);
        else if (!begin.panning) this.acts.select(begin.x, event.offsetX, true, begin.y, event.offsetY);
    }
}
