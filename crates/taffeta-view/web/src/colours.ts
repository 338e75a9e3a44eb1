// Colours that stand for numbers, and what they mean.

import type { Frame, Shape } from "./protocol";
import { figures } from "./words";

/** What the cloth is coloured by, with what it is. */
export const MAPS = {
  fabric: "its own colour",
  strain: "largest strain of the edges around a point",
  "warp strain": "stretch along the warp; below zero it is compressed",
  "weft strain": "stretch along the weft; below zero it is compressed",
  speed: "how fast a point moves",
  contact: "distance to spheres, capsules, boxes and planes up to 2 mm",
  distance: "distance to spheres, capsules, boxes and planes up to 100 mm: the ease of a garment",
  pressure: "how hard bodies press on the cloth, the mean of a frame; recordings do not have it",
  curvature: "how sharply the cloth bends: one over the radius",
  bending: "elastic energy of bending, by area; recordings do not have the fabric's rigidity",
} as const;
export type Colouring = keyof typeof MAPS;
export const COLOURINGS = Object.keys(MAPS) as Colouring[];
export const EDGES = ["none", "wireframe", "strips", "solver stage"] as const;
export type Edges = (typeof EDGES)[number];

// Magma (van der Walt & Smith, CC0) from its light end down to a quarter: even to the eye, readable to the colour-blind and in grey. What is little is light,
// so that folds are seen by their shade and not lost in the dark.
const STOPS = [0xfcfdbf, 0xfec488, 0xfc8961, 0xe75263, 0xb73779, 0x832681, 0x51127c];

// For numbers below and above zero: as far from light grey on both sides (after Crameri's vik).
const TWO_SIDED = [0x0a3d7a, 0x3b7fb5, 0x9cc4dd, 0xe9e6e2, 0xdfab86, 0xb8602f, 0x6e1e06];

function table(stops: number[]): Uint8Array {
  const made = new Uint8Array(256 * 3);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    for (let c = 0; c < 3; c++) {
      const channel = (stop: number) => ((stops[stop] ?? 0) >> (16 - 8 * c)) & 255;
      made[3 * i + c] = channel(low) + (at - low) * (channel(low + 1) - channel(low));
    }
  }
  return made;
}
const [ONE_TABLE, TWO_TABLE] = [table(STOPS), table(TWO_SIDED)];

/** Colours of numbers, which times `unit` are in the unit of the scale. */
export function paint(numbers: ArrayLike<number>, unit: number, { low, high, turned }: Scale, into: Uint8Array): void {
  const colours = low < 0 ? TWO_TABLE : ONE_TABLE;
  const scale = 255 / (high - low);
  for (let i = 0; i < numbers.length; i++) {
    let at = Math.max(0, Math.min(255, (numbers[i]! * unit - low) * scale)) | 0;
    if (turned) at = 255 - at;
    into[3 * i] = colours[3 * at]!;
    into[3 * i + 1] = colours[3 * at + 1]!;
    into[3 * i + 2] = colours[3 * at + 2]!;
  }
}

/** Distances to bodies come in units of this [mm]. */
const GAP_UNIT = 0.1;

/** What colours mean; `factor` is the unit of the scale in units of what is told, and `turned` says that little is dark. */
export interface Scale { title: string; unit: string; low: number; high: number; factor: number; turned: boolean }

/** What the colours of a frame mean. Scales only grow while the same thing is looked at, so that colours do not flicker. */
export class Scales {
  private grown = new Map<Colouring, number>();

  restart(): void {
    this.grown.clear();
  }

  of(colouring: Colouring, shape: Shape, { sides, arrays }: Frame): Scale | null {
    const scale = (title: string, unit: string, high: number, factor: number, low = 0, turned = false): Scale => ({ title, unit, low, high, factor, turned });
    const percents = 100 * shape.tolerance;
    switch (colouring) {
      case "fabric": return null;
      // The tolerance is the end of the scale: what is darkest is at its limit or beyond.
      case "strain": return scale("strain (end: tolerance)", "%", percents, 100);
      case "warp strain": return scale("stretch of the warp (ends: tolerance)", "%", percents, 100, -percents);
      case "weft strain": return scale("stretch of the weft (ends: tolerance)", "%", percents, 100, -percents);
      case "contact": return scale("distance to bodies", "mm", 2, GAP_UNIT, 0, true);
      case "distance": return scale("distance to bodies", "mm", 100, GAP_UNIT, 0, true);
      case "curvature": return scale("curvature", "1/m", 100, 1);
      case "bending": return scale(shape.cloths.some((cloth) => cloth.bending) ? "bending energy" : "bending energy is not recorded", "mJ/m²", 20, 1e3);
      case "speed": {
        const most = Math.max(...sides.map((side) => side.speed_unit * 65535), this.grown.get("speed") ?? 0.1);
        this.grown.set("speed", most);
        return scale("speed", "m/s", roundAbove(most), 1);
      }
      case "pressure": {
        const most = sides.map((side, k) => nearlyAll(arrays.get(`pressure ${k}`)) * (side.pressure_unit ?? 0));
        this.grown.set("pressure", Math.max(...most, this.grown.get("pressure") ?? 1e-3));
        const known = sides.every((side) => side.pressure_unit !== null);
        return scale(known ? "pressure of bodies (end: or more)" : "pressure of bodies is not known", "kPa", roundAbove(this.grown.get("pressure")!), 1);
      }
    }
  }
}

/** What all numbers above zero but a fiftieth are below: single points press many times as hard as all others. */
function nearlyAll(numbers: ArrayLike<number> = []): number {
  const above = Uint16Array.from(numbers).filter((number) => number > 0).sort();
  return above[Math.floor(0.98 * above.length)] ?? 0;
}

function roundAbove(number: number): number {
  const power = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 5, 10].map((k) => k * power).find((k) => k >= number) ?? number;
}

/** Shows what the colours mean. */
export function drawLegend(box: HTMLElement, scale: Scale | null, edges: Edges, groups: number): void {
  box.hidden = !scale && edges !== "solver stage";
  if (scale) {
    const stops = (scale.low < 0 ? TWO_SIDED : STOPS).map((stop) => `#${stop.toString(16).padStart(6, "0")}`);
    if (scale.turned) stops.reverse();
    const ticks = [0, 0.25, 0.5, 0.75, 1].map((k) => `<span>${figures(scale.low + k * (scale.high - scale.low))}</span>`).join("");
    const html = `${scale.title} [${scale.unit}]<div class="bar" style="background:linear-gradient(90deg,${stops.join()})"></div><div class="ticks">${ticks}</div>`;
    if (box.dataset.html !== html) box.innerHTML = box.dataset.html = html;
  } else if (edges === "solver stage") {
    const swatch = (k: number) => `<span style="color:${stageColour(k, groups)}">■</span> group ${k + 1}`;
    const html = `edges solved at once<br>${Array.from({ length: Math.min(groups, 8) }, (_, k) => swatch(k)).join(" &nbsp; ")}`;
    if (box.dataset.html !== html) box.innerHTML = box.dataset.html = html;
  }
}

/** Colour of a group of strips. */
export const stageColour = (group: number, groups: number) => `hsl(${(group * 360) / Math.max(groups, 1) + 210}, 65%, 48%)`;
