// Colours that stand for numbers, and what they mean.

import type { FrameSide, Shape } from "./protocol";
import { figures } from "./words";

export const COLOURINGS = ["fabric", "strain", "speed", "contact"] as const;
export type Colouring = (typeof COLOURINGS)[number];
export const EDGES = ["none", "wireframe", "strips", "solver stage"] as const;
export type Edges = (typeof EDGES)[number];

// Magma (van der Walt & Smith, CC0) from its light end down to a quarter: even to the eye, readable to the colour-blind and in grey. What is little is light,
// so that folds are seen by their shade and not lost in the dark.
const STOPS = [0xfcfdbf, 0xfec488, 0xfc8961, 0xe75263, 0xb73779, 0x832681, 0x51127c];

const TABLE = new Uint8Array(256 * 3);
for (let i = 0; i < 256; i++) {
  const at = (i / 255) * (STOPS.length - 1);
  const low = Math.min(Math.floor(at), STOPS.length - 2);
  for (let c = 0; c < 3; c++) {
    const channel = (stop: number) => ((STOPS[stop] ?? 0) >> (16 - 8 * c)) & 255;
    TABLE[3 * i + c] = channel(low) + (at - low) * (channel(low + 1) - channel(low));
  }
}

/** Colours of `count` numbers, which times `unit` reach up to `high`; `turned` starts from the other end. */
export function paint(numbers: ArrayLike<number>, unit: number, high: number, into: Uint8Array, turned = false): void {
  const scale = (255 * unit) / high;
  for (let i = 0; i < numbers.length; i++) {
    let at = Math.min(255, numbers[i]! * scale) | 0;
    if (turned) at = 255 - at;
    into[3 * i] = TABLE[3 * at]!;
    into[3 * i + 1] = TABLE[3 * at + 1]!;
    into[3 * i + 2] = TABLE[3 * at + 2]!;
  }
}

/** Distances to bodies come in units of this [mm]. */
const GAP_UNIT = 0.1;

export interface Scale { title: string; unit: string; high: number; factor: number }

/** What the colours of a frame mean. Scales only grow while the same thing is looked at, so that colours do not flicker. */
export class Scales {
  private grown = new Map<Colouring, number>();

  restart(): void {
    this.grown.clear();
  }

  of(colouring: Colouring, shape: Shape, sides: FrameSide[]): Scale | null {
    switch (colouring) {
      case "fabric": return null;
      // The tolerance is the end of the scale: what is darkest is at its limit or beyond.
      case "strain": return { title: "strain (end: tolerance)", unit: "%", high: 100 * shape.tolerance, factor: 100 };
      case "contact": return { title: "distance to bodies", unit: "mm", high: 10, factor: GAP_UNIT };
      case "speed": {
        const most = Math.max(...sides.map((side) => side.speed_unit * 65535), this.grown.get("speed") ?? 0.1);
        this.grown.set("speed", most);
        return { title: "speed", unit: "m/s", high: roundAbove(most), factor: 1 };
      }
    }
  }
}

function roundAbove(number: number): number {
  const power = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 5, 10].map((k) => k * power).find((k) => k >= number) ?? number;
}

/** Shows what the colours mean. */
export function drawLegend(box: HTMLElement, scale: Scale | null, edges: Edges, groups: number): void {
  box.hidden = !scale && edges !== "solver stage";
  if (scale) {
    const stops = STOPS.map((stop) => `#${stop.toString(16).padStart(6, "0")}`);
    if (scale.title.startsWith("distance")) stops.reverse();
    const ticks = [0, 0.25, 0.5, 0.75, 1].map((k) => `<span>${figures(k * scale.high)}</span>`).join("");
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
