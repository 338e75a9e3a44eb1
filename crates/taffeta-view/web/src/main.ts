// The page: controls wired to messages, messages to what is shown.

import "./style.css";
import { COLOURINGS, EDGES, MAPS, type Colouring, type Edges } from "./colours";
import { Film } from "./film";
import { Gallery } from "./gallery";
import { Hands, TOOLS } from "./hands";
import { Keys } from "./keys";
import { Plots } from "./plots";
import { Link, fabricKeys, type Frame, type Hello, type Json, type Pages, type Status, type Table, type Vector } from "./protocol";
import { Stage } from "./stage";
import { kept, keep } from "./memory";
import { ENDED, PART } from "#wire";
import { certificateWords, figures } from "./words";

const by = <T extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as T;
const select = (id: string) => by<HTMLSelectElement>(id);
const input = (id: string) => by<HTMLInputElement>(id);

const SPEEDS: [string, number | null][] = [["⅒×", 0.1], ["¼×", 0.25], ["½×", 0.5], ["1×", 1], ["2×", 2], ["4×", 4], ["max", null]];

/** The largest picture [pixels on a side]. */
const LARGEST = 8192;

let hello: Hello | null = null;
let status: Status | null = null;
let connected = false;
let control = false;
let choice = "";

/** Over the stage, where there is nothing else to see. */
function sayOver(title: string, ...lines: readonly string[]): void {
  const line = (tag: string, text: string) => Object.assign(document.createElement(tag), { textContent: text });
  by("words").hidden = title === "";
  by("words").replaceChildren(line("h2", title), ...lines.map((text) => line("p", text)));
}

function makeStage(): Stage {
  try {
    return new Stage(by<HTMLCanvasElement>("canvas"), by("legend"), displayed);
  } catch (error) {
    document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
    document.querySelectorAll<HTMLButtonElement>("button, select, input").forEach((element) => (element.disabled = true));
    sayOver("This browser draws nothing in three dimensions", "WebGL 2 is off or missing here. Turn on hardware acceleration in its settings, or open this address in another browser.",
      "taffeta run and taffeta render need no browser.");
    throw error;
  }
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const stage = makeStage();
const plots = new Plots(by("plots"));
const link = new Link({
  hello(told) {
    hello = told;
    fill(select("method"), told.methods.map(({ name, about }) => [name, name, about]));
    fill(select("compare"), [["", "nothing", "one method alone"], ...told.methods.map(({ name, about }) => [name, name, about] as Option)]);
    fill(select("threads"), Array.from({ length: told.cores }, (_, k) => [String(k + 1), String(k + 1), ""]));
  },
  status: showStatus,
  pages: showPages,
  shape(shape) {
    // Lines of other methods do not belong in the same plots.
    if (stage.shape?.methods.join() !== shape.methods.join()) plots.restart();
    stage.setShape(shape);
    showPins();
    labelSides(shape.methods);
  },
  frame: (frame) => stage.setFrame(frame),
  file: (name, bytes) => download(new Blob([bytes]), name),
  notice,
  connected(now) {
    // Before there was a connection there is nothing to lose.
    if (connected && !now) showEnd();
    else if (now) sayOver("");
    connected = now;
    showPages({ control: false, watching: 0 });
  },
});
const hands = new Hands(by<HTMLCanvasElement>("canvas"), stage, link);
const gallery = new Gallery(by<HTMLDialogElement>("gallery-box"), by("gallery-list"), (choice) => link.tell({ do: "open", choice }));
const keys = new Keys(by("keys"), input("keys-filter"), (key, value) => change(key, value));

type Option = [value: string, text: string, title: string];

function fill(box: HTMLSelectElement, options: Option[]): void {
  box.replaceChildren(...options.map(([value, text, title]) => Object.assign(new Option(text, value), { title })));
}

/** Keys with the values that they had before they were changed here, the newest last. */
let undone: { key: string; value: Json }[] = [];

/** What the scene has at a key such as `cloth[0].sheet.rows`; null where it has nothing. */
function valueAt(scene: Table, key: string): Json {
  const steps = key.match(/"[^"]*"|[^.[\]]+/g) ?? [];
  const step = (value: Json, name: string) => (value as Table | null)?.[name.replace(/"/g, "")] ?? null;
  return steps.reduce<Json>(step, scene);
}

function change(key: string, value: Json): Promise<unknown> {
  const before = status?.scene ? valueAt(status.scene, key) : null;
  const done = link.ask({ do: "set", key, value });
  done.then(() => remember(key, before), (error: Error) => notice(error.message, true));
  return done;
}

function remember(key: string, value: Json): void {
  // A slider that is drawn along is one change.
  if (undone.at(-1)?.key !== key) undone.push({ key, value });
  input("undo").disabled = !control;
}

function undo(): void {
  const last = undone.pop();
  if (last) link.tell({ do: "set", ...last });
  input("undo").disabled = undone.length === 0;
}

// --- what is told

function showStatus(told: Status): void {
  status = told;
  document.body.dataset.live = String(told.live);
  if (told.choice !== choice) {
    choice = told.choice;
    plots.restart();
    undone = [];
    input("undo").disabled = true;
    stage.camera.userData.start = (told.scene?.camera ?? null) as object | null;
    stage.reframe();
    const seen = kept("camera") as { choice: string; position: Vector; target: Vector } | null;
    if (seen?.choice === choice) stage.lookFrom(seen.position, seen.target);
  }
  gallery.show(told.choices, told.choice);
  const recordings = told.choices.map(({ id, title, recording }): Option => [id, recording ? `▶ ${id}` : id, title]);
  fill(select("choice"), recordings);
  select("choice").value = told.choice;
  document.title = `${told.choice} – Taffeta`;
  by("play").setAttribute("aria-pressed", String(told.playing));
  by("play").setAttribute("aria-label", told.playing ? "Pause" : "Play");
  select("speed").value = String(told.speed);
  select("threads").value = String(told.threads);
  select("compare").value = told.compare ?? "";
  by("computing").hidden = !told.computing;
  by("record").setAttribute("aria-pressed", String(told.recording !== null));
  by("record").lastElementChild!.textContent = told.recording === null ? "Record" : "Stop";
  input("timeline").max = String(Math.max(0, (told.frames ?? 1) - 1));
  if (told.damage) notice(told.damage, true);
  if (hello && told.scene) showScene(hello, told.scene, told.changed);
  showPins();
}

function showScene(hello: Hello, scene: Table, changed: string[]): void {
  const solver = scene.solver as { method: string; tolerance: number };
  select("method").value = solver.method;
  if (document.activeElement !== input("tolerance")) input("tolerance").value = String(Number((100 * solver.tolerance).toPrecision(12)));
  const fabrics = [...Object.keys((scene.fabrics ?? {}) as Table), ...hello.fabrics.map((fabric) => fabric.name)];
  const about = (name: string) => hello.fabrics.find((fabric) => fabric.name === name)?.about ?? "of this scene";
  fill(select("fabric"), [...new Set(fabrics)].map((name) => [name, name, about(name)]));
  // Pieces of several fabrics have none in common.
  const [first, ...others] = new Set(fabricKeys(scene).map(({ fabric }) => fabric));
  select("fabric").value = others.length === 0 ? (first ?? "") : "";
  showWind((scene.air as { wind: Vector }).wind);
  keys.show(hello, scene, changed);
}

function showPages({ control: mine, watching }: Pages): void {
  control = mine;
  hands.enabled = control && (status?.live ?? true);
  document.querySelectorAll<HTMLButtonElement | HTMLInputElement | HTMLSelectElement>("header select, #cancel, .card, footer :is(button, input, select), aside .live :is(select, input:not([type=search])), #choice")
    .forEach((element) => (element.disabled = !control && !["picture", "film", "glb", "usdz", "share"].includes(element.id)));
  const words = !connected ? "no connection to the program" : control ? (watching > 1 ? `${watching} pages look on` : "") : "looking on: another page controls";
  if (control && location.hash.length > 1) void follow();
  by("link").textContent = words;
  by("link").classList.toggle("bad", !connected);
  by("take").hidden = !connected || control;
}

function showPins(): void {
  if (!status || !stage.shape) return;
  const freed = new Set(status.freed);
  const own = Array.from((stage.shape.arrays.get("pinned") ?? []) as Uint32Array);
  hands.held = new Set(status.held);
  hands.pinned = new Set(own.filter((particle) => !freed.has(particle)));
  hands.enabled = control && status.live;
  stage.setPins([...hands.pinned].filter((particle) => !hands.held.has(particle)), status.held);
}

function labelSides(methods: string[]): void {
  const beside = by("canvas").clientWidth >= by("canvas").clientHeight;
  by("sides").replaceChildren(...(methods.length < 2 ? [] : methods).map((method, k) => {
    const label = document.createElement("span");
    label.textContent = `${"AB"[k]}  ${method}`;
    label.style.left = beside ? `calc(${50 * k}% + .7rem)` : ".7rem";
    if (!beside) label.style.bottom = `calc(${50 * (1 - k)}% + .4rem)`;
    return label;
  }));
}

/** When the first frame was on the screen, from when the page was asked for [ms]. */
let firstPicture = 0;

/** A frame is on the screen: the program is told, and the numbers follow. */
function displayed(frame: Frame): void {
  firstPicture ||= performance.now();
  link.got(frame.serial);
  const side = frame.sides[0], shape = stage.shape;
  if (!side || !shape) return;
  film.add();
  plots.add(frame, shape.tolerance, shape.methods);
  const rate = 1000 / stage.meanInterval;
  by("clock").innerHTML = `${frame.time.toFixed(2)} s<span> · frame ${frame.frame}</span>`;
  by("rate").textContent = `${shape.particles.toLocaleString("en")} particles${status?.playing ? `\u2002${rate.toFixed(0)} pictures/s` : ""}`;
  if (document.activeElement !== input("timeline") || status?.playing) input("timeline").value = String(frame.frame);
  // A frame that is drawn after the program has ended vouches for nothing.
  if (connected) showCertificate(frame);
}

let certificateShown = "";

function showCertificate(frame: Frame): void {
  const shape = stage.shape!, box = by("certificate");
  const all = frame.sides.map((side) => certificateWords(frame.frame, shape.tolerance, side.report, side.certificate, status?.live ?? true));
  // The page is laid out anew only where the words have changed.
  const told = JSON.stringify(all);
  if (told === certificateShown) return;
  certificateShown = told;
  // The worse of two sides is the verdict.
  const worst = all.find((words) => words.held === false) ?? all.find((words) => words.held === null) ?? all[0]!;
  box.classList.toggle("held", worst.held === true);
  box.classList.toggle("missed", worst.held === false);
  box.querySelector(".verdict")!.textContent = worst.verdict;
  box.querySelector("ul")!.replaceChildren(...all.flatMap((words, k) => words.lines.map(({ text, tone }) => {
    const line = document.createElement("li");
    line.className = tone;
    line.textContent = all.length > 1 ? `${"AB"[k]}: ${text}` : text;
    return line;
  })));
}

/** What is seen is the last there was, and nobody vouches for it any more. */
function showEnd(): void {
  sayOver(...ENDED);
  const box = by("certificate");
  box.classList.remove("held", "missed");
  box.querySelector(".verdict")!.textContent = "No connection";
  box.querySelector("ul")!.replaceChildren();
  certificateShown = "";
}

function notice(text: string, bad: boolean): void {
  const box = by("notices");
  const line = document.createElement("p");
  line.textContent = text;
  line.className = bad ? "bad" : "";
  box.append(line);
  while (box.children.length > 4) box.firstElementChild!.remove();
  setTimeout(() => line.remove(), bad ? 9000 : 4500);
}

// --- wind: speed, heading and rise stand for the three numbers of the scene

let windMoved = -Infinity;

function showWind([x, y, z]: Vector): void {
  // While a slider is under way the program's answers would pull it back.
  if (performance.now() - windMoved < 600) return;
  const flat = Math.hypot(x, z), speed = Math.hypot(flat, y);
  input("wind-speed").value = String(speed);
  if (flat > 1e-9) input("wind-heading").value = String((Math.atan2(z, x) * 180) / Math.PI);
  if (speed > 1e-9) input("wind-rise").value = String((Math.atan2(y, flat) * 180) / Math.PI);
  windWords();
}

function windWords(): void {
  by("wind-speed-out").textContent = `${figures(Number(input("wind-speed").value))} m/s`;
  by("wind-heading-out").textContent = `${Number(input("wind-heading").value).toFixed(0)}°`;
  by("wind-rise-out").textContent = `${Number(input("wind-rise").value).toFixed(0)}°`;
}

let windWaits = false;

function blow(): void {
  windMoved = performance.now();
  windWords();
  if (windWaits) return;
  windWaits = true;
  setTimeout(() => {
    windWaits = false;
    const [speed, heading, rise] = ["wind-speed", "wind-heading", "wind-rise"].map((id) => Number(input(id).value)) as Vector;
    const [h, r] = [(heading * Math.PI) / 180, (rise * Math.PI) / 180];
    const wind = [speed * Math.cos(r) * Math.cos(h), speed * Math.sin(r), speed * Math.cos(r) * Math.sin(h)];
    void change("air.wind", wind.map((c) => Number(c.toFixed(6))));
  }, 60);
}

// --- what is asked

function download(content: Blob | string, name: string): void {
  const blob = typeof content === "string" ? new Blob([content], { type: "application/toml" }) : content;
  const anchor = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
}

const plainName = () => (choice.split("/").pop() ?? "scene").replace(/\.\w+$/, "");

/** A picture of the window's size, or of the size that the user asks for. */
function savePicture(asks: boolean): void {
  const said = asks ? prompt("Width and height in pixels", "1920 × 1080") : `${innerWidth} ${innerHeight}`;
  const [width = 0, height = 0] = (said?.match(/\d+/g) ?? []).map(Number);
  if (said === null) return;
  if (!(width >= 16 && height >= 16 && width <= LARGEST && height <= LARGEST)) return notice(`a picture has 16 to ${LARGEST} pixels on each side`, true);
  void stage.picture(width, height).then((blob) => blob && download(blob, `${plainName()}-${stage.frame?.frame ?? 0}.png`));
}

const film = new Film(stage, (blob) => {
  by("film").setAttribute("aria-pressed", String(film.runs));
  by("film").lastElementChild!.textContent = film.runs ? "Stop" : "Film";
  if (blob) download(blob, `${plainName()}.${blob.type.includes("mp4") ? "mp4" : "webm"}`);
});

/** What is drawn as a file for other programs. */
async function exported(kind: "glb" | "usdz"): Promise<void> {
  const { written } = await import("./export");
  const blob = await written(stage.sides.map((side) => side.group), kind);
  download(blob, `${plainName()}-${stage.frame?.frame ?? 0}.${kind}`);
}

/** This page's address with the scene and all keys that were changed. */
function linkTo(): string {
  const changes = (status?.changed ?? []).map((key): [string, string] => [key, JSON.stringify(valueAt(status!.scene!, key))]);
  const address = new URL(location.href);
  address.search = "";
  address.hash = new URLSearchParams([["scene", choice], ...changes]).toString();
  return address.href;
}

/** Does what the address asks for, once there is a connection and control. */
async function follow(): Promise<void> {
  const asked = [...new URLSearchParams(location.hash.slice(1))];
  history.replaceState(null, "", location.href.split("#")[0]);
  for (const [key, value] of asked) {
    try {
      if (key === "scene") await link.ask({ do: "open", choice: value });
      else await change(key, JSON.parse(value) as Json);
    } catch (error) {
      if (key === "scene") notice((error as Error).message, true);
    }
  }
}

// Files that are dropped on the page: scenes, meshes, recordings.
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  for (const file of event.dataTransfer?.files ?? []) void dropped(file).catch((error: Error) => notice(error.message, true));
});

/** Sends a file part by part; the program opens it or says why not. */
async function dropped(file: File): Promise<void> {
  if (file.size > 1e6) notice(`reading ${file.name}`, false);
  const bytes = new Uint8Array(await file.arrayBuffer());
  for (let at = 0; at === 0 || at < bytes.length; at += PART) {
    const last = at + PART >= bytes.length;
    await link.ask({ do: "bring", name: file.name, at, part: inBase64(bytes.subarray(at, at + PART)), last });
  }
}

function inBase64(bytes: Uint8Array): string {
  let text = "";
  // A call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return btoa(text);
}

const actions: { [id: string]: (event?: MouseEvent) => void } = {
  play: () => link.tell({ do: status?.playing ? "pause" : "play" }),
  step: () => link.tell({ do: "step" }),
  back: () => link.tell({ do: "seek", frame: Math.max(0, (stage.frame?.frame ?? 0) - 1) }),
  reset: () => link.tell({ do: "reset" }),
  record: () => link.tell({ do: status?.recording === null ? "record" : "stop" }),
  take: () => link.tell({ do: "take" }),
  cancel: () => link.tell({ do: "pause" }),
  picture: (event) => savePicture(event?.shiftKey ?? false),
  film: () => film.toggle(),
  glb: (event) => (event?.shiftKey ? link.tell({ do: "export", format: "gltf" }) : void exported("glb")),
  usdz: (event) => (event?.shiftKey ? link.tell({ do: "export", format: "usdz" }) : void exported("usdz")),
  share: () => void navigator.clipboard.writeText(linkTo()).then(() => notice("the link is copied", false), () => notice(linkTo(), false)),
  save: () => void link.ask({ do: "save" }).then((text) => download(text ?? "", `${plainName()}.toml`), (error: Error) => notice(error.message, true)),
  gallery: () => by<HTMLDialogElement>("gallery-box").showModal(),
  undo,
  "hint-close": () => closeHint(),
  help: () => by<HTMLDialogElement>("help-box").showModal(),
  theme: () => {
    setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    keep("theme", document.documentElement.dataset.theme!);
  },
};
for (const [id, action] of Object.entries(actions)) by(id).addEventListener("click", (event) => action(event));

const changes: { [id: string]: (value: string) => void } = {
  choice: (value) => link.tell({ do: "open", choice: value }),
  method: (value) => void change("solver.method", value),
  compare: (value) => link.tell({ do: "compare", method: value || null }),
  threads: (value) => link.tell({ do: "threads", count: Number(value) }),
  speed: (value) => link.tell({ do: "speed", factor: value === "null" ? null : Number(value) }),
  fabric: (value) => status?.scene && fabricKeys(status.scene).forEach(({ key }) => void change(key, value)),
  tolerance: (value) => void change("solver.tolerance", Number(value) / 100),
  colour: (value) => {
    stage.setColouring(value as Colouring);
    keep("colour", value);
  },
  edges: (value) => {
    stage.setEdges(value as Edges);
    keep("edges", value);
  },
  shadows: () => {
    stage.setShadows(input("shadows").checked);
    keep("shadows", input("shadows").checked);
  },
};
for (const [id, action] of Object.entries(changes)) by(id).addEventListener("change", () => action(input(id).value));
for (const id of ["wind-speed", "wind-heading", "wind-rise"]) by(id).addEventListener("input", blow);
input("timeline").addEventListener("input", () => link.tell({ do: "seek", frame: Number(input("timeline").value) }));

fill(select("speed"), SPEEDS.map(([text, value]) => [String(value), text, ""]));
fill(select("colour"), COLOURINGS.map((name) => [name, name, MAPS[name]]));
fill(select("edges"), EDGES.map((name) => [name, name, ""]));

// What was chosen before a reload.
for (const id of ["colour", "edges"]) {
  const value = kept(id);
  if (typeof value !== "string" || ![...select(id).options].some((option) => option.value === value)) continue;
  select(id).value = value;
  changes[id]!(value);
}
if (kept("shadows") === false) {
  input("shadows").checked = false;
  stage.setShadows(false);
}
stage.controls.addEventListener("end", keepCamera);
// It may have stepped back since.
addEventListener("pagehide", () => (kept("camera") as { choice: string } | null)?.choice === choice && keepCamera());

function keepCamera(): void {
  keep("camera", { choice, position: stage.camera.position.toArray(), target: stage.controls.target.toArray() });
}

// Who comes for the first time is told what hands can do.
by("hint").hidden = kept("hinted") === true;
function closeHint(): void {
  by("hint").hidden = true;
  keep("hinted", true);
}
by("canvas").addEventListener("pointerdown", closeHint, { once: true });

for (const tool of TOOLS) {
  const button = document.createElement("button");
  button.textContent = tool;
  // A recording can only be looked at.
  if (tool !== "Turn") button.className = "live";
  button.setAttribute("role", "radio");
  button.setAttribute("aria-checked", String(tool === hands.tool));
  button.addEventListener("click", () => {
    hands.tool = tool;
    by("tools").querySelectorAll("[role=radio]").forEach((other) => other.setAttribute("aria-checked", String(other === button)));
  });
  by("tools").append(button);
}
const all = Object.assign(document.createElement("button"), { textContent: "See all", title: "See everything (f)", className: "sep" });
all.addEventListener("click", () => stage.frameAll());
by("tools").append(all);

const VIEWS: [name: string, direction: Vector][] = [["Front", [0, 0.12, 1]], ["Side", [1, 0.12, 0]], ["Above", [0, 1, 0.001]]];
for (const [k, [name, direction]] of VIEWS.entries()) {
  const button = Object.assign(document.createElement("button"), { textContent: name, title: `From ${name === "Above" ? "above" : `the ${name.toLowerCase()}`} (${k + 1})` });
  button.addEventListener("click", () => look(direction));
  by("tools").append(button);
}

function look(direction: Vector): void {
  stage.frameAll(null, direction);
  keepCamera();
}

function nextOf(id: string): void {
  const box = select(id);
  box.selectedIndex = (box.selectedIndex + 1) % box.options.length;
  box.dispatchEvent(new Event("change"));
}

const shortcuts: { [key: string]: () => void } = {
  " ": () => actions.play!(),
  ".": () => actions.step!(),
  ",": () => status?.live === false && actions.back!(),
  r: () => actions.reset!(),
  f: () => stage.frameAll(),
  c: () => nextOf("colour"),
  w: () => nextOf("edges"),
  "?": () => actions.help!(),
  ...Object.fromEntries(VIEWS.map(([, direction], k) => [String(k + 1), () => look(direction)])),
  "+": () => zoom(0.9),
  "=": () => zoom(0.9),
  "-": () => zoom(1 / 0.9),
};

function zoom(factor: number): void {
  stage.camera.position.sub(stage.controls.target).multiplyScalar(factor).add(stage.controls.target);
  stage.touch();
}

/** Arrows turn the view, with Shift they move it. */
function turn(key: string, moves: boolean): boolean {
  const ways: { [key: string]: [number, number] } = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const way = ways[key];
  if (!way) return false;
  const { camera, controls } = stage;
  const arm = camera.position.clone().sub(controls.target);
  if (moves) {
    const shift = arm.clone().set(way[0], way[1], 0).multiplyScalar(0.05 * arm.length()).applyQuaternion(camera.quaternion);
    controls.target.add(shift);
    camera.position.add(shift);
  } else {
    const spherical = Math.acos(arm.y / arm.length()) - 0.08 * way[1];
    const length = arm.length(), polar = Math.min(Math.PI - 0.05, Math.max(0.05, spherical)), azimuth = Math.atan2(arm.x, arm.z) + 0.08 * way[0];
    camera.position.set(Math.sin(polar) * Math.sin(azimuth), Math.cos(polar), Math.sin(polar) * Math.cos(azimuth)).multiplyScalar(length).add(controls.target);
  }
  stage.touch();
  return true;
}

// A button that is clicked does not catch the keys of the page; one that is reached by Tab does.
document.addEventListener("mousedown", (event) => {
  if ((event.target as HTMLElement).closest("button, summary")) event.preventDefault();
});

document.addEventListener("keydown", (event) => {
  const target = event.target as HTMLElement;
  if (target.closest("dialog")) return;
  if ((event.ctrlKey || event.metaKey) && event.key === "z" && control && !target.matches("input")) {
    undo();
    return event.preventDefault();
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  // Where one types or slides, keys are for that; Space presses a button.
  if (target.matches("input, select, textarea")) return;
  if (target.matches("button, summary") && (event.key === " " || event.key === "Enter")) return;
  const onCanvas = target === by("canvas") || target === document.body;
  if ((onCanvas && hands.key(event.key)) || (onCanvas && turn(event.key, event.shiftKey))) return event.preventDefault();
  const action = shortcuts[event.key];
  if (action && (control || "fcw?+=-123".includes(event.key))) {
    action();
    event.preventDefault();
  }
});

// --- light and dark

function setTheme(theme: string): void {
  document.documentElement.dataset.theme = theme;
  stage.retheme();
  plots.redraw();
}
// Who has chosen one keeps it.
dark.addEventListener("change", () => kept("theme") === null && setTheme(dark.matches ? "dark" : "light"));
setTheme(kept("theme") === "dark" || (kept("theme") !== "light" && dark.matches) ? "dark" : "light");
new ResizeObserver(() => stage.shape && labelSides(stage.shape.methods)).observe(by("canvas"));

// For tests, and for the curious at the console.
Object.assign(window, { taffeta: { stage, link, get status() { return status; }, get firstPicture() { return firstPicture; } } });
