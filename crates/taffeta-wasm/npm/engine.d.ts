/** Makes the engine ready; wait for it before anything else. Pages may name the folder that has the folders `plain` and `fused` of the package. */
export function load(folder?: URL): Promise<void>;

/** The built-in scenes. */
export function scenes(): { name: string; title: string }[];

/** What a frame tells of itself. */
export interface Report {
  iterations: number;
  substeps: number;
  /** Whether the solver reached its goal, and why not. */
  converged: boolean;
  shortfall: string | null;
  contacts: number;
}

/** Strain and intersections of a frame, measured by code that is not the solver. */
export interface Certificate {
  /** Largest strain that the scene allows, the largest and the mean that there is [1]. */
  tolerance: number;
  maxStrain: number;
  meanStrain: number;
  /** Pairs of triangles of cloth that intersect, and of a triangle and a body that it cuts into. */
  clothCloth: number;
  clothBody: number;
  /** Smallest distance between cloth and bodies [m]; null without bodies. */
  minGap: number | null;
}

/** A piece of cloth: its colour as `#rrggbb`, its particles and triangles from the first to before the last. */
export interface Cloth {
  name: string;
  colour: string;
  particles: [number, number];
  triangles: [number, number];
}

export class Simulation {
  /** Of a scene by its text (TOML) or by the name of a built-in one; throws with all that is wrong with it. */
  constructor(scene: string);
  /** Moves on by one frame. */
  step(): Report;
  /** Simulated time [s]. */
  readonly time: number;
  /** A fingerprint of the state: the same bits give the same one in any program. */
  readonly hash: string;
  readonly certificate: Certificate;
  /** Energies [J]. */
  readonly energy: { kinetic: number; gravity: number; elastic: number };
  readonly cloths: Cloth[];
  /** x, y, z of every particle [m]: a view of the engine's memory, to be asked for anew after every step. */
  readonly positions: Float64Array;
  /** Corners of triangles, as numbers of particles: a view likewise. */
  readonly triangles: Uint32Array;
  /** Gives its memory back. */
  free(): void;
}
