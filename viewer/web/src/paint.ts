// Painter: the few shapes that views draw, on a canvas or as SVG, so that what is exported is what is on the screen.

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
    /** Many rectangles of one colour: x, y, width, height in a row. */
    rects(boxes: Float64Array | number[], fill: string): void;
    within(x: number, y: number, width: number, height: number, draw: () => void): void;
}

export const font = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';

export class CanvasPainter implements Painter {
    private readonly context: CanvasRenderingContext2D;
    readonly width: number;
    readonly height: number;

    /** The canvas takes the size of its box. */
    constructor(canvas: HTMLCanvasElement, width: number, height: number) {
        const scale = window.devicePixelRatio || 1;
        const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
        if (canvas.width !== w) canvas.width = w;
        if (canvas.height !== h) canvas.height = h;
        canvas.style.height = `${height}px`;
        this.width = width;
        this.height = height;
        this.context = canvas.getContext('2d')!;
        this.context.setTransform(scale, 0, 0, scale, 0, 0);
        this.context.clearRect(0, 0, width, height);
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
        context.fillStyle = colour;
        context.font = `${weight} ${size}px ${font}`;
        context.textAlign = anchor === 'middle' ? 'center' : anchor;
        context.textBaseline = 'middle';
        context.save();
        context.translate(x, y);
        if (upright) context.rotate(-Math.PI / 2);
        context.fillText(text, 0, 0);
        context.restore();
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
