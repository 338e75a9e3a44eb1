// Which of the modules that scripts/engine-wasm.sh builds this page loads. All of them have the same bits.

import { fuses } from "../../../../taffeta-wasm/npm/fused.js";

export interface Desk {
  hear(text: string): void;
  turn(): number;
  texts(): string[];
  binaries(): Uint8Array[];
}

/** What workers use of a module. */
interface Engine {
  default(source?: { module_or_path: unknown; memory: unknown }): Promise<unknown>;
  Desk: new (scene: string, helpers: number) => Desk;
  /** With threads: the module and its memory, and what a helper does with them, for ever. */
  shared?(): unknown[];
  serve?(): void;
}

const MODULES = import.meta.glob<Engine>("../../../../taffeta-wasm/npm/{plain,fused,threads}/taffeta_wasm.js");
const path = (kind: string) => `../../../../taffeta-wasm/npm/${kind}/taffeta_wasm.js`;

/** The quickest one that works here: threads need a page that may share memory. */
export function kind(): string {
  if (!fuses()) return "plain";
  return globalThis.crossOriginIsolated && path("threads") in MODULES ? "threads" : "fused";
}

export const engine = (kind: string): Promise<Engine> => MODULES[path(kind)]!();
