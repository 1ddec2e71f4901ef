import { shownTime, timesUpTo } from "../../shownValues";

/** A line or area in a chart, with one value for each equal part of the time. */
export interface Series {
  readonly name: string;
  /** The color class: `a` to `d`, or `old` for the settings to compare with. */
  readonly color: "a" | "b" | "c" | "d" | "old";
  readonly kind: "line" | "area";
  readonly values: readonly number[];
  /** The lower edge of an area, for each value. @default 0 */
  readonly from?: readonly number[];
}

/** A chart over time. */
export interface Chart {
  readonly title: string;
  readonly series: readonly Series[];
  readonly shown: (value: number) => string;
}

/** A point in the sweep chart. */
export interface Point {
  readonly x: number;
  readonly y: number;
  readonly label: string;
  readonly isFront: boolean;
  readonly isCurrent: boolean;
}

/** The dimensions of a picture, in its own units. */
export interface Layout {
  readonly width: number;
  readonly left: number;
  /** The space above a plot for its title and legend. */
  readonly top: number;
  readonly timeTicks: number;
  /** The maximum number of characters in a line of text. */
  readonly columns: number;
}

export const WIDE: Layout = { width: 860, left: 72, top: 46, timeTicks: 6, columns: 118 };
/** A layout for phones: the same text size at less than half the width. */
export const NARROW: Layout = { width: 400, left: 72, top: 84, timeTicks: 3, columns: 52 };

const RIGHT = 16;
const PLOT = 150;
const SWEEP_PLOT = 330;
const GRID_LINES = 4;
const LEGEND_LINE = 19;

export const chartHeight = ({ top }: Layout) => top + PLOT + 34;
export const sweepHeight = ({ top }: Layout) => top + SWEEP_PLOT + 52;

/**
 * Colors that are legible on both white and black. The page and the picture follow the reader's
 * color scheme.
 */
export const STYLE = `
.fc text { fill: #24292f; font: 13px system-ui, sans-serif } .fc .title { font-weight: 600; font-size: 14px }
.fc .note { fill: #9a6700 } .fc .tick { fill: #57606a } .fc .end { text-anchor: end } .fc .middle { text-anchor: middle }
.fc .grid { stroke: #8b949e; stroke-opacity: .3 } .fc .line { fill: none; stroke-width: 1.8; stroke-linejoin: round }
.fc .a { stroke: #0969da } .fc .b { stroke: #1a7f37 } .fc .c { stroke: #bf8700 } .fc .d { stroke: #8250df }
.fc .old { stroke: #6e7781; stroke-dasharray: 5 4 }
.fc polygon.area, .fc rect.area { stroke: none } .fc .area.a { fill: #0969da; fill-opacity: .22 } .fc .area.b { fill: #1a7f37; fill-opacity: .75 }
.fc .area.c { fill: #d4a72c; fill-opacity: .85 } .fc .area.d { fill: #8250df; fill-opacity: .6 }
.fc .point { fill: #8b949e; fill-opacity: .55 } .fc .front { fill: #1a7f37 } .fc .current { fill: none; stroke: #cf222e; stroke-width: 2.5 }
@media (prefers-color-scheme: dark) {
.fc text { fill: #e6edf3 } .fc .note { fill: #d29922 } .fc .tick { fill: #9ea7b3 } .fc .a { stroke: #58a6ff } .fc .b { stroke: #3fb950 } .fc .c { stroke: #d29922 }
.fc .d { stroke: #bc8cff } .fc .old { stroke: #9ea7b3 } .fc .area.a { fill: #58a6ff } .fc .area.b { fill: #2ea043 }
.fc .area.d { fill: #a371f7 } .fc .front { fill: #3fb950 } .fc .current { stroke: #ff7b72 } }`;

/** Returns the SVG elements of a chart whose top edge is at `top`. */
export function chart({ title, series, shown }: Chart, spanS: number, top: number, layout: Layout): string {
  const { width, left, timeTicks } = layout;
  const most = niceCeiling(Math.max(...series.flatMap(({ values }) => values)));
  const x = (index: number, count: number) => round(left + (index / count) * (width - left - RIGHT));
  const y = (value: number) => round(top + layout.top + PLOT * (1 - value / most));
  const path = (values: readonly number[]) => values.map((value, at) => `${x(at + 0.5, values.length)},${y(value)}`);
  const shapes = series.map(({ kind, color, values, from }) => {
    const line = path(values).join(" ");
    if (kind === "line") return `<polyline class="line ${color}" points="${line}"/>`;
    const bottom = path(from ?? values.map(() => 0))
      .reverse()
      .join(" ");
    return `<polygon class="area ${color}" points="${line} ${bottom}"/>`;
  });
  const times = Array.from({ length: timeTicks + 1 }, (_, index) => {
    const text = timesUpTo(spanS)((spanS * index) / timeTicks);
    const anchor = index === timeTicks ? "tick end" : "tick middle";
    return `<text class="${anchor}" x="${x(index, timeTicks)}" y="${top + layout.top + PLOT + 18}">${text}</text>`;
  });
  return [heading(title, series, top, layout), ...grid(0, most, shown, y, layout), ...shapes, ...times].join("\n");
}

/** Returns the SVG elements of a sweep chart, with cost on the x-axis and delay on the y-axis. */
export function sweepChart(
  points: readonly Point[],
  shownCost: (value: number) => string,
  top: number,
  layout: Layout,
): string {
  const { width, left } = layout;
  const [lowX, highX] = axis(points.map((point) => point.x));
  const [lowY, highY] = axis(points.map((point) => point.y));
  const x = (value: number) => round(left + ((value - lowX) / (highX - lowX)) * (width - left - RIGHT - 20));
  const y = (value: number) => round(top + layout.top + SWEEP_PLOT * (1 - (value - lowY) / (highY - lowY)));
  const bottom = top + layout.top + SWEEP_PLOT;
  const front = points.filter(({ isFront }) => isFront).sort((a, b) => a.x - b.x);
  const steps = front.map((point) => `${x(point.x)},${y(point.y)}`).join(" ");
  const costTicks = layout.timeTicks > GRID_LINES ? GRID_LINES : GRID_LINES / 2;
  const ticks = Array.from({ length: costTicks + 1 }, (_, index) => {
    const value = lowX + ((highX - lowX) * index) / costTicks;
    return `<text class="tick middle" x="${x(value)}" y="${bottom + 18}">${shownCost(value)}</text>`;
  });
  const marks = points.map((point) => {
    const at = `cx="${x(point.x)}" cy="${y(point.y)}"`;
    const title = `<title>${escaped(point.label)}</title>`;
    const ring = point.isCurrent ? `<circle class="current" ${at} r="9"/>` : "";
    return `<circle class="${point.isFront ? "front" : "point"}" ${at} r="5">${title}</circle>${ring}`;
  });
  return [
    `<text class="title" x="${left}" y="${top + 18}">Sweep: p95 delay by monthly cost</text>`,
    ...wrapped(SWEEP_LEGEND, layout.columns - left / 8).map(
      (line, at) => `<text class="tick" x="${left}" y="${top + 36 + at * LEGEND_LINE}">${line}</text>`,
    ),
    ...grid(lowY, highY, shownTime, y, layout),
    `<polyline class="line b" points="${steps}"/>`,
    ...marks,
    ...ticks,
    `<text class="tick end" x="${width - RIGHT}" y="${bottom + 38}">cost a month</text>`,
  ].join("\n");
}

const SWEEP_LEGEND = "green: every cheaper setting is slower, and every faster one costs more; ring: current setting";
const NOTE_LINE = 19;

const wrapped = (text: string, columns: number): string[] =>
  text.match(new RegExp(`(?=\\S).{1,${Math.floor(columns)}}(?=\\s|$)`, "g")) ?? [];

/** Returns the SVG elements and height of the notes at the top of a picture. */
export function noteLines(notes: readonly string[], { columns }: Layout): { elements: string; height: number } {
  const lines = notes.flatMap((note) => wrapped(note, columns));
  const texts = lines.map(
    (line, at) => `<text class="note" x="16" y="${(at + 1) * NOTE_LINE}">${escaped(line)}</text>`,
  );
  return { elements: texts.join("\n"), height: lines.length * NOTE_LINE };
}

/** Returns an SVG picture that contains these elements. */
export function svg(title: string, elements: string, height: number, { width }: Layout): string {
  const size = width === WIDE.width ? "wide" : "narrow";
  const head = `<svg class="fc ${size}" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`;
  return `${head}\n<title>${escaped(title)}</title>\n${elements}\n</svg>`;
}

/** Escapes text for HTML. */
export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

function heading(title: string, series: readonly Series[], top: number, { width, left }: Layout): string {
  let [at, line] = [left, top + 36];
  const legend = series.map(({ name, color, kind }) => {
    const size = 44 + name.length * 7;
    if (at > left && at + size > width) [at, line] = [left, line + LEGEND_LINE];
    const mark =
      kind === "line"
        ? `<line class="line ${color}" x1="${at}" x2="${at + 18}" y1="${line - 4}" y2="${line - 4}"/>`
        : `<rect class="area ${color}" x="${at}" y="${line - 10}" width="18" height="11"/>`;
    const text = `<text class="tick" x="${at + 24}" y="${line}">${escaped(name)}</text>`;
    at += size;
    return mark + text;
  });
  return `<text class="title" x="${left}" y="${top + 18}">${escaped(title)}</text>${legend.join("")}`;
}

function grid(
  low: number,
  high: number,
  shown: (value: number) => string,
  y: (value: number) => number,
  { width, left }: Layout,
): string[] {
  const inUnit = shown === shownTime ? timesUpTo(high) : shown;
  return Array.from({ length: GRID_LINES + 1 }, (_, index) => {
    const value = low + ((high - low) * index) / GRID_LINES;
    const line = `<line class="grid" x1="${left}" x2="${width - RIGHT}" y1="${y(value)}" y2="${y(value)}"/>`;
    return `${line}<text class="tick end" x="${left - 8}" y="${y(value) + 4}">${inUnit(value)}</text>`;
  });
}

/** Rounds a value up to 1, 2, 4, 6 or 8 times a power of ten. */
function niceCeiling(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 6, 8, 10].find((step) => step * power >= value) ?? 10) * power;
}

/** Returns the range of an axis. It starts at 0 unless all values are in the upper half. */
function axis(values: readonly number[]): readonly [number, number] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (least < most / 2 || most === 0) return [0, niceCeiling(most)];
  const step = niceCeiling(Math.max(most - least, most / 100) / GRID_LINES);
  const low = Math.floor(least / step) * step;
  return [low, low + GRID_LINES * step * (most > low + GRID_LINES * step ? 2 : 1)];
}

const round = (value: number) => Math.round(value * 10) / 10;
