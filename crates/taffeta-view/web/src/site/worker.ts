// The engine beside the page: it hands on what the page sends, has computed what is due, and sends back what the session says.

import { engine, kind, type Desk } from "./engine";
import Helper from "./helper?worker";

/** The page is told of a frame that takes longer than this [ms]. */
const LONG = 500;

let desk: Desk;
let awaited: Int32Array | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let begun = 0;
let told = false;
let status = "{}";
const soon = new MessageChannel();

/** Helpers at most: more threads are of little use. */
const MOST_HELPERS = 8;

const post = (message: string | ArrayBuffer, moved: Transferable[] = []) => postMessage(message, { transfer: moved });

// An engine with one thread asks this between sub-steps.
Object.assign(globalThis, {
  taffetaIsAwaited() {
    if (!told && performance.now() - begun > LONG) {
      told = true;
      post(JSON.stringify({ ...JSON.parse(status), computing: true }));
    }
    return awaited !== null && Atomics.load(awaited, 0) === 1;
  },
});

function flush(): void {
  for (const text of desk.texts()) {
    if (text.includes('"kind":"status"')) status = text;
    post(text);
  }
  for (const { buffer } of desk.binaries()) post(buffer as ArrayBuffer, [buffer as ArrayBuffer]);
}

function turn(): void {
  clearTimeout(timer);
  [begun, told] = [performance.now(), false];
  const wait = desk.turn();
  if (told) post(status);
  flush();
  // Timers wait for 4 ms at least, messages do not; and what the page has sent meanwhile comes first.
  if (wait < 1) soon.port2.postMessage(null);
  else timer = setTimeout(turn, wait);
}
soon.port1.onmessage = turn;

/** Starts workers that share the memory of the module, and waits until they have it. */
async function helpers(shared: unknown[]): Promise<number> {
  const count = Math.min(navigator.hardwareConcurrency, MOST_HELPERS);
  const ready = Array.from({ length: count }, () => new Promise<void>((done, failed) => {
    const helper = new Helper();
    helper.onmessage = ({ data }: MessageEvent<string>) => (data === "ready" ? done() : turn());
    helper.onerror = ({ message }) => (failed(new Error(message)), setTimeout(() => { throw new Error(message); }));
    helper.postMessage(shared);
  }));
  await Promise.all(ready);
  return count;
}

onmessage = async ({ data }: MessageEvent<string | { scene: string; awaited: Int32Array | null }>) => {
  if (typeof data !== "string") {
    const { default: init, Desk, shared } = await engine(kind());
    await init();
    awaited = data.awaited;
    desk = new Desk(data.scene, shared ? await helpers(shared()) : 0);
    flush();
    turn();
    return;
  }
  if (awaited) Atomics.store(awaited, 0, 0);
  desk.hear(data);
  flush();
  clearTimeout(timer);
  timer = setTimeout(turn);
};
