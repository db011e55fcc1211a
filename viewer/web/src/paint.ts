// SPDX-License-Identifier: BSD-3-Clause
// Painter: the few shapes that views draw, on a canvas or as SVG, so that what is exported is what is on the screen. Colours of drawings are
// those of viewer/drawing.json, which figures for print have, too, and of style.css; ramps between them.
import { group, range } from 'd3-array';
import { rgb } from 'd3-color';
import { scaleLinear } from 'd3-scale';
import { curveLinear, line as lineThrough, symbol, symbolCircle, type CurveFactory, type SymbolType } from 'd3-shape';
import { dark as drawnDark, light as drawnLight } from '../../drawing.json';
import { remembered } from './remembered';

/** A colour as the number that its four bytes are in memory. */
export function pixelOf(colour: string): number {
    const { r, g, b, opacity } = rgb(colour);
    return ((Math.round(255 * opacity) << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

export interface TextStyle {
    colour: string; size?: number; weight?: number;
    anchor?: 'start' | 'middle' | 'end';
    /** Turned by a quarter, reading upwards. */
    upright?: boolean;
}

/** How a path is drawn; without a colour it is not filled, or has no line. */
interface Look {
    fill?: string; stroke?: string; width?: number; dash?: number[];
    /** Edges lie on pixels. */
    crisp?: boolean;
    /** Where 0, 0 of the path is. */
    at?: Point;
}

export type Point = [number, number];

export interface Box {
    x: number; y: number; width: number; height: number;
    /** Room for titles above it; default: of one line. */
    head?: number;
}

export const inside = (box: Box | null, x: number, y: number): boolean => box !== null && x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;

const font = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';
const ruler = new OffscreenCanvas(1, 1).getContext('2d')!;

/** Pixels that a text takes. */
export function textWidth(text: string, size = 12, weight = 400): number {
    ruler.font = `${weight} ${size}px ${font}`;
    return ruler.measureText(text).width;
}

/** As much of a text as fits, with an ellipsis where that is not all; nothing where less than two letters fit. */
export function shortened(text: string, width: number, size = 12, weight = 400): string {
    const few = Math.min(text.length, Math.ceil(width / (0.3 * size))); // no letters are narrower
    for (let letters = few; letters > 1 || letters === text.length; --letters) {
        const shown = letters === text.length ? text : `${text.slice(0, Math.ceil(letters / 2))}…${text.slice(text.length - Math.floor(letters / 2))}`;
        if (letters <= 0 || textWidth(shown, size, weight) <= width) return shown;
    }
    return '';
}

const short = (value: number) => String(Math.round(value * 100) / 100);
const box = (x: number, y: number, width: number, height: number): string => `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`;

function roundBox(x: number, y: number, width: number, height: number, radius: number): string {
    const r = Math.min(radius, width / 2, height / 2);
    const arc = (dx: number, dy: number) => `a${short(r)} ${short(r)} 0 0 1 ${short(dx)} ${short(dy)}`;
    const [across, down] = [short(width - 2 * r), short(height - 2 * r)];
    return `M${short(x + r)} ${short(y)}h${across}${arc(r, r)}v${down}${arc(-r, r)}h-${across}${arc(-r, -r)}v-${down}${arc(r, -r)}z`;
}

export abstract class Painter {
    width = 0;
    height = 0;

    abstract path(data: string, look: Look): void;
    /** y is the middle of the letters. */
    abstract text(x: number, y: number, text: string, style: TextStyle): void;
    /** Rows of so many cells, stretched over the box: numbers as pixelOf() gives them, 0 for none. Rows begin at `edges`, shares of the height. */
    abstract cells(x: number, y: number, width: number, height: number, columns: number, cells: Uint32Array<ArrayBuffer>, edges: number[]): void;
    abstract within(x: number, y: number, width: number, height: number, draw: () => void): void;

    rect(x: number, y: number, width: number, height: number, fill: string): void { this.path(box(x, y, width, height), { fill }); }

    frame(x: number, y: number, width: number, height: number, stroke: string, radius = 0, fill = '', lineWidth = 1): void {
        this.path(radius > 0 ? roundBox(x, y, width, height, radius) : box(x, y, width, height), { fill, stroke, width: lineWidth });
    }

    line(points: Point[], stroke: string, width = 1, dash: number[] = [], curve: CurveFactory = curveLinear): void {
        if (points.length > 0) this.path(lineThrough().curve(curve).digits(2)(points)!, { stroke, width, dash });
    }

    /** As large as a dot of the radius. */
    mark(kind: SymbolType, x: number, y: number, radius: number, fill: string, stroke = ''): void {
        this.path(symbol(kind, Math.PI * radius ** 2).digits(2)()!, { fill, stroke, width: 1.5, at: [x, y] });
    }

    dot(x: number, y: number, radius: number, fill: string, stroke = ''): void { this.mark(symbolCircle, x, y, radius, fill, stroke); }

    /** Many rectangles of one colour: x, y, width, height in a row; equal ones side by side are one. */
    rects(boxes: number[], fill: string, crisp = false): void {
        let data = '';
        for (let i = 0; i < boxes.length; ) {
            const [x, y, , height] = boxes.slice(i, i + 4);
            let width = 0;
            do width += boxes[i + 2];
            while (((i += 4), Math.abs(boxes[i] - x - width) < 1e-6 && boxes[i + 1] === y && boxes[i + 3] === height));
            data += box(x, y, width, height);
        }
        if (data) this.path(data, { fill, crisp });
    }
}

export class CanvasPainter extends Painter {
    private readonly context: CanvasRenderingContext2D;
    private scale = 1;
    private font = '';
    /** The cells drawn last, and their picture. */
    private picture: { cells: Uint32Array; canvas: OffscreenCanvas } | null = null;

    constructor(private readonly canvas: HTMLCanvasElement) {
        super();
        this.context = canvas.getContext('2d', { alpha: false })!;
    }

    /** An empty picture; the canvas takes the size of its box. */
    begin(width: number, height: number): this {
        const { canvas, context } = this;
        const scale = window.devicePixelRatio || 1;
        const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
        if (canvas.width !== w || canvas.height !== h) {
            Object.assign(canvas, { width: w, height: h });
            this.font = '';
        }
        const styled = `${height}px`;
        if (canvas.style.height !== styled) canvas.style.height = styled;
        Object.assign(this, { width, height, scale });
        context.setTransform(scale, 0, 0, scale, 0, 0);
        this.rect(0, 0, width, height, theme().panel);
        return this;
    }

    path(data: string, { fill = '', stroke = '', width = 1, dash = [], at: [x, y] = [0, 0] }: Look): void {
        const { context } = this;
        const shape = new Path2D(data);
        context.translate(x, y);
        Object.assign(context, { fillStyle: fill, strokeStyle: stroke, lineWidth: width, lineJoin: 'round' });
        context.setLineDash(dash);
        if (fill) context.fill(shape);
        if (stroke) context.stroke(shape);
        context.translate(-x, -y);
    }

    text(x: number, y: number, text: string, { colour, size = 12, anchor = 'start', weight = 400, upright = false }: TextStyle): void {
        const { context } = this;
        const wanted = `${weight} ${size}px ${font}`;
        if (wanted !== this.font) context.font = this.font = wanted;
        context.fillStyle = colour;
        context.textAlign = anchor === 'middle' ? 'center' : anchor;
        context.textBaseline = 'middle';
        if (!upright) return context.fillText(text, x, y);
        context.save();
        context.translate(x, y);
        context.rotate(-Math.PI / 2);
        context.fillText(text, 0, 0);
        context.restore();
    }

    /** On whole pixels, so that no seams are between rectangles side by side. */
    override rects(boxes: number[], fill: string): void {
        const { context, scale } = this;
        const snap = (at: number) => Math.round(at * scale) / scale;
        context.fillStyle = fill;
        for (let i = 0; i < boxes.length; i += 4) {
            const [x, y] = [snap(boxes[i]), snap(boxes[i + 1])];
            const [right, bottom] = [snap(boxes[i] + boxes[i + 2]), snap(boxes[i + 1] + boxes[i + 3])];
            context.fillRect(x, y, right - x, Math.max(1 / scale, bottom - y));
        }
    }

    cells(x: number, y: number, width: number, height: number, columns: number, cells: Uint32Array<ArrayBuffer>, edges: number[]): void {
        if (this.picture?.cells !== cells) {
            this.picture = { cells, canvas: new OffscreenCanvas(columns, cells.length / columns) };
            this.picture.canvas.getContext('2d')!.putImageData(new ImageData(new Uint8ClampedArray(cells.buffer), columns), 0, 0);
        }
        const { canvas } = this.picture;
        const { context } = this;
        context.imageSmoothingEnabled = false;
        const rows = edges.length - 1;
        if (edges.every((each, row) => Math.abs(each - row / rows) < 1e-9)) return context.drawImage(canvas, x, y, width, height);
        for (let row = 0; row < rows; ++row)
            context.drawImage(canvas, 0, row, columns, 1, x, y + edges[row] * height, width, (edges[row + 1] - edges[row]) * height);
    }

    within(x: number, y: number, width: number, height: number, draw: () => void): void {
        const { context } = this;
        context.save();
        context.clip(new Path2D(box(x, y, width, height)));
        draw();
        context.restore();
        this.font = '';
    }
}

export class SvgPainter extends Painter {
    private readonly parts: string[] = [];

    constructor(readonly width: number, readonly height: number) {
        super();
        this.rect(0, 0, width, height, theme().panel);
    }

    path(data: string, { fill, stroke, width = 1, dash = [], crisp, at }: Look): void {
        const place = at ? ` transform="translate(${at.map(short).join(' ')})"` : '';
        const line = stroke ? ` stroke="${stroke}" stroke-width="${width}" stroke-linejoin="round"` : '';
        const dashes = dash.length ? ` stroke-dasharray="${dash.join(' ')}"` : '';
        this.parts.push(`<path${place} d="${data}" fill="${fill || 'none'}"${line}${dashes}${crisp ? ' shape-rendering="crispEdges"' : ''}/>`);
    }

    text(x: number, y: number, text: string, { colour, size = 12, anchor = 'start', weight = 400, upright = false }: TextStyle): void {
        const turn = upright ? ` transform="rotate(-90 ${short(x)} ${short(y)})"` : '';
        const style = `font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" dominant-baseline="central" fill="${colour}"`;
        this.parts.push(`<text x="${short(x)}" y="${short(y)}" ${style}${turn}>${text.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</text>`);
    }

    cells(x: number, y: number, width: number, height: number, columns: number, cells: Uint32Array, edges: number[]): void {
        const boxOf = (i: number) => {
            const row = Math.floor(i / columns);
            return [x + ((i % columns) / columns) * width, y + edges[row] * height, width / columns, (edges[row + 1] - edges[row]) * height];
        };
        const shown = range(cells.length).filter((i) => cells[i] !== 0);
        for (const [pixel, own] of group(shown, (i) => cells[i])) this.rects(own.flatMap(boxOf), rgb(pixel & 255, (pixel >>> 8) & 255, (pixel >>> 16) & 255).formatHex(), true);
    }

    within(x: number, y: number, width: number, height: number, draw: () => void): void {
        const id = `clip${box(x, y, width, height).replace(/[^\d.-]+/g, '_')}`; // of all pictures of a page: equal ones are of equal boxes
        this.parts.push(`<clipPath id="${id}"><path d="${box(x, y, width, height)}"/></clipPath><g clip-path="url(#${id})">`);
        draw();
        this.parts.push('</g>');
    }

    toString(): string {
        const { width, height } = this;
        return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family='${font.replace(/"/g, '&quot;')}'>\n${this.parts.join('\n')}\n</svg>\n`;
    }
}

const single = ['page', 'panel', 'ink', 'faint', 'line', 'grid', 'accent', 'count'] as const;
/** Colours at 0 .. 1, evenly, and what lies between them: heat from what is near the ground to what stands out, difference from blue over neutral. */
type Ramp = (at: number) => string;
type Theme = { dark: boolean } & Omit<typeof drawnLight, 'difference'> & Record<(typeof single)[number], string> & Record<'heat' | 'difference', Ramp>;

function ramp(colours: string[]): Ramp {
    const scale = scaleLinear(range(colours.length).map((i) => i / (colours.length - 1)), colours).clamp(true);
    return (at) => rgb(scale(at)).formatHex();
}

const themes = new Map<boolean, Theme>();

export function theme(): Theme {
    const dark = document.documentElement.dataset.theme === 'dark';
    return remembered(themes, dark, () => {
        const style = getComputedStyle(document.documentElement);
        const drawn = dark ? drawnDark : drawnLight;
        const ramps = { heat: ramp(drawn.ramp), difference: ramp(drawn.difference) };
        return { dark, ...drawn, ...ramps, ...Object.fromEntries(single.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) } as Theme;
    });
}

/** As many colours as there are curves, each another: above the number of `curves` in between those of a row. */
export function distinctColours(count: number): string[] {
    const { curves, many } = theme();
    if (count <= curves.length) return curves.slice(0, count);
    return range(count).map((i) => ramp(many)(i / (count - 1)));
}

/** Black or white, whichever can be read on it. */
export function inkOn(colour: string): string {
    const { r, g, b } = rgb(colour);
    return r * 0.3 + g * 0.59 + b * 0.11 > 140 ? '#111820' : '#ffffff';
}
