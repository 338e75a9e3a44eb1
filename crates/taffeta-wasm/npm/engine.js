// The engine as a package: what wasm-bindgen has bound, with numbers as typed arrays and reports as objects. engine.d.ts tells what everything is.

import { fuses } from "./fused.js";

let bound, memory;

export async function load(folder = new URL(".", import.meta.url)) {
  // The same bits from both; a machine that fuses products and sums by itself takes half the time.
  const kind = fuses() ? "fused" : "plain";
  bound = await (kind === "fused" ? import("./fused/taffeta_wasm.js") : import("./plain/taffeta_wasm.js"));
  let source = new URL(`${kind}/taffeta_wasm_bg.wasm`, folder);
  // Node reads files, pages fetch them.
  if (source.protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    source = await readFile(source);
  }
  ({ memory } = await bound.default({ module_or_path: source }));
}

export const scenes = () => JSON.parse(bound.scenes());

export class Simulation {
  #bound;

  constructor(scene) {
    if (!memory) throw new Error("call load() first, and wait for it");
    this.#bound = new bound.Simulation(scene);
  }

  step() {
    return JSON.parse(this.#bound.step());
  }

  get time() {
    return this.#bound.time();
  }

  get hash() {
    return this.#bound.hash();
  }

  get certificate() {
    return JSON.parse(this.#bound.certificate());
  }

  get energy() {
    return JSON.parse(this.#bound.energy());
  }

  get cloths() {
    return JSON.parse(this.#bound.cloths());
  }

  get positions() {
    return new Float64Array(memory.buffer, this.#bound.positions_at(), 3 * this.#bound.particle_count());
  }

  get triangles() {
    return new Uint32Array(memory.buffer, this.#bound.triangles_at(), 3 * this.#bound.triangle_count());
  }

  free() {
    this.#bound.free();
  }
}
