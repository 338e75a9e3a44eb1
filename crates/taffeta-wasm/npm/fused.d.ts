/** Whether this machine fuses products and sums in WebAssembly with one rounding. */
export function fuses(): boolean;
