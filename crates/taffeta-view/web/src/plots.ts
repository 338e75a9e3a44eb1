// Live plots: numbers over time, with axes and units.

import type { Frame, Report } from "./protocol";
import { figures } from "./words";

/** Points kept of every line; at 30 frames a second this is 20 s. */
const KEPT = 600;

interface Line { name: string; colour: string; dashed: boolean; y: number[] }

interface Kind {
  title: string;
  unit: string;
  /** The numbers of a frame by name, in the order in which they are drawn. */
  read(report: Report): [string, number][];
  /** A number that is not to be passed. */
  limit?(tolerance: number): number;
  /** Lines stand on one another. */
  stacked?: boolean;
  /** Show how much the last point says: the sum, or the first line. */
  head?: "sum" | "first";
}

const energy = (report: Report) => report.energy_j ?? { kinetic: NaN, gravity: NaN, elastic: NaN };

const KINDS: Kind[] = [
  {
    title: "Strain", unit: "%", head: "first",
    read: (report) => [["largest", 100 * (report.max_strain ?? NaN)], ["mean", 100 * (report.mean_strain ?? NaN)]],
    limit: (tolerance) => 100 * tolerance,
  },
  {
    title: "Energy", unit: "J", head: "first",
    read: (report) => {
      const { kinetic, gravity, elastic } = energy(report);
      return [["total", kinetic + gravity + elastic], ["kinetic", kinetic], ["gravity", gravity], ["elastic", elastic]];
    },
  },
  { title: "Iterations per frame", unit: "1", head: "first", read: (report) => [["iterations", report.iterations ?? NaN], ["sub-steps", report.substeps ?? NaN]] },
  { title: "Time per stage", unit: "ms", stacked: true, head: "sum", read: (report) => Object.entries(report.stage_ms ?? {}) },
  { title: "Real-time factor", unit: "1", head: "first", read: (report) => [["simulated s per s", report.realtime_factor ?? NaN]], limit: () => 1 },
];

/** All plots, fed with frames. */
export class Plots {
  private readonly plots: Plot[];
  private last = -1;
  private waiting = false;

  constructor(box: HTMLElement) {
    this.plots = KINDS.map((kind) => new Plot(box, kind));
    new ResizeObserver(() => this.redraw()).observe(box);
  }

  add(frame: Frame, tolerance: number, methods: string[]): void {
    // Going back starts over; the same frame again adds nothing.
    if (frame.time < this.last) this.plots.forEach((plot) => plot.restart());
    if (frame.time === this.last) return;
    this.last = frame.time;
    this.plots.forEach((plot) => plot.add(frame, tolerance, methods));
    this.redraw();
  }

  restart(): void {
    this.last = -1;
    this.plots.forEach((plot) => plot.restart());
    this.redraw();
  }

  /** Five times a second is as fast as numbers can be read. */
  redraw(): void {
    if (this.waiting) return;
    this.waiting = true;
    setTimeout(() => {
      this.waiting = false;
      this.plots.forEach((plot) => plot.draw());
    }, 200);
  }
}

class Plot {
  private readonly canvas = document.createElement("canvas");
  private readonly now = document.createElement("small");
  private readonly names = document.createElement("div");
  private times: number[] = [];
  private lines = new Map<string, Line>();
  private limit: number | null = null;

  constructor(box: HTMLElement, private readonly kind: Kind) {
    const figure = document.createElement("figure");
    figure.className = "plot";
    const title = document.createElement("h3");
    title.append(kind.unit === "1" ? kind.title : `${kind.title} [${kind.unit}]`, this.now);
    this.names.className = "names";
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${kind.title} over time`);
    figure.append(title, this.canvas, this.names);
    box.append(figure);
  }

  restart(): void {
    this.times = [];
    this.lines.clear();
  }

  add(frame: Frame, tolerance: number, methods: string[]): void {
    this.limit = this.kind.limit?.(tolerance) ?? null;
    this.times.push(frame.time);
    const read = new Set<string>();
    frame.sides.forEach((side, number) => {
      // Stages of two methods cannot stand on one another.
      if (this.kind.stacked && number > 0) return;
      for (const [name, value] of this.kind.read(side.report)) {
        const key = frame.sides.length > 1 && !this.kind.stacked ? `${name} ${number}` : name;
        let line = this.lines.get(key);
        if (!line) {
          const hue = [...this.lines.values()].filter((other) => other.dashed === number > 0).length;
          const shown = frame.sides.length > 1 ? (this.kind.stacked ? name : `${name}, ${methods[number] ?? ""}`) : name;
          line = { name: shown, colour: `--s${hue % 8}`, dashed: number > 0, y: Array(this.times.length - 1).fill(NaN) };
          this.lines.set(key, line);
        }
        line.y.push(value);
        read.add(key);
      }
    });
    for (const [key, line] of this.lines) if (!read.has(key)) line.y.push(NaN);
    if (this.times.length > KEPT) {
      this.times.shift();
      this.lines.forEach((line) => line.y.shift());
    }
  }

  draw(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0) return;
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    [this.canvas.width, this.canvas.height] = [width * ratio, height * ratio];
    const pen = this.canvas.getContext("2d")!;
    pen.scale(ratio, ratio);
    const rem = parseFloat(style.fontSize);
    pen.font = `${0.74 * rem}px ${style.fontFamily}`;
    const lines = [...this.lines.values()];
    this.tell(lines);
    const area = { left: 2.9 * rem, right: width - 0.4 * rem, top: 0.5 * rem, bottom: height - 1.35 * rem };
    const tops = this.kind.stacked ? stack(lines) : lines.map((line) => line.y);
    const y = scale(tops.flat().concat(this.limit ?? []), 4, this.kind.title !== "Energy");
    const x = scale(this.times, 5, false, true);
    const px = (t: number) => area.left + ((t - x.low) / (x.high - x.low)) * (area.right - area.left);
    const py = (v: number) => area.bottom - ((v - y.low) / (y.high - y.low)) * (area.bottom - area.top);

    pen.strokeStyle = colour("--line");
    pen.fillStyle = colour("--soft");
    pen.lineWidth = 1;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const tick of y.ticks) {
      rule(pen, area.left, py(tick), area.right, py(tick));
      pen.fillText(figures(tick), area.left - 0.35 * rem, py(tick));
    }
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const tick of x.ticks) {
      rule(pen, px(tick), area.bottom, px(tick), area.bottom + 3);
      const last = tick === x.ticks[x.ticks.length - 1];
      pen.fillText(figures(tick) + (last ? " s" : ""), px(tick), area.bottom + 0.3 * rem);
    }
    pen.save();
    pen.beginPath();
    pen.rect(area.left, area.top - 1, area.right - area.left, area.bottom - area.top + 2);
    pen.clip();
    if (this.kind.stacked) this.fill(pen, tops, lines, px, py, colour);
    else lines.forEach((line) => this.stroke(pen, line, px, py, colour));
    if (this.limit !== null) {
      pen.strokeStyle = colour("--bad");
      pen.setLineDash([4, 3]);
      rule(pen, area.left, py(this.limit), area.right, py(this.limit));
    }
    pen.restore();
  }

  private stroke(pen: CanvasRenderingContext2D, line: Line, px: (t: number) => number, py: (v: number) => number, colour: (name: string) => string): void {
    pen.strokeStyle = colour(line.colour);
    pen.lineWidth = 1.5;
    pen.setLineDash(line.dashed ? [5, 3] : []);
    pen.beginPath();
    let on = false;
    line.y.forEach((value, k) => {
      if (Number.isFinite(value)) pen[on ? "lineTo" : "moveTo"](px(this.times[k]!), py(value));
      on = Number.isFinite(value);
    });
    pen.stroke();
  }

  private fill(pen: CanvasRenderingContext2D, tops: number[][], lines: Line[], px: (t: number) => number, py: (v: number) => number, colour: (name: string) => string): void {
    for (let k = lines.length - 1; k >= 0; k--) {
      pen.fillStyle = colour(lines[k]!.colour);
      pen.beginPath();
      this.times.forEach((t, i) => pen.lineTo(px(t), py(tops[k]![i]!)));
      for (let i = this.times.length - 1; i >= 0; i--) pen.lineTo(px(this.times[i]!), py(k > 0 ? tops[k - 1]![i]! : 0));
      pen.fill();
    }
  }

  private tell(lines: Line[]): void {
    const ends = lines.map((line) => line.y[line.y.length - 1] ?? NaN);
    const sum = ends.reduce((all, end) => all + (Number.isFinite(end) ? end : 0), 0);
    const now = this.kind.head === "sum" ? sum : (ends[0] ?? NaN);
    this.now.textContent = Number.isFinite(now) ? `${figures(now)}${this.kind.unit === "1" ? "" : ` ${this.kind.unit}`}` : "";
    const html = lines.map((line) => `<span><i style="background:var(${line.colour});opacity:${line.dashed ? 0.5 : 1}"></i>${line.name}</span>`)
      .concat(this.limit === null ? [] : `<span><i style="background:var(--bad)"></i>${this.kind.title === "Strain" ? "tolerance" : "real time"}</span>`).join("");
    if (this.names.innerHTML !== html) this.names.innerHTML = html;
  }
}

function stack(lines: Line[]): number[][] {
  let below: number[] = [];
  return lines.map((line) => (below = line.y.map((value, k) => (below[k] ?? 0) + (Number.isFinite(value) ? value : 0))));
}

function rule(pen: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}

/** Ends and round ticks of an axis: from zero where that is asked, tight where the ends are the data's own. */
function scale(numbers: number[], count: number, fromZero: boolean, tight = false): { low: number; high: number; ticks: number[] } {
  const finite = numbers.filter(Number.isFinite);
  let low = finite.reduce((a, b) => Math.min(a, b), fromZero || finite.length === 0 ? 0 : Infinity);
  let high = finite.reduce((a, b) => Math.max(a, b), finite.length === 0 ? 1 : -Infinity);
  if (high - low < 1e-12) high = low + Math.max(1e-9, Math.abs(low) * 0.1, fromZero ? 1e-9 : 1e-3);
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= rough) ?? rough;
  if (!tight) [low, high] = [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
  const ticks: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(k * step);
  return { low, high, ticks };
}
