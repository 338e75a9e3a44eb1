// The cloth in a notebook: the stage of the page, fed by the kernel through anywidget, without a server.

import * as THREE from "three";
import { COLOURINGS, type Colouring } from "./colours";
import { unpack, type Frame } from "./protocol";
import { Stage } from "./stage";
import { percent } from "./words";

/** What anywidget hands over of the kernel. */
interface Model {
  get(key: string): unknown;
  send(message: object): void;
  on(event: "msg:custom", heard: (message: { error?: string }, buffers: DataView[]) => void): void;
  off(event: "msg:custom"): void;
}

const STYLE = `
.taffeta { font: 13px system-ui, sans-serif; --ink: #222; --sky-top: #dfe6ee; --sky-low: #f5f6f8; }
.taffeta canvas { width: 100%; height: 100%; display: block; background: linear-gradient(#dfe6ee, #f5f6f8); touch-action: none; }
.taffeta .view { position: relative; } .taffeta .legend { position: absolute; left: 8px; bottom: 8px; color: #222; }
.taffeta .bar { display: flex; gap: 8px; align-items: center; padding: 4px 0; } .taffeta input { flex: 1; }
.taffeta .bad { color: #c62828; }`;

function made<K extends keyof HTMLElementTagNameMap>(tag: K, parent: HTMLElement, name = ""): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  element.className = name;
  parent.append(element);
  return element;
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const root = made("div", el, "taffeta");
  made("style", root).textContent = STYLE;
  const view = made("div", root, "view");
  view.style.height = `${model.get("height")}px`;
  const canvas = made("canvas", view), legend = made("div", view, "legend"), bar = made("div", root, "bar");
  const play = made("button", bar), slider = made("input", bar), colours = made("select", bar), words = made("span", bar);
  const frames = model.get("frames") as number | null;
  let playing = false, held: { particle: number; plane: THREE.Plane } | null = null;

  /** Asks for the next frame once the last is on the screen. */
  const ask = () => model.send(frames === null ? { do: "next" } : { do: "frame", frame: (Number(slider.value) + 1) % frames });
  const stage = new Stage(canvas, legend, (frame: Frame) => {
    slider.value = String(frame.frame);
    const certificate = frame.sides[0]?.certificate;
    const crossing = certificate ? certificate.cloth_cloth + certificate.cloth_body : 0;
    words.textContent = `frame ${frame.frame}` + (certificate ? `, strain ${percent(certificate.max_strain ?? 0)}, ${crossing} intersections` : "");
    words.className = crossing > 0 ? "bad" : "";
    if (playing) ask();
  });
  const turn = (on: boolean) => {
    playing = on;
    play.textContent = on ? "Pause" : "Play";
    if (on) ask();
  };
  play.onclick = () => turn(!playing);
  turn(false);
  Object.assign(slider, { type: "range", min: "0", max: String(Math.max((frames ?? 1) - 1, 0)), value: "0", hidden: frames === null });
  slider.oninput = () => model.send({ do: "frame", frame: Number(slider.value) });
  for (const name of COLOURINGS) made("option", colours).textContent = name;
  colours.onchange = () => stage.setColouring(colours.value as Colouring);

  // With Shift the cloth is held and led, in the plane of the picture.
  canvas.addEventListener("pointerdown", (event) => {
    const pick = event.shiftKey && frames === null ? stage.pick(event.offsetX, event.offsetY) : null;
    if (!pick) return;
    event.stopImmediatePropagation();
    canvas.setPointerCapture(event.pointerId);
    const facing = stage.camera.getWorldDirection(new THREE.Vector3());
    held = { particle: pick.particle, plane: new THREE.Plane().setFromNormalAndCoplanarPoint(facing, pick.place) };
    stage.controls.enabled = false;
  }, { capture: true });
  canvas.addEventListener("pointermove", (event) => {
    const place = held && stage.ray(event.offsetX, event.offsetY).ray.ray.intersectPlane(held.plane, new THREE.Vector3());
    if (place) model.send({ do: "hold", particle: held!.particle, place: place.toArray() });
  });
  canvas.addEventListener("pointerup", () => {
    if (held) model.send({ do: "release", particle: held.particle });
    held = null;
    stage.controls.enabled = true;
  });

  model.on("msg:custom", (message, buffers) => {
    if (message.error) {
      turn(false);
      words.textContent = message.error;
      words.className = "bad";
    }
    for (const { buffer, byteOffset, byteLength } of buffers ?? []) {
      const told = unpack(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer);
      if (told.kind === "shape") stage.setShape(told);
      else if (told.kind === "frame") stage.setFrame(told);
    }
  });
  model.send({ do: "start" });
  return () => {
    turn(false);
    model.off("msg:custom");
  };
}

export default { render };
