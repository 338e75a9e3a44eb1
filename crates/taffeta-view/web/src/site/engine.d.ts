// What the worker uses of the module that scripts/engine-wasm.sh builds.
declare module "taffeta-engine" {
  export class Desk {
    constructor(scene: string);
    hear(text: string): void;
    turn(): number;
    texts(): string[];
    binaries(): Uint8Array[];
  }
  export default function init(): Promise<unknown>;
}
