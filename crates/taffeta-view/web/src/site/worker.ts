// The engine on a thread of its own: it hands on what the page sends, computes what is due, and sends back what the session says.

import init, { Desk } from "taffeta-engine";

/** The page is told of a frame that takes longer than this [ms]. */
const LONG = 500;

let desk: Desk;
let awaited: Int32Array | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let begun = 0;
let told = false;
let status = "{}";
const soon = new MessageChannel();

const post = (message: string | ArrayBuffer, moved: Transferable[] = []) => postMessage(message, { transfer: moved });

// The engine asks this between sub-steps.
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

onmessage = async ({ data }: MessageEvent<string | { scene: string; awaited: Int32Array | null }>) => {
  if (typeof data !== "string") {
    await init();
    awaited = data.awaited;
    desk = new Desk(data.scene);
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
