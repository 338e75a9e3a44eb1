// How much longer a frame takes in WebAssembly than natively, on one thread: node tests/speed.mjs [FRAMES], after scripts/engine-wasm.sh build and
// cargo build --release -p taffeta-wasm --example speed. All of it is processor time; in the browser that of the page's process, in a second run.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { browser, files } from "./rig.mjs";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const program = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "release/examples/speed");
const npm = join(root, "crates/taffeta-wasm/npm");
const frames = Number(process.argv[2] ?? 60);
const sets = ["avx512", "avx2", "plain"];

// Node 20 has the instruction that fuses, but asks for a flag.
if (process.version.startsWith("v20.")) setFlagsFromString("--experimental-wasm-relaxed-simd");
const chromium = await browser();
const served = await files(npm);
const opened = await chromium.newPage();
await opened.goto(`${served.url}package.json`);
const about = await chromium.newBrowserCDPSession();

/** What the processes of pages have computed [ms]. */
async function busyPages() {
  const { processInfo } = await about.send("SystemInfo.getProcessInfo");
  return processInfo.filter(({ type }) => type === "renderer").reduce((sum, { cpuTime }) => sum + 1e3 * cpuTime, 0);
}

/** What this thread has computed [ms]. */
const busy = () => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;

/** Processor time of a frame by a native instruction set [ms], and the hash of the last one. */
function native(scene, set) {
  const env = { ...process.env, RAYON_NUM_THREADS: "1", TAFFETA_INSTRUCTIONS: set };
  const [taken, hash] = execFileSync(program, [scene, String(frames)], { env, encoding: "utf8" }).trim().split(" ");
  return [Number(taken), hash];
}

/** The same by a module in node. */
async function inNode(scene, kind) {
  const { default: init, Simulation } = await import(join(npm, kind, "taffeta_wasm.js"));
  await init({ module_or_path: readFileSync(join(npm, kind, "taffeta_wasm_bg.wasm")) });
  const simulation = new Simulation(scene);
  const before = busy();
  for (let frame = 0; frame < frames; frame++) simulation.step();
  return [(busy() - before) / frames, simulation.hash()];
}

/** The same in the browser, by the module that the package chooses there. */
async function inPage(scene) {
  const run = () => opened.evaluate(async ([scene, frames]) => {
    const { Simulation, load } = await import("/engine.js");
    await load();
    const simulation = new Simulation(scene);
    for (let frame = 0; frame < frames; frame++) simulation.step();
    const { hash } = simulation;
    simulation.free();
    return hash;
  }, [scene, frames]);
  // In the first run the module is compiled.
  await run();
  const before = await busyPages();
  const hash = await run();
  return [(await busyPages() - before) / frames, hash];
}

console.log(`scene   where          [ms]${sets.map((set) => `/${set}`.padStart(9)).join("")}`);
for (const scene of ["hang", "drape"]) {
  const natives = sets.map((set) => [`native ${set}`, ...native(scene, set)]);
  const modules = [["node, fused", ...await inNode(scene, "fused")], ["node, plain", ...await inNode(scene, "plain")], ["Chromium", ...await inPage(scene)]];
  for (const [where, taken, hash] of [...natives, ...modules]) {
    if (hash !== natives[0][2]) throw new Error(`${scene}, ${where}: other bits than natively`);
    console.log(`${scene.padEnd(8)}${where.padEnd(14)}${taken.toFixed(1).padStart(5)}${natives.map(([, native]) => (taken / native).toFixed(2).padStart(9)).join("")}`);
  }
}
await chromium.close();
served.stop();
process.exit(0);
