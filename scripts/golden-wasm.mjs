// Runs every case of the module that scripts/golden-wasm.sh has built, and fails where a hash is not the kept one.
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { fuses } from "../crates/taffeta-wasm/npm/fused.js";

// Node 20 has the instruction that fuses, but asks for a flag.
if (process.version.startsWith("v20.")) setFlagsFromString("--experimental-wasm-relaxed-simd");
if (process.argv[3]?.includes("relaxed") && !fuses()) {
  console.log("SKIPPED: golden hashes with fused products and sums: this machine does not fuse them in WebAssembly");
  process.exit(0);
}
const module = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
const { memory, golden_count, golden_kept, golden_found, golden_name, golden_name_length, golden_method, golden_method_length, fused_wrong } =
  module.instance.exports;
const text = (from, length) => new TextDecoder().decode(new Uint8Array(memory.buffer, from, length));
const hex = (hash) => BigInt.asUintN(64, hash).toString(16).padStart(16, "0");

let wrong = fused_wrong();
if (wrong) console.log(`${wrong} products and sums are not fused as they should be`);
for (let i = 0; i < golden_count(); i++) {
  const name = `${text(golden_name(i), golden_name_length(i))} by ${text(golden_method(i), golden_method_length(i))}`;
  const [kept, found] = [hex(golden_kept(i)), hex(golden_found(i))];
  if (kept !== found) {
    wrong += 1;
    console.log(`${name}: ${found}, kept is ${kept}`);
  }
}
console.log(`${golden_count() - wrong} of ${golden_count()} hashes are those that are kept`);
process.exit(wrong ? 1 : 0);
