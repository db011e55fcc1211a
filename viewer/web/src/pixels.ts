// SPDX-License-Identifier: BSD-3-Clause
// Colours as the pixels of pictures in memory: thousands of cells are laid onto a canvas at once.

/** `#rrggbb` or `#rrggbbaa` as the number that its four bytes are in memory. */
export function pixelOf(colour: string): number {
    const part = (at: number) => (at < colour.length ? parseInt(colour.slice(at, at + 2), 16) : 255);
    return ((part(7) << 24) | (part(5) << 16) | (part(3) << 8) | part(1)) >>> 0;
}

/** The colour of an opaque pixel. */
export const colourOf = (pixel: number): string => `rgb(${pixel & 255},${(pixel >>> 8) & 255},${(pixel >>> 16) & 255})`;

export const opaque = ([r, g, b]: [number, number, number]): number => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

/** Rows of cells, a pixel each: numbers as pixelOf() gives them, 0 for none. */
export function cellsPicture(columns: number, cells: Uint32Array): OffscreenCanvas {
    const canvas = new OffscreenCanvas(columns, cells.length / columns);
    const image = new ImageData(canvas.width, canvas.height);
    new Uint32Array(image.data.buffer).set(cells);
    canvas.getContext('2d')!.putImageData(image, 0, 0);
    return canvas;
}
