// How much longer a frame takes in WebAssembly than natively, on one thread: node tests/speed.mjs [FRAMES], after scripts/engine-wasm.sh build and
// cargo build --release -p taffeta-wasm --example speed. Natively and in node it is processor time, in the browser the least of three runs.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { browser, files } from "./rig.mjs";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const native = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "release/examples/speed");
const npm = join(root, "crates/taffeta-wasm/npm");
const frames = Number(process.argv[2] ?? 60);
const scenes = ["hang", "drape"];

const { Simulation, load } = await import(join(npm, "engine.js"));
await load();
const chromium = await browser();
const served = await files(npm);
const opened = await chromium.newPage();
await opened.goto(`${served.url}package.json`);

/** What this thread has computed [ms]. */
const busy = () => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;

console.log("scene   native [ms]   node [ms]   ratio   Chromium [ms]   ratio");
for (const scene of scenes) {
  const [taken, hash] = execFileSync(native, [scene, String(frames)], { env: { ...process.env, RAYON_NUM_THREADS: "1" }, encoding: "utf8" }).split(" ");
  const simulation = new Simulation(scene);
  const before = busy();
  for (let frame = 0; frame < frames; frame++) simulation.step();
  const inNode = (busy() - before) / frames;
  if (simulation.hash !== hash.trim()) throw new Error(`${scene}: other bits than natively`);
  const inPage = await opened.evaluate(async ([scene, frames, hash]) => {
    const { Simulation, load } = await import("/engine.js");
    await load();
    const runs = [0, 1, 2].map(() => {
      const simulation = new Simulation(scene);
      const begun = performance.now();
      for (let frame = 0; frame < frames; frame++) simulation.step();
      const taken = (performance.now() - begun) / frames;
      if (simulation.hash !== hash) throw new Error(`${scene}: other bits than natively`);
      simulation.free();
      return taken;
    });
    return Math.min(...runs);
  }, [scene, frames, hash.trim()]);
  const ratio = (time) => (time / Number(taken)).toFixed(2);
  console.log(`${scene.padEnd(8)}${Number(taken).toFixed(1).padStart(11)}${inNode.toFixed(1).padStart(12)}${ratio(inNode).padStart(8)}${inPage.toFixed(1).padStart(16)}${ratio(inPage).padStart(8)}`);
}
await chromium.close();
served.stop();
process.exit(0);
