// SPDX-License-Identifier: BSD-3-Clause
// Pixels that are filled in memory and laid onto a canvas at once: thousands of columns cost as much as one picture.

/** Bars of one colour, one pixel wide, side by side: bar i reaches from `top[i]` down to `bottom[i]`; none where these are equal. */
export interface Bars {
    top: Float32Array;
    bottom: Float32Array;
    fill: string;
}

export const emptyBars = (count: number): Bars => ({
    top: new Float32Array(count),
    bottom: new Float32Array(count),
    fill: '',
});

/** `#rrggbb` or `#rrggbbaa` as the number that its four bytes are in memory. */
export function pixelOf(colour: string): number {
    const part = (at: number) => (at < colour.length ? parseInt(colour.slice(at, at + 2), 16) : 255);
    return ((part(7) << 24) | (part(5) << 16) | (part(3) << 8) | part(1)) >>> 0;
}

/** The colour of an opaque pixel. */
export const colourOf = (pixel: number): string =>
    `rgb(${pixel & 255},${(pixel >>> 8) & 255},${(pixel >>> 16) & 255})`;

export const opaque = ([r, g, b]: [number, number, number]): number => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

/** A picture in memory, kept from frame to frame. */
export class Pixels {
    readonly canvas = new OffscreenCanvas(1, 1);
    private readonly context = this.canvas.getContext('2d')!;
    private image = new ImageData(1, 1);
    private data = new Uint32Array(this.image.data.buffer);
    private filled = 0;
    private shown: Uint32Array | null = null;

    /** Clear, and of this size. */
    private begin(width: number, height: number): void {
        if (this.image.width === width && this.image.height === height) {
            this.data.fill(0);
            return;
        }
        this.canvas.width = width;
        this.canvas.height = height;
        this.image = new ImageData(width, height);
        this.data = new Uint32Array(this.image.data.buffer);
        this.filled = height;
    }

    /** Bars between `top` and `top + height`, drawn `scale` times as high; later ones hide earlier ones. */
    drawBars(list: Bars[], top: number, height: number, scale: number): OffscreenCanvas {
        const width = list[0].top.length;
        const rows = Math.max(1, Math.round(height * scale));
        this.begin(width, rows);
        const { data } = this;
        let first = rows;
        for (const bars of list) {
            const pixel = pixelOf(bars.fill);
            for (let x = 0; x < width; ++x) {
                if (bars.top[x] === bars.bottom[x]) continue;
                const low = Math.min(rows, Math.max(1, Math.round((bars.bottom[x] - top) * scale)));
                const high = Math.max(0, Math.min(low - 1, Math.round((bars.top[x] - top) * scale)));
                if (high < first) first = high;
                for (let at = high * width + x, end = low * width; at < end; at += width) data[at] = pixel;
            }
        }
        // what was filled before reaches up to `filled`; above both it is clear already
        const from = Math.min(first, this.filled);
        this.context.putImageData(this.image, 0, 0, 0, from, width, rows - from);
        this.filled = first;
        return this.canvas;
    }

    /** Rows of cells, each a number as pixelOf() gives it, 0 for none; the same array is taken to be unchanged. */
    drawCells(columns: number, cells: Uint32Array): OffscreenCanvas {
        if (this.shown === cells) return this.canvas;
        this.begin(columns, cells.length / columns);
        this.data.set(cells);
        this.context.putImageData(this.image, 0, 0);
        this.shown = cells;
        return this.canvas;
    }
}
