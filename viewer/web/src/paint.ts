// SPDX-License-Identifier: BSD-3-Clause
// Painter: the few shapes that views draw, on a canvas or as SVG, so that what is exported is what is on the screen.

import { colourOf, Pixels, type Bars } from './pixels';

export interface TextStyle {
    colour: string;
    size?: number;
    anchor?: 'start' | 'middle' | 'end';
    weight?: number;
    /** Turned by a quarter, reading upwards. */
    upright?: boolean;
}

export interface Painter {
    readonly width: number;
    readonly height: number;
    rect(x: number, y: number, width: number, height: number, fill: string): void;
    frame(
        x: number,
        y: number,
        width: number,
        height: number,
        stroke: string,
        radius?: number,
        fill?: string,
        lineWidth?: number,
    ): void;
    line(points: [number, number][], stroke: string, width?: number, dash?: number[]): void;
    dot(x: number, y: number, radius: number, fill: string, stroke?: string): void;
    /** y is the middle of the letters. */
    text(x: number, y: number, text: string, style: TextStyle): void;
    /** Bars from the pixel `x` on, cut off above `top` and below `top + height`; later ones hide earlier ones. */
    bars(x: number, top: number, height: number, list: Bars[]): void;
    /** Rows of so many cells, stretched over the box: numbers as pixelOf() gives them, 0 for none. Rows begin at `edges`, shares of the height. */
    cells(x: number, y: number, width: number, height: number, columns: number, cells: Uint32Array, edges: number[]): void;
    /** Many rectangles of one colour: x, y, width, height in a row. */
    rects(boxes: Float64Array | number[], fill: string): void;
    within(x: number, y: number, width: number, height: number, draw: () => void): void;
}

export const font = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';

export class CanvasPainter implements Painter {
    private readonly context: CanvasRenderingContext2D;
    private scale = 1;
    private font = '';
    /** Pictures of bars, in the order in which a frame draws them. */
    private readonly pixels: Pixels[] = [];
    private used = 0;
    width = 0;
    height = 0;

    constructor(private readonly canvas: HTMLCanvasElement) {
        this.context = canvas.getContext('2d')!;
    }

    /** An empty picture; the canvas takes the size of its box. */
    begin(width: number, height: number): this {
        const { canvas, context } = this;
        const scale = window.devicePixelRatio || 1;
        const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
        if (canvas.width !== w || canvas.height !== h) {
            canvas.width = w;
            canvas.height = h;
            this.font = '';
        }
        const styled = `${height}px`;
        if (canvas.style.height !== styled) canvas.style.height = styled;
        this.width = width;
        this.height = height;
        this.scale = scale;
        this.used = 0;
        context.setTransform(scale, 0, 0, scale, 0, 0);
        context.clearRect(0, 0, width, height);
        return this;
    }

    rect(x: number, y: number, width: number, height: number, fill: string): void {
        this.context.fillStyle = fill;
        this.context.fillRect(x, y, width, height);
    }

    frame(
        x: number,
        y: number,
        width: number,
        height: number,
        stroke: string,
        radius = 0,
        fill = '',
        lineWidth = 1,
    ): void {
        const { context } = this;
        context.beginPath();
        context.roundRect(x, y, width, height, radius);
        if (fill) {
            context.fillStyle = fill;
            context.fill();
        }
        context.lineWidth = lineWidth;
        context.strokeStyle = stroke;
        context.stroke();
    }

    line(points: [number, number][], stroke: string, width = 1, dash: number[] = []): void {
        const { context } = this;
        context.beginPath();
        points.forEach(([x, y], i) => (i === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
        context.strokeStyle = stroke;
        context.lineWidth = width;
        context.setLineDash(dash);
        context.lineJoin = 'round';
        context.stroke();
        context.setLineDash([]);
    }

    dot(x: number, y: number, radius: number, fill: string, stroke = ''): void {
        const { context } = this;
        context.beginPath();
        context.arc(x, y, radius, 0, 2 * Math.PI);
        context.fillStyle = fill;
        context.fill();
        if (!stroke) return;
        context.strokeStyle = stroke;
        context.lineWidth = 1.5;
        context.stroke();
    }

    text(
        x: number,
        y: number,
        text: string,
        { colour, size = 12, anchor = 'start', weight = 400, upright = false }: TextStyle,
    ): void {
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

    bars(x: number, top: number, height: number, list: Bars[]): void {
        const picture = this.nextPixels().drawBars(list, top, height, this.scale);
        this.context.drawImage(picture, x, top, picture.width, height);
    }

    cells(x: number, y: number, width: number, height: number, columns: number, cells: Uint32Array, edges: number[]): void {
        const picture = this.nextPixels().drawCells(columns, cells);
        const rows = edges.length - 1;
        if (edges.every((each, row) => Math.abs(each - row / rows) < 1e-9)) return this.context.drawImage(picture, x, y, width, height);
        for (let row = 0; row < rows; ++row)
            this.context.drawImage(picture, 0, row, columns, 1, x, y + edges[row] * height, width, (edges[row + 1] - edges[row]) * height);
    }

    private nextPixels(): Pixels {
        this.context.imageSmoothingEnabled = false;
        return (this.pixels[this.used++] ??= new Pixels());
    }

    rects(boxes: Float64Array | number[], fill: string): void {
        this.context.fillStyle = fill;
        for (let i = 0; i < boxes.length; i += 4)
            this.context.fillRect(boxes[i], boxes[i + 1], boxes[i + 2], boxes[i + 3]);
    }

    within(x: number, y: number, width: number, height: number, draw: () => void): void {
        const { context } = this;
        context.save();
        context.beginPath();
        context.rect(x, y, width, height);
        context.clip();
        draw();
        context.restore();
        this.font = '';
    }
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => escapes[character]);
const short = (value: number) => String(Math.round(value * 100) / 100);

export class SvgPainter implements Painter {
    private readonly parts: string[] = [];
    private clips = 0;

    constructor(
        readonly width: number,
        readonly height: number,
        background: string,
    ) {
        this.rect(0, 0, width, height, background);
    }

    rect(x: number, y: number, width: number, height: number, fill: string): void {
        this.parts.push(
            `<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${fill}"/>`,
        );
    }

    frame(
        x: number,
        y: number,
        width: number,
        height: number,
        stroke: string,
        radius = 0,
        fill = 'none',
        lineWidth = 1,
    ): void {
        this.parts.push(
            `<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" rx="${radius}" fill="${fill || 'none'}" stroke="${stroke}" stroke-width="${lineWidth}"/>`,
        );
    }

    line(points: [number, number][], stroke: string, width = 1, dash: number[] = []): void {
        const path = points.map(([x, y]) => `${short(x)},${short(y)}`).join(' ');
        const dashed = dash.length ? ` stroke-dasharray="${dash.join(' ')}"` : '';
        this.parts.push(
            `<polyline points="${path}" fill="none" stroke="${stroke}" stroke-width="${width}" stroke-linejoin="round"${dashed}/>`,
        );
    }

    dot(x: number, y: number, radius: number, fill: string, stroke = ''): void {
        const edge = stroke ? ` stroke="${stroke}" stroke-width="1.5"` : '';
        this.parts.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${radius}" fill="${fill}"${edge}/>`);
    }

    text(
        x: number,
        y: number,
        text: string,
        { colour, size = 12, anchor = 'start', weight = 400, upright = false }: TextStyle,
    ): void {
        const turn = upright ? ` transform="rotate(-90 ${short(x)} ${short(y)})"` : '';
        this.parts.push(
            `<text x="${short(x)}" y="${short(y)}" font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" dominant-baseline="central" fill="${colour}"${turn}>${escaped(text)}</text>`,
        );
    }

    bars(x: number, top: number, height: number, list: Bars[]): void {
        for (const { top: tops, bottom: bottoms, fill } of list) {
            let path = '';
            for (let i = 0; i < tops.length;) {
                const begin = i;
                while (++i < tops.length && tops[i] === tops[begin] && bottoms[i] === bottoms[begin]);
                if (tops[begin] === bottoms[begin]) continue;
                const high = Math.max(top, tops[begin]);
                const low = Math.min(top + height, bottoms[begin]);
                path += `M${short(x + begin)} ${short(high)}h${i - begin}V${short(low)}h${begin - i}z`;
            }
            if (path) this.parts.push(`<path d="${path}" fill="${fill}"/>`);
        }
    }

    cells(x: number, y: number, width: number, height: number, columns: number, cells: Uint32Array, edges: number[]): void {
        const rows = cells.length / columns;
        const paths = new Map<number, string>();
        for (let row = 0; row < rows; ++row)
            for (let c = row * columns, end = c + columns; c < end;) {
                const begin = c;
                while (++c < end && cells[c] === cells[begin]);
                if (cells[begin] === 0) continue;
                const place = (column: number) => short(x + ((column - row * columns) / columns) * width);
                const [high, low] = [row, row + 1].map((each) => short(y + edges[each] * height));
                const box = `M${place(begin)} ${high}H${place(c)}V${low}H${place(begin)}z`;
                paths.set(cells[begin], (paths.get(cells[begin]) ?? '') + box);
            }
        for (const [pixel, path] of paths)
            this.parts.push(`<path d="${path}" fill="${colourOf(pixel)}" shape-rendering="crispEdges"/>`);
    }

    rects(boxes: Float64Array | number[], fill: string): void {
        let path = '';
        for (let i = 0; i < boxes.length; i += 4)
            path += `M${short(boxes[i])} ${short(boxes[i + 1])}h${short(boxes[i + 2])}v${short(boxes[i + 3])}h${short(-boxes[i + 2])}z`;
        if (path) this.parts.push(`<path d="${path}" fill="${fill}"/>`);
    }

    within(x: number, y: number, width: number, height: number, draw: () => void): void {
        const id = `clip${++this.clips}`;
        this.parts.push(
            `<clipPath id="${id}"><rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"/></clipPath><g clip-path="url(#${id})">`,
        );
        draw();
        this.parts.push('</g>');
    }

    toString(): string {
        const { width, height } = this;
        return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family='${font.replace(/"/g, '&quot;')}'>\n${this.parts.join('\n')}\n</svg>\n`;
    }
}
