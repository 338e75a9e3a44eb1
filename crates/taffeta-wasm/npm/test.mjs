// The package in node: the same bits as the native program, and refusals with words. scripts/engine-wasm.sh builds what it needs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { Simulation, load, scenes } from "./engine.js";
import { fuses } from "./fused.js";

// Node 20 has the instruction, but asks for a flag.
if (process.version.startsWith("v20.")) setFlagsFromString("--experimental-wasm-relaxed-simd");
if (!fuses()) console.error("SKIPPED: the module that fuses products and sums: this machine does not");
await load();
// Of two frames and of thirty; the native test of this crate finds the same. Thirty are run with TAFFETA_LONG,
// those that take seconds each with TAFFETA_LONG=all.
const kept = readFileSync(new URL("../tests/kept.hashes", import.meta.url), "utf8").trim().split("\n").map((line) => line.split(" "));

const heavy = new Set(["cage", "crumple", "drape", "pile", "stack", "wash", "whip"]);
const { TAFFETA_LONG: long } = process.env;

for (const kind of fuses() ? ["plain", "fused"] : ["plain"]) {
  const { default: init, Simulation: Bound } = await import(`./${kind}/taffeta_wasm.js`);
  await init({ module_or_path: readFileSync(new URL(`./${kind}/taffeta_wasm_bg.wasm`, import.meta.url)) });
  for (const [scene, two, thirty] of kept) {
    test(`${scene} has the bits of the native program, ${kind}`, () => {
      const simulation = new Bound(scene);
      for (let frame = 0; frame < 2; frame++) simulation.step();
      assert.equal(simulation.hash(), two);
      if (long && (long === "all" || !heavy.has(scene))) {
        for (let frame = 2; frame < 30; frame++) simulation.step();
        assert.equal(simulation.hash(), thirty);
      }
      simulation.free();
    });
  }
}

test("every built-in scene has its hash", () => {
  assert.deepEqual(scenes().map(({ name }) => name), kept.map(([scene]) => scene));
});

test("positions are a view, certificates are told", () => {
  const simulation = new Simulation('[[cloth]]\nsheet = { width = 1, height = 1, columns = 10, rows = 10 }\npin = [{ corners = ["upper-left"] }]\n');
  assert.equal(simulation.positions.length, 300);
  assert.equal(Math.max(...simulation.triangles), 99);
  const before = Array.from(simulation.positions);
  const report = simulation.step();
  assert.ok(report.converged && report.substeps > 0);
  assert.notDeepEqual(Array.from(simulation.positions), before);
  const { maxStrain, tolerance, clothCloth, minGap } = simulation.certificate;
  assert.ok(maxStrain <= tolerance && clothCloth === 0 && minGap === null);
  assert.ok(simulation.time > 0 && simulation.energy.kinetic > 0 && simulation.cloths[0].particles[1] === 100);
});

test("a scene with a fault is refused with words", () => {
  assert.throws(() => new Simulation("[[cloth]]\nfabric = \"tin\"\n"), /tin/);
});
