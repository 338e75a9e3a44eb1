// What the cloth meets, as it is drawn.

import * as THREE from "three";
import type { Form, Frame, Shape } from "./protocol";

/** The bodies of one side. */
export class Bodies {
  readonly group = new THREE.Group();
  private readonly meshes: THREE.Mesh[];

  constructor(shape: Shape, private readonly side: number, extent: number) {
    const colour = besides(shape.cloths.map((cloth) => cloth.colour));
    this.meshes = shape.bodies.map(({ form }, number) => body(form, shape, number, extent, colour));
    // A ball is soon further away than anybody wants to look.
    this.meshes.slice(this.meshes.length - shape.thrown).forEach((mesh) => (mesh.userData.passes = true));
    this.meshes.forEach((mesh) => this.group.add(mesh));
  }

  show(frame: Frame): void {
    const poses = frame.sides[this.side]?.poses ?? [];
    this.meshes.forEach((mesh, number) => {
      const pose = poses[number];
      mesh.visible = pose !== undefined;
      if (!pose) return;
      mesh.position.fromArray(pose[0]);
      mesh.quaternion.fromArray(pose[1]);
      const bent = frame.arrays.get(`body ${number} points ${this.side}`);
      if (bent) {
        const attribute = mesh.geometry.getAttribute("position") as THREE.BufferAttribute;
        (attribute.array as Float32Array).set(bent);
        attribute.needsUpdate = true;
        mesh.geometry.computeVertexNormals();
      }
    });
  }

  /** The boxes around all that is not endless and stays, where they are now. */
  bounds(): THREE.Box3 {
    const box = new THREE.Box3();
    this.meshes.filter((mesh) => mesh.visible && !mesh.userData.endless && !mesh.userData.passes).forEach((mesh) => box.expandByObject(mesh));
    return box;
  }

  /** Height of the level plane, if there is one [m]. */
  get floor(): number | null {
    const up = (mesh: THREE.Mesh) => new THREE.Vector3(0, 1, 0).applyQuaternion(mesh.quaternion).y;
    return this.meshes.find((mesh) => mesh.visible && mesh.userData.endless && up(mesh) > 0.99)?.position.y ?? null;
  }

  /** Whether one of them is a floor. */
  get hasFloor(): boolean {
    return this.meshes.some((mesh) => mesh.userData.endless);
  }

  dispose(): void {
    for (const mesh of this.meshes) {
      mesh.geometry.dispose();
      (mesh.material as THREE.Material).dispose();
    }
  }
}

/** A grey from which cloth of these colours stands out: dark where they are light, light where they are dark. */
function besides(colours: string[]): number {
  const light = (css: string) => new THREE.Color(css).getHSL({ h: 0, s: 0, l: 0 }, THREE.SRGBColorSpace).l;
  const mean = colours.reduce((sum, css) => sum + light(css), 0) / Math.max(1, colours.length);
  return mean > 0.55 ? 0x6d747e : 0xc3c8cf;
}

function body(form: Form, shape: Shape, number: number, extent: number, colour: number): THREE.Mesh {
  const mesh = new THREE.Mesh(geometry(form, shape, number, extent), new THREE.MeshLambertMaterial({
    color: colour,
    // Cloth lies a fraction of a millimetre above; depth is not that exact, and cloth is meant to win.
    polygonOffset: true, polygonOffsetFactor: 4, polygonOffsetUnits: 60,
  }));
  if ("plane" in form) {
    mesh.userData.endless = true;
    mesh.material.color.set(0xdde0e4);
  } else mesh.castShadow = true;
  mesh.receiveShadow = true;
  mesh.frustumCulled = false;
  return mesh;
}

function geometry(form: Form, shape: Shape, number: number, extent: number): THREE.BufferGeometry {
  if ("sphere" in form) return new THREE.SphereGeometry(form.sphere.radius, 64, 40);
  if ("capsule" in form) return new THREE.CapsuleGeometry(form.capsule.radius, 2 * form.capsule.half_length, 16, 48);
  if ("box" in form) return new THREE.BoxGeometry(...(form.box.half_size.map((half) => 2 * half) as [number, number, number]));
  if ("plane" in form) return new THREE.CircleGeometry(6 * extent, 96).rotateX(-Math.PI / 2);
  const made = new THREE.BufferGeometry();
  const points = (shape.arrays.get(`body ${number} points`) ?? new Float32Array(0)) as Float32Array;
  made.setAttribute("position", new THREE.BufferAttribute(points.slice(), 3));
  made.setIndex(new THREE.BufferAttribute((shape.arrays.get(`body ${number} triangles`) ?? new Uint32Array(0)) as Uint32Array, 1));
  made.computeVertexNormals();
  return made;
}
