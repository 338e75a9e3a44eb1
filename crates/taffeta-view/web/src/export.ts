// What is drawn as files for other programs: glTF and USD.

import * as THREE from "three";
import { GLTFExporter } from "three/addons/exporters/GLTFExporter.js";
import { USDZExporter } from "three/addons/exporters/USDZExporter.js";

/** All meshes below, with their colours, in the units of the scene [m]. */
export async function written(groups: THREE.Object3D[], kind: "glb" | "usdz"): Promise<Blob> {
  const scene = new THREE.Scene();
  groups.forEach((group, side) => group.traverse((object) => {
    if (!(object instanceof THREE.Mesh)) return;
    object.updateWorldMatrix(true, false);
    const geometry = new THREE.BufferGeometry();
    // The colours of cloth are in its corners, the material coordinates are no texture's.
    for (const name of ["position", "normal", "color"]) if (name in object.geometry.attributes) geometry.setAttribute(name, plain(object.geometry.getAttribute(name)));
    geometry.setIndex(object.geometry.index);
    const coloured = "color" in geometry.attributes && kind === "glb";
    const first = geometry.attributes.color;
    const colour = coloured ? new THREE.Color(1, 1, 1) : first ? new THREE.Color(first.getX(0), first.getY(0), first.getZ(0)) : object.material.color;
    const material = new THREE.MeshStandardMaterial({ color: colour, vertexColors: coloured, side: kind === "glb" ? THREE.DoubleSide : THREE.FrontSide, roughness: 0.9 });
    const mesh = new THREE.Mesh(geometry, material);
    mesh.name = first ? `cloth_${side}` : `body_${side}_${scene.children.length}`;
    mesh.applyMatrix4(object.matrixWorld);
    scene.add(mesh);
  }));
  if (kind === "usdz") return new Blob([(await new USDZExporter().parseAsync(scene)) as Uint8Array<ArrayBuffer>], { type: "model/vnd.usdz+zip" });
  return new Blob([(await new GLTFExporter().parseAsync(scene, { binary: true })) as ArrayBuffer], { type: "model/gltf-binary" });
}

/** An attribute of floats: what others read for sure. */
function plain(attribute: THREE.BufferAttribute | THREE.InterleavedBufferAttribute): THREE.BufferAttribute {
  const numbers = new Float32Array(3 * attribute.count);
  for (let i = 0; i < attribute.count; i++) numbers.set([attribute.getX(i), attribute.getY(i), attribute.getZ(i)], 3 * i);
  return new THREE.BufferAttribute(numbers, 3);
}
