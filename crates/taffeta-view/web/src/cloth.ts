// Cloth as it is drawn: a surface shaded as fabric, its edges, its pins.

import * as THREE from "three";
import { paint, stageColour, type Colouring, type Edges, type Scale } from "./colours";
import type { Frame, Shape } from "./protocol";

/** Spacing of the threads that are drawn [m]; real ones are too fine to be seen. */
const PITCH = 0.004;

/** Lambert's law, and where WEAVE is defined a sheen where the cloth turns away as fibres give it, and a plain weave close up. Where NUMBERS is
 * defined colours stand for numbers, and light and shade change them only a little. */
function fabricMaterial(): THREE.MeshLambertMaterial {
  const material = new THREE.MeshLambertMaterial({
    side: THREE.DoubleSide, vertexColors: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1,
  });
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace("void main() {", "attribute vec2 material;\nvarying vec2 vMaterial;\nvoid main() {\nvMaterial = material;");
    shader.fragmentShader = shader.fragmentShader
      .replace("void main() {", "varying vec2 vMaterial;\nvoid main() {")
      .replace("#include <color_fragment>", `#include <color_fragment>
        #ifdef WEAVE
        vec2 thread = vMaterial / ${PITCH};
        vec2 wide = fwidth(thread);
        float near = 1.0 - smoothstep(0.2, 0.6, max(wide.x, wide.y));
        vec2 round = 1.0 - abs(2.0 * fract(thread) - 1.0);
        float over = mod(floor(thread.x) + floor(thread.y), 2.0);
        diffuseColor.rgb *= 1.0 + near * 0.3 * (mix(round.x, round.y, over) - 0.5);
        #endif
        #ifndef NUMBERS
        if (!gl_FrontFacing) diffuseColor.rgb *= 0.82;
        #endif`)
      .replace("#include <opaque_fragment>", `#ifdef WEAVE
        float turned = 1.0 - abs(dot(normal, normalize(vViewPosition)));
        outgoingLight += diffuseColor.rgb * 0.35 * turned * turned * turned;
        #endif
        #ifdef NUMBERS
        outgoingLight = mix(diffuseColor.rgb, outgoingLight, 0.35);
        #endif
        #include <opaque_fragment>`);
  };
  return material;
}

/** One side of the comparison: all its cloth. */
export class Cloth {
  readonly group = new THREE.Group();
  readonly mesh: THREE.Mesh<THREE.BufferGeometry, THREE.MeshLambertMaterial>;
  private readonly positions: THREE.BufferAttribute;
  private readonly normals: THREE.BufferAttribute;
  private readonly colours: THREE.BufferAttribute;
  private readonly fabric: Uint8Array;
  private readonly triangles: Uint32Array;
  private readonly edgeEnds: Uint32Array;
  private lines: THREE.LineSegments<THREE.BufferGeometry, THREE.LineBasicMaterial> | null = null;
  private edges: Edges = "none";
  private shownColouring: Colouring | null = null;
  private readonly pins: THREE.Points<THREE.BufferGeometry, THREE.PointsMaterial>;
  private pinned: number[] = [];

  constructor(private readonly shape: Shape, private readonly side: number) {
    const count = shape.particles;
    this.triangles = shape.arrays.get("triangles") as Uint32Array;
    this.edgeEnds = shape.arrays.get("edges") as Uint32Array;
    this.positions = dynamic(new Float32Array(3 * count), false);
    this.normals = dynamic(new Float32Array(3 * count), false);
    this.colours = dynamic(new Uint8Array(3 * count), true);
    this.fabric = fabricColours(shape);
    const material = (shape.arrays.get("material") ?? new Float32Array(0)) as Float32Array;
    const geometry = new THREE.BufferGeometry();
    geometry.setIndex(new THREE.BufferAttribute(this.triangles, 1));
    geometry.setAttribute("position", this.positions);
    geometry.setAttribute("normal", this.normals);
    geometry.setAttribute("color", this.colours);
    geometry.setAttribute("material", new THREE.BufferAttribute(material.length === 2 * count ? material : new Float32Array(2 * count), 2));
    geometry.boundingSphere = new THREE.Sphere();
    this.mesh = new THREE.Mesh(geometry, fabricMaterial());
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;
    const dots = new THREE.BufferGeometry();
    this.pins = new THREE.Points(dots, new THREE.PointsMaterial({ size: 5, sizeAttenuation: false, vertexColors: true }));
    this.pins.frustumCulled = false;
    this.group.add(this.mesh, this.pins);
  }

  /** Where a particle is [m]. */
  place(particle: number, into = new THREE.Vector3()): THREE.Vector3 {
    return into.fromBufferAttribute(this.positions, particle).add(this.group.position);
  }

  show(frame: Frame, colouring: Colouring, scale: Scale | null): void {
    const side = frame.sides[this.side];
    const positions = frame.arrays.get(`positions ${this.side}`) as Float32Array | undefined;
    if (!side || !positions) return;
    (this.positions.array as Float32Array).set(positions);
    this.positions.needsUpdate = true;
    this.group.position.fromArray(side.centre);
    const radius = 0.5 * Math.hypot(...side.high.map((high, k) => high - side.low[k]!));
    this.mesh.geometry.boundingSphere!.set(new THREE.Vector3(), radius + 1e-6);
    smoothNormals(positions, this.triangles, this.normals.array as Float32Array);
    this.normals.needsUpdate = true;
    this.colour(frame, colouring, scale);
    if (this.lines && this.edges !== "wireframe") this.copyLines();
    if (this.pinned.length > 0) this.copyPins();
  }

  /** Points that are held: by the scene in dark, by hand in the accent colour. */
  setPins(byScene: number[], byHand: number[]): void {
    const scene = new THREE.Color(0x2b2f36), hand = new THREE.Color(0xe07b20);
    this.pinned = [...byScene, ...byHand];
    const colours = [...byScene.flatMap(() => scene.toArray()), ...byHand.flatMap(() => hand.toArray())];
    this.pins.geometry.dispose();
    this.pins.geometry = new THREE.BufferGeometry();
    this.pins.geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * this.pinned.length), 3));
    this.pins.geometry.setAttribute("color", new THREE.Float32BufferAttribute(colours, 3));
    this.pins.visible = this.pinned.length > 0;
    if (this.pinned.length > 0) this.copyPins();
  }

  /** Whether single threads are drawn; where there is no GPU they cost as much as all the rest of the cloth. */
  setWeave(weave: boolean): void {
    this.define("WEAVE", weave);
  }

  private define(name: string, wanted: boolean): void {
    const { material } = this.mesh;
    const defines = (material.defines ??= {});
    if (name in defines === wanted) return;
    if (wanted) defines[name] = "";
    else delete defines[name];
    material.needsUpdate = true;
  }

  setEdges(edges: Edges, line: string): void {
    this.edges = edges;
    // Edges are seen above the cloth. Without them nothing is moved back: where cloth is seen edge-on it would sink into what it lies on.
    this.mesh.material.polygonOffset = edges !== "none";
    if (this.lines) {
      this.group.remove(this.lines);
      this.lines.geometry.dispose();
      this.lines.material.dispose();
      this.lines = null;
    }
    if (edges === "none") return;
    const geometry = new THREE.BufferGeometry();
    if (edges === "wireframe") {
      geometry.setAttribute("position", this.positions);
      geometry.setIndex(new THREE.BufferAttribute(this.edgeEnds, 1));
    } else {
      geometry.setAttribute("position", dynamic(new Float32Array(3 * this.edgeEnds.length), false));
      geometry.setAttribute("color", new THREE.BufferAttribute(this.edgeColours(edges), 3, true));
    }
    const plain = edges === "wireframe";
    const material = new THREE.LineBasicMaterial(plain ? { color: line, transparent: true, opacity: 0.55 } : { vertexColors: true });
    this.lines = new THREE.LineSegments(geometry, material);
    this.lines.frustumCulled = false;
    this.group.add(this.lines);
    if (!plain) this.copyLines();
  }

  dispose(): void {
    this.setEdges("none", "");
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
    this.pins.geometry.dispose();
    this.pins.material.dispose();
  }

  /** Neighbouring strips get colours far apart; groups get one each. */
  private edgeColours(edges: Edges): Uint8Array {
    const strips = this.shape.arrays.get("strips") as Uint32Array, groups = this.shape.arrays.get("groups") as Uint32Array;
    const count = groups.reduce((most, group) => Math.max(most, group), 0) + 1;
    const colours = new Uint8Array(3 * this.edgeEnds.length);
    const known = new Map<number, number[]>();
    for (let e = 0; e < strips.length; e++) {
      const key = edges === "strips" ? strips[e]! : groups[e]!;
      let colour = known.get(key);
      if (!colour) {
        const css = edges === "strips" ? `hsl(${(key * 137.5) % 360}, 60%, 50%)` : stageColour(key, count);
        known.set(key, (colour = new THREE.Color(css).toArray().map((c) => Math.round(255 * (c as number)))));
      }
      colours.set(colour, 6 * e);
      colours.set(colour, 6 * e + 3);
    }
    return colours;
  }

  private colour(frame: Frame, colouring: Colouring, scale: Scale | null): void {
    const side = frame.sides[this.side]!;
    // What is not known is nothing.
    const numbers = (name: string): ArrayLike<number> => frame.arrays.get(`${name} ${this.side}`) ?? new Uint16Array(this.shape.particles);
    const into = this.colours.array as Uint8Array;
    this.define("NUMBERS", scale !== null);
    if (!scale) {
      // Fabric colours do not change from frame to frame.
      if (this.shownColouring === "fabric") return;
      into.set(this.fabric);
    } else if (colouring === "strain") paint(numbers("strain"), side.strain_unit * scale.factor, scale, into);
    else if (colouring === "speed") paint(numbers("speed"), side.speed_unit * scale.factor, scale, into);
    else if (colouring === "pressure") paint(numbers("pressure"), (side.pressure_unit ?? 0) * scale.factor, scale, into);
    else if (colouring === "contact" || colouring === "distance") paint(numbers("gap"), scale.factor, scale, into);
    else paint(this.measured(colouring), scale.factor, scale, into);
    if (scale) linear(into);
    this.shownColouring = colouring;
    this.colours.needsUpdate = true;
  }

  /** What is measured on the cloth as it is drawn, for every particle: stretch along a thread [1], curvature [1/m], energy [J/m²]. */
  private measured(colouring: Colouring): Float32Array {
    const [x, n] = [this.positions.array as Float32Array, this.normals.array as Float32Array];
    if (colouring === "curvature") return curvatures(x, n, this.edgeEnds);
    const material = (this.mesh.geometry.getAttribute("material") as THREE.BufferAttribute).array as Float32Array;
    if (colouring === "bending") return bendingEnergies(x, n, material, this.triangles, this.shape);
    return stretches(x, material, this.triangles, colouring === "warp strain" ? 0 : 1);
  }

  private copyLines(): void {
    const from = this.positions.array as Float32Array;
    const attribute = this.lines!.geometry.getAttribute("position") as THREE.BufferAttribute;
    gather(from, this.edgeEnds, attribute.array as Float32Array);
    attribute.needsUpdate = true;
  }

  private copyPins(): void {
    const attribute = this.pins.geometry.getAttribute("position") as THREE.BufferAttribute;
    gather(this.positions.array as Float32Array, this.pinned, attribute.array as Float32Array);
    attribute.needsUpdate = true;
  }
}

function dynamic(array: Float32Array | Uint8Array, normalized: boolean): THREE.BufferAttribute {
  return new THREE.BufferAttribute(array, 3, normalized).setUsage(THREE.DynamicDrawUsage);
}

function gather(from: Float32Array, which: ArrayLike<number>, into: Float32Array): void {
  for (let k = 0; k < which.length; k++) {
    const i = 3 * which[k]!;
    into[3 * k] = from[i]!;
    into[3 * k + 1] = from[i + 1]!;
    into[3 * k + 2] = from[i + 2]!;
  }
}

/** Colours of screens are not linear in light; shading needs them so. */
const LINEAR = Uint8Array.from({ length: 256 }, (_, i) => 255 * new THREE.Color().setRGB(i / 255, 0, 0, THREE.SRGBColorSpace).r);
function linear(colours: Uint8Array): void {
  for (let i = 0; i < colours.length; i++) colours[i] = LINEAR[colours[i]!]!;
}

function fabricColours(shape: Shape): Uint8Array {
  const colours = new Uint8Array(3 * shape.particles);
  for (const { colour, particles: [first, last] } of shape.cloths) {
    const rgb = new THREE.Color(colour).toArray().map((c) => Math.round(255 * (c as number)));
    for (let i = first; i < last; i++) colours.set(rgb, 3 * i);
  }
  return colours;
}

/** Normals of particles: the sum of those of their triangles, which counts large ones more. */
function smoothNormals(x: Float32Array, triangles: Uint32Array, n: Float32Array): void {
  n.fill(0);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t]!, b = 3 * triangles[t + 1]!, c = 3 * triangles[t + 2]!;
    const ax = x[a]!, ay = x[a + 1]!, az = x[a + 2]!;
    const ux = x[b]! - ax, uy = x[b + 1]! - ay, uz = x[b + 2]! - az;
    const vx = x[c]! - ax, vy = x[c + 1]! - ay, vz = x[c + 2]! - az;
    const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    n[a]! += nx; n[a + 1]! += ny; n[a + 2]! += nz;
    n[b]! += nx; n[b + 1]! += ny; n[b + 2]! += nz;
    n[c]! += nx; n[c + 1]! += ny; n[c + 2]! += nz;
  }
  for (let i = 0; i < n.length; i += 3) {
    const length = Math.hypot(n[i]!, n[i + 1]!, n[i + 2]!) || 1;
    n[i]! /= length; n[i + 1]! /= length; n[i + 2]! /= length;
  }
}

/** The mean of a number of triangles around every particle, by area. `of` gets the corners and what makes sums of the two edges from the first
 * one the directions of warp and weft. */
function aroundParticles(x: Float32Array, material: Float32Array, triangles: Uint32Array, of: (corners: [number, number, number], warp: [number, number], weft: [number, number], triangle: number) => number): Float32Array {
  const [sums, areas] = [new Float32Array(x.length / 3), new Float32Array(x.length / 3)];
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [triangles[t]!, triangles[t + 1]!, triangles[t + 2]!];
    const u1 = material[2 * b]! - material[2 * a]!, v1 = material[2 * b + 1]! - material[2 * a + 1]!;
    const u2 = material[2 * c]! - material[2 * a]!, v2 = material[2 * c + 1]! - material[2 * a + 1]!;
    const area = u1 * v2 - u2 * v1;
    // Cloth without material coordinates has no threads.
    if (Math.abs(area) < 1e-12) continue;
    const size = Math.abs(area), number = of([a, b, c], [v2 / area, -v1 / area], [-u2 / area, u1 / area], t / 3);
    for (const corner of [a, b, c]) {
      sums[corner]! += size * number;
      areas[corner]! += size;
    }
  }
  return sums.map((sum, i) => (areas[i]! > 0 ? sum / areas[i]! : 0));
}

/** How a field of three numbers changes along a thread. */
function along(field: Float32Array, [a, b, c]: [number, number, number], [p, q]: [number, number]): [number, number, number] {
  const change = (k: number) => p * (field[3 * b + k]! - field[3 * a + k]!) + q * (field[3 * c + k]! - field[3 * a + k]!);
  return [change(0), change(1), change(2)];
}

/** The mean stretch along a material axis [1]: 0 is the warp, 1 the weft. */
function stretches(x: Float32Array, material: Float32Array, triangles: Uint32Array, axis: 0 | 1): Float32Array {
  return aroundParticles(x, material, triangles, (corners, warp, weft) => Math.hypot(...along(x, corners, axis === 0 ? warp : weft)) - 1);
}

/** Elastic energy of bending [J/m²]: half of rigidity times curvature squared along each thread, the curvature being how much the normal turns towards it. */
function bendingEnergies(x: Float32Array, n: Float32Array, material: Float32Array, triangles: Uint32Array, shape: Shape): Float32Array {
  const rigidity = shape.cloths.flatMap(({ bending, triangles: [first, last] }) => Array<[number, number]>(last - first).fill(bending ?? [0, 0]));
  return aroundParticles(x, material, triangles, (corners, warp, weft, triangle) => {
    const curvature = (thread: [number, number]) => {
      const [t, turn] = [along(x, corners, thread), along(n, corners, thread)];
      return (t[0] * turn[0] + t[1] * turn[1] + t[2] * turn[2]) / Math.max(t[0] * t[0] + t[1] * t[1] + t[2] * t[2], 1e-12);
    };
    const [stiffWarp, stiffWeft] = rigidity[triangle] ?? [0, 0];
    return 0.5 * (stiffWarp * curvature(warp) ** 2 + stiffWeft * curvature(weft) ** 2);
  });
}

/** The largest curvature along the edges around every particle [1/m]: how much the normal turns on the way. */
function curvatures(x: Float32Array, n: Float32Array, edges: Uint32Array): Float32Array {
  const most = new Float32Array(x.length / 3);
  for (let e = 0; e < edges.length; e += 2) {
    const [a, b] = [edges[e]!, edges[e + 1]!];
    let turn = 0, way = 0;
    for (let k = 0; k < 3; k++) {
      turn += (n[3 * b + k]! - n[3 * a + k]!) ** 2;
      way += (x[3 * b + k]! - x[3 * a + k]!) ** 2;
    }
    const bent = Math.sqrt(turn / Math.max(way, 1e-12));
    most[a] = Math.max(most[a]!, bent);
    most[b] = Math.max(most[b]!, bent);
  }
  return most;
}
