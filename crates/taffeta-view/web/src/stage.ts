// The three-dimensional picture: camera, light, one or two sides, and how good a picture the machine can afford.

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { Bodies } from "./bodies";
import { Cloth } from "./cloth";
import { Scales, drawLegend, type Colouring, type Edges } from "./colours";
import { pole } from "./pole";
import type { Frame, Shape, Vector } from "./protocol";
import { reachShadows, setShadows } from "./shadows";

/** From good to quick: pixels per point at most, size of the shadow map, in which pictures it is made anew, whether shadows have soft edges and threads are seen. */
const QUALITIES = [
  { pixels: 2, shadow: 2048, every: 1, soft: true, weave: true },
  { pixels: 1, shadow: 1024, every: 2, soft: false, weave: true },
  { pixels: 0.8, shadow: 512, every: 3, soft: false, weave: false },
  { pixels: 0.6, shadow: 512, every: 4, soft: false, weave: false },
  { pixels: 0.5, shadow: 0, every: 1, soft: false, weave: false },
];
/** A picture that takes longer than this on average is made more cheaply [ms]. */
const SLOW = 27;
/** After so long without a frame left out better pictures are tried [ms]; twice as long after every time that was too soon. */
const RECOVERS = 4000;
/** When nothing has moved for this long, the last picture is made as good as it can be [ms]. */
const STILL = 400;
/** Height of the view [degrees]. */
const FIELD = 35;

/** Colour of hands. */
const HAND = 0xe07b20;

/** A dot that is seen through everything. */
function marker(): THREE.Points<THREE.BufferGeometry, THREE.PointsMaterial> {
  const place = new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(3, 3));
  const dot = new THREE.Points(place, new THREE.PointsMaterial({ color: HAND, size: 9, sizeAttenuation: false, depthTest: false, transparent: true }));
  dot.frustumCulled = dot.visible = false;
  return dot;
}

/** Whether pictures are computed without a GPU: smooth edges then cost more than they are worth. */
function drawnBySoftware(): boolean {
  const context = document.createElement("canvas").getContext("webgl2");
  const about = context?.getExtension("WEBGL_debug_renderer_info");
  const name = context && about ? String(context.getParameter(about.UNMASKED_RENDERER_WEBGL)) : "";
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|softpipe/i.test(name);
}

interface Side { cloth: Cloth; bodies: Bodies; group: THREE.Group }

export interface Pick { side: number; particle: number; place: THREE.Vector3 }

export class Stage {
  readonly camera = new THREE.PerspectiveCamera(FIELD, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  /** Pictures made so far, and the mean time between them lately [ms]. */
  pictures = 0;
  meanInterval = 16;
  /** How good pictures are while something moves, and how good the last one was. */
  quality = 0;
  drawnQuality = -1;
  colouring: Colouring = "fabric";
  shape: Shape | null = null;
  frame: Frame | null = null;
  sides: Side[] = [];

  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly sun = new THREE.DirectionalLight(0xffffff, 2.0);
  private readonly sky = new THREE.HemisphereLight(0xffffff, 0x777a80, 1.0);
  private readonly floor: THREE.Mesh<THREE.CircleGeometry, THREE.ShadowMaterial>;
  private readonly grid = new THREE.GridHelper(1, 20);
  private readonly scales = new Scales();
  /** The point that could be grabbed, and the line from the one that is held to the hand that leads it. */
  private readonly reach = marker();
  private readonly lead = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: HAND, depthTest: false, transparent: true }));
  private pole: THREE.Mesh | null = null;
  private hand: { particle: number; side: number; place: THREE.Vector3 } | null = null;
  private edges: Edges = "none";
  private shadows = true;
  private framed = false;
  /** Whether the camera is the user's. Until then it steps back by itself where the cloth leaves what was framed. */
  private touched = false;
  private readonly seen = new THREE.Box3();
  private dirty = false;
  private fresh: Frame | null = null;
  private last = 0;
  private busy = 0;
  /** Since when no frame was left out, and how long that has to be before better pictures are tried [ms]. */
  private calmSince = 0;
  private recovers = RECOVERS;
  /** Whether the quality of now is one that was tried. */
  private tried = false;
  /** Size of what is drawn [CSS pixels]. */
  private size = { width: 1, height: 1 };
  /** Whether a picture is made whose pixels are counted. */
  private exact = false;
  private still: ReturnType<typeof setTimeout> | undefined;
  /** Share of the pictures lately before which frames were left out. */
  private leftOut = 0;

  constructor(private readonly canvas: HTMLCanvasElement, private readonly legend: HTMLElement, private readonly displayed: (frame: Frame) => void) {
    const software = drawnBySoftware();
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !software, alpha: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.autoClear = false;
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => {
      this.stayAbove();
      this.redraw();
    });
    for (const name of ["pointerdown", "wheel"]) canvas.addEventListener(name, () => (this.touched = true), { passive: true });
    this.floor = new THREE.Mesh(new THREE.CircleGeometry(1, 64).rotateX(-Math.PI / 2), new THREE.ShadowMaterial({ opacity: 0.22 }));
    this.floor.receiveShadow = true;
    this.sun.castShadow = true;
    this.sun.shadow.bias = -0.0006;
    (this.grid.material as THREE.Material).transparent = true;
    (this.grid.material as THREE.Material).opacity = 0.3;
    this.lead.frustumCulled = this.lead.visible = false;
    this.lead.geometry.setAttribute("position", new THREE.Float32BufferAttribute(6, 3));
    this.reach.renderOrder = this.lead.renderOrder = 1;
    this.scene.add(this.sky, this.sun, this.sun.target, this.floor, this.grid, this.reach, this.lead);
    this.quality = software ? 2 : 0;
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
  }

  setShape(shape: Shape): void {
    const same = this.shape?.particles === shape.particles && this.shape.methods.length === shape.methods.length;
    this.shape = shape;
    if (!same) {
      this.scales.restart();
      if (!this.touched) this.framed = false;
    }
    for (const side of this.sides) {
      this.scene.remove(side.group);
      side.cloth.dispose();
      side.bodies.dispose();
    }
    const extent = 0.5 * Math.max(1, this.camera.position.length());
    this.sides = shape.methods.map((_, number) => {
      const side = { cloth: new Cloth(shape, number), bodies: new Bodies(shape, number, extent), group: new THREE.Group() };
      side.group.add(side.cloth.group, side.bodies.group);
      this.scene.add(side.group);
      side.cloth.setEdges(this.edges, this.ink());
      return side;
    });
    document.body.dataset.sides = String(this.sides.length);
    this.drawnQuality = -1;
    this.resize();
  }

  /** Takes a frame; it is displayed with the next picture. */
  setFrame(frame: Frame): void {
    this.fresh = frame;
    this.redraw();
  }

  /** The next frame is looked at from where everything is seen. */
  reframe(): void {
    this.framed = this.touched = false;
  }

  /** The user moves the camera: it is theirs from now on. */
  touch(): void {
    this.touched = true;
    this.controls.update();
    this.redraw();
  }

  setEdges(edges: Edges): void {
    this.edges = edges;
    this.sides.forEach((side) => side.cloth.setEdges(edges, this.ink()));
    this.recolour();
  }

  setColouring(colouring: Colouring): void {
    this.colouring = colouring;
    this.recolour();
  }

  setShadows(shadows: boolean): void {
    this.shadows = shadows;
    this.drawnQuality = -1;
    this.redraw();
  }

  setPins(byScene: number[], byHand: number[]): void {
    this.sides.forEach((side) => side.cloth.setPins(byScene, byHand));
    this.redraw();
  }

  /** Shows which point could be grabbed. */
  setReach(pick: Pick | null): void {
    if (!pick && !this.reach.visible) return;
    this.reach.visible = pick !== null;
    if (pick) this.reach.position.copy(pick.place);
    this.redraw();
  }

  /** Shows where the hand is that leads a point. */
  setHand(hand: { particle: number; side: number; place: THREE.Vector3 } | null): void {
    this.hand = hand;
    this.lead.visible = hand !== null;
    this.drawHand();
    this.redraw();
  }

  private drawHand(): void {
    const cloth = this.hand && this.sides[this.hand.side]?.cloth;
    if (!this.hand || !cloth) return;
    const ends = this.lead.geometry.getAttribute("position") as THREE.BufferAttribute;
    ends.setXYZ(0, ...cloth.place(this.hand.particle).toArray());
    ends.setXYZ(1, ...this.hand.place.toArray());
    ends.needsUpdate = true;
    this.reach.visible = true;
    this.reach.position.copy(this.hand.place);
  }

  /** Light and lines follow the theme. */
  retheme(): void {
    const dark = document.documentElement.dataset.theme === "dark";
    this.sky.intensity = dark ? 0.8 : 1.0;
    this.floor.material.opacity = dark ? 0.45 : 0.22;
    (this.grid.material as THREE.LineBasicMaterial).color.set(dark ? 0x8a94a3 : 0x5b6470);
    this.sides.forEach((side) => side.cloth.setEdges(this.edges, this.ink()));
    this.redraw();
  }

  /** Asks for a picture; a page on which nothing changes makes none. */
  redraw(): void {
    if (this.dirty) return;
    this.dirty = true;
    requestAnimationFrame((now) => this.tick(now));
  }

  /** What of the cloth is under a point of the canvas [CSS pixels from its corner]. */
  pick(x: number, y: number): Pick | null {
    const { ray, side } = this.ray(x, y);
    const cloth = this.sides[side]?.cloth;
    if (!cloth || !this.shape) return null;
    cloth.group.updateMatrixWorld();
    const [hit] = ray.intersectObject(cloth.mesh);
    if (!hit?.face) return null;
    const corners = [hit.face.a, hit.face.b, hit.face.c];
    const distance = (particle: number) => cloth.place(particle).distanceToSquared(hit.point);
    const particle = corners.reduce((best, corner) => (distance(corner) < distance(best) ? corner : best));
    return { side, particle, place: cloth.place(particle) };
  }

  /** The particle that is drawn nearest to a point of the canvas, no further from it than `radius` [CSS pixels]. */
  near(x: number, y: number, radius: number): Pick | null {
    const { side } = this.ray(x, y);
    const cloth = this.sides[side]?.cloth;
    const view = this.views()[side];
    if (!cloth || !view || !this.shape) return null;
    const [best, place] = [{ particle: -1, distance: radius }, new THREE.Vector3()];
    const toView = new THREE.Matrix4().multiplyMatrices(this.camera.projectionMatrix, this.camera.matrixWorldInverse);
    for (let particle = 0; particle < this.shape.particles; particle++) {
      const at = cloth.place(particle, place).applyMatrix4(toView);
      const distance = Math.hypot(view.x + ((at.x + 1) / 2) * view.width - x, view.y + ((1 - at.y) / 2) * view.height - y);
      if (distance < best.distance) Object.assign(best, { particle, distance });
    }
    return best.particle < 0 ? null : { side, particle: best.particle, place: cloth.place(best.particle) };
  }

  /** The ray through a point of the canvas, and the side that it is on. */
  ray(x: number, y: number): { ray: THREE.Raycaster; side: number } {
    const side = this.views().findIndex((view) => x >= view.x && x < view.x + view.width && y >= view.y && y < view.y + view.height);
    const view = this.views()[Math.max(side, 0)]!;
    const ray = new THREE.Raycaster();
    const point = new THREE.Vector2((2 * (x - view.x)) / view.width - 1, 1 - (2 * (y - view.y)) / view.height);
    this.camera.updateMatrixWorld();
    ray.setFromCamera(point, this.camera);
    return { ray, side: Math.max(side, 0) };
  }

  /** Where a point of the world is on the canvas [CSS pixels]. */
  onCanvas(place: THREE.Vector3, side = 0): [number, number] {
    const view = this.views()[side] ?? this.views()[0]!;
    this.camera.updateMatrixWorld();
    const at = place.clone().project(this.camera);
    return [view.x + ((at.x + 1) / 2) * view.width, view.y + ((1 - at.y) / 2) * view.height];
  }

  /** Everything in view: from the scene's camera, where it has one, or from the front and above. */
  frameAll(camera?: { position: Vector; target: Vector; field_of_view?: number } | null, direction: Vector = [0.5, 0.36, 1]): void {
    const box = this.bounds();
    if (box.isEmpty()) return;
    this.seen.copy(box);
    this.camera.fov = FIELD;
    this.touched = Boolean(camera);
    if (camera) {
      this.camera.position.fromArray(camera.position);
      this.controls.target.fromArray(camera.target);
      this.camera.fov = camera.field_of_view ?? FIELD;
      this.light();
    } else this.fit(new THREE.Vector3(...direction));
  }

  /** The next frame is looked at from here. */
  lookFrom(position: Vector, target: Vector): void {
    this.camera.userData.start = { ...this.camera.userData.start, position, target };
  }

  /** Steps back where the cloth has left what was framed, as long as nobody else leads the camera. */
  private follow(): void {
    const cloth = this.clothBounds();
    if (this.touched || cloth.isEmpty() || this.seen.containsBox(cloth)) return;
    // A little more than needed, so that it does not happen at every frame.
    const more = cloth.clone().expandByVector(cloth.getSize(new THREE.Vector3()).multiplyScalar(0.08));
    this.seen.union(more);
    this.fit(this.camera.position.clone().sub(this.controls.target));
  }

  /** Looks at what was framed from a direction, from as near as all its corners allow. */
  private fit(direction: THREE.Vector3): void {
    const centre = this.seen.getCenter(new THREE.Vector3());
    const half = Math.tan((this.camera.fov * Math.PI) / 360);
    this.controls.target.copy(centre);
    this.camera.position.copy(direction).setLength(1).add(centre);
    this.camera.lookAt(centre);
    const turn = this.camera.quaternion.clone().invert();
    let distance = 0;
    for (let k = 0; k < 8; k++) {
      const side = (axis: "x" | "y" | "z", bit: number) => (k & bit ? this.seen.max : this.seen.min)[axis];
      const corner = new THREE.Vector3(side("x", 1), side("y", 2), side("z", 4)).sub(centre).applyQuaternion(turn);
      distance = Math.max(distance, corner.z + 1.12 * Math.max(Math.abs(corner.x) / this.camera.aspect, Math.abs(corner.y)) / half);
    }
    this.camera.position.copy(direction).setLength(distance).add(centre);
    this.light();
  }

  /** What is seen, with what lies behind it, as a picture of this size [pixels] and as good as it can be. */
  picture(width = innerWidth, height = innerHeight, kind = "image/png", quality?: number): Promise<Blob | null> {
    const copy = this.drawn(width, height);
    return new Promise((done) => copy.toBlob(done, kind, quality));
  }

  /** The same on a canvas of its own. */
  drawn(width: number, height: number): HTMLCanvasElement {
    const { camera, size } = this;
    const field = camera.fov;
    // All that the canvas shows is in it, and more where the picture is wider or higher.
    const narrower = Math.max(1, (size.width * height) / (size.height * width));
    camera.fov = (360 / Math.PI) * Math.atan(Math.tan((field * Math.PI) / 360) * narrower);
    this.exact = true;
    this.drawnQuality = -1;
    this.resize(width, height);
    this.renderBest();
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [width, height];
    this.copyTo(copy);
    camera.fov = field;
    this.exact = false;
    this.drawnQuality = -1;
    this.resize();
    return copy;
  }

  /** Size of what is shown [pixels]. */
  get shownSize(): [number, number] {
    return [this.canvas.width, this.canvas.height];
  }

  /** What was drawn last, with what lies behind it; to be called before the browser takes the picture away. */
  copyTo(copy: HTMLCanvasElement): void {
    const pen = copy.getContext("2d")!;
    const sky = pen.createLinearGradient(0, 0, 0, copy.height);
    ["--sky-top", "--sky-low"].forEach((name, k) => sky.addColorStop(k, this.style(name)));
    pen.fillStyle = sky;
    pen.fillRect(0, 0, copy.width, copy.height);
    pen.drawImage(this.canvas, 0, 0, copy.width, copy.height);
  }

  private clothBounds(): THREE.Box3 {
    const box = new THREE.Box3();
    for (const side of this.frame?.sides ?? []) box.union(new THREE.Box3(new THREE.Vector3(...side.low), new THREE.Vector3(...side.high)));
    return box;
  }

  private bounds(): THREE.Box3 {
    const box = this.clothBounds();
    this.sides.forEach((side) => box.union(side.bodies.bounds()));
    return box;
  }

  /** The sun stands so that its shadow map holds all that is there; the floor lies below, and depth is as exact as it can be. */
  private light(): void {
    const ball = this.seen.getBoundingSphere(new THREE.Sphere());
    // One may come as near as a twentieth of what is seen.
    this.camera.near = ball.radius / 20;
    this.camera.far = 40 * ball.radius;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.sun.position.set(0.55, 1.5, 0.7).setLength(3 * ball.radius).add(ball.center);
    this.sun.target.position.copy(ball.center);
    reachShadows(this.sun, 1.6 * ball.radius, 0.1 * ball.radius, 7 * ball.radius);
    const floor = this.sides.some((side) => side.bodies.hasFloor);
    this.floor.visible = this.grid.visible = !floor;
    const height = this.seen.min.y - 0.12 * ball.radius;
    this.floor.position.set(ball.center.x, height, ball.center.z);
    // No larger than shadows fall: where there is no GPU every pixel of it costs.
    this.floor.scale.setScalar(1.7 * ball.radius);
    this.grid.position.set(ball.center.x, height, ball.center.z);
    this.grid.scale.setScalar(5 * ball.radius);
    this.setPole(Math.max(height, ...this.sides.map((side) => side.bodies.floor ?? height)));
  }

  private setPole(floor: number): void {
    if (this.pole) {
      this.scene.remove(this.pole);
      this.pole.geometry.dispose();
      (this.pole.material as THREE.Material).dispose();
    }
    const [first] = this.sides, pinned = (this.shape?.arrays.get("pinned") ?? []) as Uint32Array;
    this.pole = first ? pole(Array.from(pinned, (particle) => first.cloth.place(particle)), first.cloth.group.position, floor) : null;
    if (this.pole) this.scene.add(this.pole);
  }

  /** The camera goes no deeper than the floor. */
  private stayAbove(): void {
    const { controls: { target }, camera } = this;
    const floors = this.sides.map((side) => side.bodies.floor).filter((height) => height !== null);
    const floor = Math.max(this.floor.position.y, ...floors) + camera.near;
    const cosine = (floor - target.y) / camera.position.distanceTo(target);
    this.controls.maxPolarAngle = Math.acos(Math.min(0.95, Math.max(-1, cosine)));
    // What it has gone too deep is taken back, which calls this again.
    if (this.controls.getPolarAngle() > this.controls.maxPolarAngle + 1e-6) this.controls.update();
  }

  private style(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  private ink(): string {
    return this.style("--ink");
  }

  private recolour(): void {
    if (this.frame) this.apply(this.frame);
    this.redraw();
  }

  private apply(frame: Frame): void {
    const scale = this.shape && this.scales.of(this.colouring, this.shape, frame);
    this.sides.forEach((side) => {
      side.cloth.show(frame, this.colouring, scale);
      side.bodies.show(frame);
    });
    const groups = this.edges === "solver stage" ? (this.shape?.arrays.get("groups") as Uint32Array).reduce((m, g) => Math.max(m, g), 0) + 1 : 0;
    drawLegend(this.legend, scale, this.edges, groups);
  }

  /** The next pictures are so good. */
  private useQuality(quality: number): void {
    if (quality === this.drawnQuality) return;
    this.drawnQuality = quality;
    const { pixels, shadow, soft, weave } = QUALITIES[quality]!;
    this.renderer.setPixelRatio(this.exact ? 1 : Math.min(pixels, Math.max(window.devicePixelRatio, 1)));
    this.sun.castShadow = this.shadows && shadow > 0;
    setShadows(this.sun, shadow || 1, soft);
    this.sides.forEach((side) => side.cloth.setWeave(weave));
  }

  private resize(width = this.canvas.clientWidth, height = this.canvas.clientHeight): void {
    if (width === 0 || height === 0) return;
    this.size = { width, height };
    this.renderer.setSize(width, height, false);
    const view = this.views()[0]!;
    this.camera.aspect = view.width / view.height;
    this.camera.updateProjectionMatrix();
    // Another size empties the canvas: it is filled before anybody sees that.
    this.render();
    this.redraw();
  }

  /** The part of the canvas of every side: beside one another, or one above the other where it is narrow. */
  private views(): { x: number; y: number; width: number; height: number }[] {
    const { width, height } = this.size;
    if (this.sides.length < 2) return [{ x: 0, y: 0, width, height }];
    if (width < height) return [0, 1].map((k) => ({ x: 0, y: (k * height) / 2, width, height: height / 2 }));
    return [0, 1].map((k) => ({ x: (k * width) / 2, y: 0, width: width / 2, height }));
  }

  private tick(now: number): void {
    this.dirty = false;
    const fresh = this.fresh;
    this.fresh = null;
    if (fresh && fresh.shape === this.shape?.shape) {
      const gap = fresh.serial - (this.frame?.serial ?? fresh.serial) > 1 ? 1 : 0;
      this.leftOut += 0.1 * (gap - this.leftOut);
      this.frame = fresh;
      this.apply(fresh);
      this.drawHand();
      if (!this.framed) {
        this.framed = true;
        this.frameAll(this.camera.userData.start);
      } else this.follow();
    }
    const sameQuality = this.drawnQuality === this.quality;
    this.useQuality(this.quality);
    // Two sides share the map of shadows, so it cannot be kept from one to the other.
    const kept = sameQuality && fresh !== null && this.sides.length < 2 && this.pictures % QUALITIES[this.quality]!.every > 0;
    this.renderer.shadowMap.autoUpdate = !kept;
    clearTimeout(this.still);
    this.still = setTimeout(() => this.renderBest(), STILL);
    this.render();
    if (fresh) this.displayed(fresh);
    this.keepUp(now);
  }

  /** Makes cheaper pictures where those of now come too slowly, better ones when that has not happened for a while. */
  private keepUp(now: number): void {
    // After a pause the time since the last picture says nothing.
    if (now - this.last < 1000) {
      this.meanInterval += 0.06 * (now - this.last - this.meanInterval);
      this.busy += 1;
      if (this.leftOut > 0.05) this.calmSince = now;
      if (this.busy > 20 && this.meanInterval > SLOW && this.quality < QUALITIES.length - 1 && this.isBehind()) {
        if (this.tried) this.recovers *= 2;
        this.change(this.quality + 1, false, now);
      } else if (this.quality > 0 && now - this.calmSince > this.recovers) this.change(this.quality - 1, true, now);
    } else this.calmSince = now;
    this.last = now;
  }

  private change(quality: number, tried: boolean, now: number): void {
    [this.quality, this.tried, this.busy, this.calmSince] = [quality, tried, 0, now];
  }

  /** A picture as good as it can be, of what stands still. */
  private renderBest(): void {
    this.useQuality(0);
    this.renderer.shadowMap.autoUpdate = true;
    this.render();
  }

  /** Whether it is the pictures that are slow and not the frames: the program has left some out for us. */
  private isBehind(): boolean {
    return this.leftOut > 0.3;
  }

  private render(): void {
    // Before there is something to see, light and camera have no place.
    if (!this.framed) return;
    const { height } = this.size;
    // Browsers show the first picture of a canvas without what lies behind it.
    if (this.pictures < 3) this.renderer.setClearColor(this.style("--sky-low"), this.pictures < 2 ? 1 : 0);
    this.renderer.setScissorTest(true);
    this.views().forEach((view, number) => {
      this.sides.forEach((side, k) => (side.group.visible = k === number || this.sides.length < 2));
      // WebGL counts from the lower edge.
      const y = height - view.y - view.height;
      this.renderer.setViewport(view.x, y, view.width, view.height);
      this.renderer.setScissor(view.x, y, view.width, view.height);
      this.renderer.clear();
      this.renderer.render(this.scene, this.camera);
    });
    this.pictures += 1;
  }
}
