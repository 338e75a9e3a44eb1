// The messages of docs/viewer.md: their types, how binary ones are taken apart, and who asks and is answered.

import { connect, type Wire } from "#wire";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Table = { [key: string]: Json };

export interface Hello {
  program: string;
  cores: number;
  methods: { name: string; about: string }[];
  fabrics: { name: string; about: string; fabric: Table }[];
  schema: Table;
}

export interface Status {
  choice: string;
  choices: { id: string; title: string; recording: boolean }[];
  playing: boolean;
  speed: number | null;
  threads: number;
  /** Whether a frame takes long. */
  computing: boolean;
  recording: string | null;
  live: boolean;
  scene: Table | null;
  changed: string[];
  compare: string | null;
  held: number[];
  freed: number[];
  /** The frame where it stands, while it is paused. */
  at: number | null;
  frames: number | null;
  damage?: string | null;
}

export interface Pages { control: boolean; watching: number }

export type Form =
  | { plane: object }
  | { sphere: { radius: number } }
  | { capsule: { radius: number; half_length: number } }
  | { box: { half_size: [number, number, number] } }
  | { mesh: { points: number; triangles: number } };

export type Arrays = Map<string, Float32Array | Uint32Array | Uint16Array | Uint8Array>;

export interface Shape {
  shape: number;
  particles: number;
  methods: string[];
  tolerance: number;
  /** With the rigidities along warp and weft [N·m], where they are known. */
  cloths: { name: string; colour: string; particles: [number, number]; triangles: [number, number]; bending: [number, number] | null }[];
  bodies: { name: string; form: Form }[];
  /** So many of them, the last ones, were thrown. */
  thrown: number;
  arrays: Arrays;
}

export interface Certificate {
  frame: number;
  tolerance: number;
  max_strain: number | null;
  mean_strain: number | null;
  cloth_cloth: number;
  cloth_body: number;
  min_gap_m: number | null;
}

export interface Report {
  wall_ms?: number;
  stage_ms?: { [stage: string]: number };
  iterations?: number;
  substeps?: number;
  converged?: boolean;
  shortfall?: string | null;
  max_strain?: number | null;
  mean_strain?: number | null;
  contacts?: number;
  energy_j?: { kinetic: number; gravity: number; elastic: number };
  realtime_factor?: number | null;
  state_hash?: string;
}

export type Vector = [number, number, number];

export interface FrameSide {
  centre: Vector;
  low: Vector;
  high: Vector;
  strain_unit: number;
  speed_unit: number;
  /** Null where pressures are not known. */
  pressure_unit: number | null;
  poses: [Vector, [number, number, number, number]][];
  report: Report;
  certificate: Certificate | null;
}

export interface Frame { shape: number; serial: number; frame: number; time: number; sides: FrameSide[]; arrays: Arrays }

/** The keys of a scene that name a fabric: of sheets and meshes, of garments, of panels that have their own. */
export function fabricKeys(scene: Table): { key: string; fabric: string }[] {
  const list = (value: Json | undefined) => (value ?? []) as Table[];
  const garment = (one: Table, k: number) => [
    { key: `garment[${k}].fabric`, fabric: one.fabric },
    ...list(one.panel).map((panel, j) => ({ key: `garment[${k}].panel[${j}].fabric`, fabric: panel.fabric })),
  ];
  const all = [...list(scene.cloth).map(({ fabric }, k) => ({ key: `cloth[${k}].fabric`, fabric })), ...list(scene.garment).flatMap(garment)];
  return all.filter((one): one is { key: string; fabric: string } => typeof one.fabric === "string");
}

const TYPES = { f32: Float32Array, u32: Uint32Array, u16: Uint16Array, u8: Uint8Array } as const;

/** Takes a binary message apart; its arrays are views, nothing is copied. */
export function unpack(buffer: ArrayBuffer): (Shape & { kind: "shape" }) | (Frame & { kind: "frame" }) | { kind: "file"; name: string; arrays: Arrays } {
  const start = new DataView(buffer);
  if (start.getUint32(0, false) !== 0x54465631) throw new Error("this is no message of version 1; reload the page");
  const length = start.getUint32(4, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const arrays: Arrays = new Map();
  let at = 8 + length;
  for (const [name, type, count] of head.arrays as [string, keyof typeof TYPES, number][]) {
    const view = new TYPES[type](buffer, at, count);
    arrays.set(name, view);
    at += Math.ceil(view.byteLength / 4) * 4;
  }
  return { ...head, arrays };
}

export interface Listener {
  hello(hello: Hello): void;
  status(status: Status): void;
  pages(pages: Pages): void;
  shape(shape: Shape): void;
  frame(frame: Frame): void;
  file(name: string, bytes: Uint8Array<ArrayBuffer>): void;
  notice(text: string, bad: boolean): void;
  connected(connected: boolean): void;
}

/** Requests and what is told, by whatever wire this page has. */
export class Link {
  private readonly wire: Wire;
  private next = 1;
  private waiting = new Map<number, { done: (text: string | null) => void; failed: (reason: Error) => void }>();

  constructor(private readonly listener: Listener) {
    this.wire = connect((data) => this.hear(data), (connected) => {
      listener.connected(connected);
      if (connected) return;
      this.waiting.forEach(({ failed }) => failed(new Error("the connection was lost")));
      this.waiting.clear();
    });
  }

  /** Asks for something; resolves with the text that the answer carries. */
  ask(request: Table): Promise<string | null> {
    const id = this.next++;
    return new Promise((done, failed) => {
      if (!this.send({ id, ...request })) return failed(new Error("there is no connection to the program"));
      this.waiting.set(id, { done, failed });
    });
  }

  /** Asks, and shows a refusal as a notice. */
  tell(request: Table): void {
    this.ask(request).catch((error: Error) => this.listener.notice(error.message, true));
  }

  /** Says that a frame was displayed. */
  got(serial: number): void {
    this.send({ do: "got", serial });
  }

  private send(message: Table): boolean {
    return this.wire.send(JSON.stringify({ v: 1, ...message }));
  }

  private hear(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      const message = unpack(data);
      if (message.kind === "shape") this.listener.shape(message);
      else if (message.kind === "frame") this.listener.frame(message);
      else this.listener.file(message.name, message.arrays.get("bytes") as Uint8Array<ArrayBuffer>);
      return;
    }
    const message = JSON.parse(data);
    switch (message.kind) {
      case "hello": return this.listener.hello(message);
      case "status": return this.listener.status(message);
      case "pages": return this.listener.pages(message);
      case "notice": return this.listener.notice(message.text, message.bad);
      case "reply": {
        this.waiting.get(message.id)?.done(message.text);
        this.waiting.delete(message.id);
        if (message.note && message.text === null) this.listener.notice(message.note, false);
        return;
      }
      case "error": {
        const waiting = this.waiting.get(message.id);
        this.waiting.delete(message.id);
        if (waiting) waiting.failed(new Error(message.error));
        else this.listener.notice(message.error, true);
      }
    }
  }
}
