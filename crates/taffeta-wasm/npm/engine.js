// The engine as a package: what wasm-bindgen has bound, with numbers as typed arrays and reports as objects. engine.d.ts tells what everything is.

import init, { Simulation as Bound, scenes as boundScenes } from "./bound/taffeta_wasm.js";

let memory;

export async function load(source) {
  // Node reads files, pages fetch them.
  if (source === undefined && globalThis.process?.versions?.node) {
    const { readFile } = await import("node:fs/promises");
    source = await readFile(new URL("./bound/taffeta_wasm_bg.wasm", import.meta.url));
  }
  ({ memory } = await init({ module_or_path: source }));
}

export const scenes = () => JSON.parse(boundScenes());

export class Simulation {
  #bound;

  constructor(scene) {
    if (!memory) throw new Error("call load() first, and wait for it");
    this.#bound = new Bound(scene);
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
