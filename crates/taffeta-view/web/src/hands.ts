// What hands do to the cloth: grab, pin, throw, by pointer, touch and keyboard.

import * as THREE from "three";
import type { Link } from "./protocol";
import type { Pick, Stage } from "./stage";

export const TOOLS = ["Grab", "Pin", "Ball", "Turn"] as const;
export type Tool = (typeof TOOLS)[number];

/** Radius of a ball and its way in a second, in radii of what is seen. */
const BALL_RADIUS = 0.12;
const BALL_SPEED = 4;
/** Who presses beside the cloth, no further than this, means the cloth [CSS pixels]. */
const NEAR = 24;
/** Of more particles than this the pointer does not tell whether it could grab. */
const MOST_HOVERED = 30_000;
/** How far one press of an arrow leads a point, in heights of the view. */
const NUDGE = 0.03;

interface Grip { particle: number; side: number; plane: THREE.Plane; offset: THREE.Vector3; place: THREE.Vector3; keeps: boolean }

export class Hands {
  tool: Tool = "Grab";
  /** Particles that hands hold and that the scene pins, as last told. */
  held = new Set<number>();
  pinned = new Set<number>();
  /** Whether something may be touched at all. */
  enabled = false;
  private grip: Grip | null = null;
  private byKeyboard = false;
  private leading = false;
  private hovering = false;
  /** The point that is marked under the pointer, and where the pointer was. */
  private marked: { pick: Pick; x: number; y: number } | null = null;

  constructor(private readonly canvas: HTMLCanvasElement, private readonly stage: Stage, private readonly link: Link) {
    // Before the controls of the camera, so that they can be held off.
    canvas.addEventListener("pointerdown", (event) => this.down(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerleave", () => this.grip ?? this.mark(null));
    for (const name of ["pointerup", "pointercancel"] as const) canvas.addEventListener(name, () => this.up());
  }

  /** Keys that are about hands; says whether it was one. */
  key(key: string): boolean {
    if (!this.enabled) return false;
    if (key === "b") return this.throwBall(this.canvas.clientWidth / 2, this.canvas.clientHeight / 2), true;
    if (key === "g") return this.grip ? this.up() : this.grabMiddle(), true;
    if (!this.grip || !this.byKeyboard) return false;
    if (key === "p") {
      this.grip.keeps = true;
      return this.up(), true;
    }
    if (key === "Enter" || key === "Escape") return this.up(), true;
    const step = this.nudge(key);
    if (step) {
      this.grip.place.add(step);
      this.lead();
    }
    return step !== null;
  }

  private at(event: PointerEvent): [number, number] {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  private down(event: PointerEvent): void {
    // With a second finger the view is meant.
    if (!event.isPrimary) return this.up();
    if (!this.enabled || event.button !== 0 || event.shiftKey || event.ctrlKey || event.metaKey || this.tool === "Turn") return;
    const [x, y] = this.at(event);
    const pick = this.tool === "Ball" ? null : this.meant(x, y);
    if (!pick && this.tool !== "Ball") return;
    // Further fingers still move the view.
    this.stage.controls.enableRotate = false;
    if (!pick) return this.throwBall(x, y);
    this.canvas.setPointerCapture(event.pointerId);
    if (this.tool === "Pin") return this.togglePin(pick.particle);
    this.grab(pick, false);
    // From where the pointer is, not from the particle beside it.
    const plane = this.grip!.plane;
    const on = this.stage.ray(x, y).ray.ray.intersectPlane(plane, new THREE.Vector3());
    if (on) this.grip!.offset.subVectors(pick.place, on);
  }

  /** The point of the cloth that is under a point of the canvas, or close by; else the one that is still marked there, since cloth that plays may have moved on. */
  private meant(x: number, y: number): Pick | null {
    const found = this.stage.pick(x, y) ?? this.stage.near(x, y, NEAR);
    if (found || !this.marked || Math.hypot(x - this.marked.x, y - this.marked.y) > NEAR) return found;
    const { particle, side } = this.marked.pick;
    const cloth = this.stage.sides[side]?.cloth;
    return cloth && particle < (this.stage.shape?.particles ?? 0) ? { particle, side, place: cloth.place(particle) } : null;
  }

  private mark(pick: Pick | null, x = 0, y = 0): void {
    this.marked = pick && { pick, x, y };
    this.stage.setReach(pick);
  }

  private move(event: PointerEvent): void {
    const [x, y] = this.at(event);
    if (event.buttons === 0) this.hover(x, y);
    if (this.grip && !this.byKeyboard) {
      const on = this.stage.ray(x, y).ray.ray.intersectPlane(this.grip.plane, new THREE.Vector3());
      if (on) this.grip.place.addVectors(on, this.grip.offset);
      this.lead();
    }
  }

  /** The pointer shows what it could do here, looked up once a picture. */
  private hover(x: number, y: number): void {
    if (this.hovering || (this.stage.shape?.particles ?? 0) > MOST_HOVERED) return;
    this.hovering = true;
    requestAnimationFrame(() => {
      this.hovering = false;
      if (this.grip) return;
      this.marked = null;
      const grabs = this.enabled && (this.tool === "Grab" || this.tool === "Pin") ? this.meant(x, y) : null;
      this.canvas.classList.toggle("hand", grabs !== null);
      this.mark(grabs, x, y);
    });
  }

  private up(): void {
    this.stage.controls.enableRotate = true;
    this.canvas.classList.remove("holding");
    const grip = this.grip;
    this.grip = null;
    if (!grip) return;
    this.stage.setHand(null);
    this.mark(null);
    if (grip.keeps) this.link.tell({ do: "hold", particle: grip.particle, place: grip.place.toArray() });
    else this.link.tell({ do: "free", particle: grip.particle });
  }

  /** Takes hold. What was pinned before stays pinned where it is let go. */
  private grab(pick: Pick, byKeyboard: boolean): void {
    const towards = this.stage.camera.getWorldDirection(new THREE.Vector3());
    this.grip = {
      particle: pick.particle,
      side: pick.side,
      plane: new THREE.Plane().setFromNormalAndCoplanarPoint(towards, pick.place),
      offset: new THREE.Vector3(),
      place: pick.place.clone(),
      keeps: this.held.has(pick.particle) || this.pinned.has(pick.particle),
    };
    this.byKeyboard = byKeyboard;
    this.canvas.classList.add("holding");
    this.lead();
  }

  /** The point of the cloth nearest to the middle of the view. */
  private grabMiddle(): void {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    for (let radius = 0; radius < 0.5; radius += 0.04) {
      for (let turn = 0; turn < 12; turn++) {
        const angle = (turn / 12) * 2 * Math.PI;
        const pick = this.stage.pick(width * (0.5 + radius * Math.cos(angle)), height * (0.5 + radius * Math.sin(angle)));
        if (pick) return this.grab(pick, true);
      }
    }
  }

  private nudge(key: string): THREE.Vector3 | null {
    const ways: { [key: string]: [number, number, number] } = {
      ArrowLeft: [-1, 0, 0], ArrowRight: [1, 0, 0], ArrowUp: [0, 1, 0], ArrowDown: [0, -1, 0], PageUp: [0, 0, -1], PageDown: [0, 0, 1],
    };
    const way = ways[key];
    if (!way || !this.grip) return null;
    const { camera } = this.stage;
    const height = 2 * Math.tan((camera.fov * Math.PI) / 360) * camera.position.distanceTo(this.grip.place);
    return new THREE.Vector3(...way).multiplyScalar(NUDGE * height).applyQuaternion(camera.quaternion);
  }

  /** Sends where the hand is, once a picture however often it moves in between. */
  private lead(): void {
    if (this.leading) return;
    this.leading = true;
    requestAnimationFrame(() => {
      this.leading = false;
      if (!this.grip) return;
      // Of a page that is closed in mid-drag nothing stays but what was pinned before.
      const { particle, place, keeps } = this.grip;
      this.stage.setHand(this.grip);
      this.link.tell({ do: "hold", particle, place: place.toArray(), fleeting: !keeps });
    });
  }

  private togglePin(particle: number): void {
    const holds = this.held.has(particle) || this.pinned.has(particle);
    this.link.tell(holds ? { do: "free", particle } : { do: "hold", particle });
  }

  /** From the camera to the point that is meant, fast enough that gravity bends its way only a little. */
  private throwBall(x: number, y: number): void {
    const { ray } = this.stage.ray(x, y);
    const { camera, controls } = this.stage;
    const distance = camera.position.distanceTo(controls.target);
    const seen = distance * Math.tan((camera.fov * Math.PI) / 360);
    const from = ray.ray.at(0.35 * distance, new THREE.Vector3());
    const velocity = ray.ray.direction.clone().multiplyScalar(Math.min(BALL_SPEED * seen, 60));
    this.link.tell({ do: "ball", from: from.toArray(), velocity: velocity.toArray(), radius: BALL_RADIUS * seen });
  }
}
