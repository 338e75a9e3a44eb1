// How a page that has the engine in itself is connected to it: by a worker, which computes and does not hear while it does.

import type { Wire } from "../wire";
import Engine from "./worker?worker";

/** After so long without an answer the worker is asked to give up the frame that it computes [ms]. */
const PATIENCE = 150;

/** So many bytes of a file go into a message. */
export const PART = 1 << 20;

export const ENDED = ["The engine has stopped", "What you see is its last frame.", "Reload this page to start it again."] as const;

export function connect(heard: (data: string | ArrayBuffer) => void, connected: (now: boolean) => void): Wire {
  // Only pages that are isolated from all others may share memory. Elsewhere requests wait for the frame that is computed.
  const awaited = globalThis.crossOriginIsolated ? new Int32Array(new SharedArrayBuffer(4)) : null;
  const engine = new Engine();
  let unanswered = 0, timer: ReturnType<typeof setTimeout> | undefined, works = true;
  engine.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
    if (typeof data === "string" && /"kind":"(reply|error)"/.test(data)) {
      unanswered = Math.max(0, unanswered - 1);
      clearTimeout(timer);
    }
    heard(data);
  };
  engine.onerror = (event) => {
    console.warn(event.message);
    works = false;
    connected(false);
  };
  engine.postMessage({ scene: new URLSearchParams(location.search).get("scene") ?? "flag", awaited });
  // Before anybody listens to it there is no connection.
  queueMicrotask(() => connected(true));
  return {
    send(text) {
      if (!works) return false;
      engine.postMessage(text);
      // Frames that were shown are not answered, and hands lead without waiting.
      if (awaited && !/"do":"(got|hold|free)"/.test(text)) {
        unanswered += 1;
        clearTimeout(timer);
        timer = setTimeout(() => unanswered > 0 && Atomics.store(awaited, 0, 1), PATIENCE);
      }
      return true;
    },
  };
}
