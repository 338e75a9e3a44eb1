// Shadows without stairs, at two prices.

import * as THREE from "three";

/** How far surfaces are lifted before their depth is compared [texels of the map]: less darkens what lies in the light, in dots. */
const LIFT = 2.5;

// Where the radius of a shadow is 0 one look at its map has to do. The filter of the texture makes an even edge of four depths, and three.js' own five looks take
// twice as long where there is no GPU.
const LOOKS = "vec2 texelSize = vec2( 1.0 ) / shadowMapSize;";
const chunk = THREE.ShaderChunk.shadowmap_pars_fragment;
if (!chunk.includes(LOOKS)) throw new Error("three.js makes its shadows in another way: shadows.ts has to follow");
THREE.ShaderChunk.shadowmap_pars_fragment = chunk.replace(LOOKS, `if ( shadowRadius == 0.0 ) return mix( 1.0, texture( shadowMap, shadowCoord.xyz ), shadowIntensity );
${LOOKS}`);

/** Sets the size of the map of a light, and whether its shadows have soft edges. */
export function setShadows({ shadow }: THREE.DirectionalLight, size: number, soft: boolean): void {
  shadow.mapSize.set(size, size);
  shadow.map?.dispose();
  shadow.map = null;
  shadow.radius = soft ? 1 : 0;
  lift(shadow);
}

/** The map of a light holds all that is this far from its middle [m]. */
export function reachShadows({ shadow }: THREE.DirectionalLight, reach: number, near: number, far: number): void {
  Object.assign(shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near, far });
  shadow.camera.updateProjectionMatrix();
  lift(shadow);
}

function lift(shadow: THREE.DirectionalLightShadow): void {
  shadow.normalBias = (LIFT * (shadow.camera.right - shadow.camera.left)) / shadow.mapSize.x;
}
