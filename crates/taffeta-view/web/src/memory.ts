// What a browser keeps of a page over a reload: how it looks, never what is simulated.

import type { Json } from "./protocol";

const name = (key: string) => `taffeta ${key}`;

/** What was kept; null where nothing was, or where the browser keeps nothing. */
export function kept(key: string): Json {
  try {
    return JSON.parse(localStorage.getItem(name(key)) ?? "null");
  } catch {
    return null;
  }
}

export function keep(key: string, value: Json): void {
  try {
    localStorage.setItem(name(key), JSON.stringify(value));
  } catch {
    // Browsers may refuse: then nothing is kept.
  }
}
