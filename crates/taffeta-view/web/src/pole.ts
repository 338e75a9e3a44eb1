// A pole where a cloth has one: its pins stand above one another.

import * as THREE from "three";

/** Pins that are fewer, lower together [m] or further beside their line, as a share of its length, make no pole. */
const [FEWEST, LOWEST, BESIDE] = [5, 0.2, 0.01];

/** A pole through these places, beside the cloth whose middle is given, down to the floor; nothing where they are no upright line. */
export function pole(places: THREE.Vector3[], middle: THREE.Vector3, floor: number): THREE.Mesh | null {
  if (places.length < FEWEST) return null;
  const box = new THREE.Box3().setFromPoints(places), size = box.getSize(new THREE.Vector3());
  if (size.y < LOWEST || Math.hypot(size.x, size.z) > BESIDE * size.y) return null;
  const radius = 0.012 * size.y, top = box.max.y + 4 * radius;
  const at = box.getCenter(new THREE.Vector3()), away = at.clone().sub(middle).setY(0);
  if (away.lengthSq() > 0) at.addScaledVector(away.normalize(), radius);
  const made = new THREE.Mesh(new THREE.CylinderGeometry(radius, radius, top - floor, 24), new THREE.MeshLambertMaterial({ color: 0x8d8577 }));
  made.position.set(at.x, 0.5 * (top + floor), at.z);
  made.castShadow = made.receiveShadow = true;
  return made;
}
