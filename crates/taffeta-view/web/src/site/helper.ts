// A worker that is a thread of the engine: it has the module and its memory from the worker of the session, and computes for ever.

import { engine } from "./engine";

// The engine says this when a frame is there.
Object.assign(globalThis, { taffetaIsComputed: () => postMessage("computed") });

onmessage = async ({ data: [module, memory] }: MessageEvent<unknown[]>) => {
  const { default: init, serve } = await engine("threads");
  await init({ module_or_path: module, memory });
  postMessage("ready");
  serve!();
};
