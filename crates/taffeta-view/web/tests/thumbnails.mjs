// The pictures of the gallery, drawn by the page itself: node tests/thumbnails.mjs [SCENE ...]

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { browser, page, viewer } from "./rig.mjs";

/** Frames until something is to be seen, and how long is waited for them [ms]. */
const FRAMES = 50;
const PATIENCE = 15_000;
const folder = fileURLToPath(new URL("../public/scenes", import.meta.url));
mkdirSync(folder, { recursive: true });

const chromium = await browser();
const served = await viewer("flag");
const opened = await page(chromium, served.url, { width: 960, height: 600 });
await opened.evaluate(() => window.taffeta.link.ask({ do: "speed", factor: null }));
const all = await opened.evaluate(() => window.taffeta.status.choices.map(({ id }) => id));
for (const scene of process.argv.length > 2 ? process.argv.slice(2) : all) {
  await opened.evaluate(async (choice) => {
    await window.taffeta.link.ask({ do: "open", choice });
    await window.taffeta.link.ask({ do: "play" });
  }, scene);
  const there = ([scene, frames]) => window.taffeta.status.choice === scene && window.taffeta.stage.frame.frame >= frames;
  await opened.waitForFunction(there, [scene, FRAMES], { timeout: PATIENCE }).catch(() => {});
  await opened.waitForFunction(there, [scene, 1]);
  const picture = await opened.evaluate(async () => {
    const { stage } = window.taffeta;
    if (!window.taffeta.status.scene.camera) stage.frameAll();
    const blob = await stage.picture(480, 300, "image/webp", 0.6);
    return Array.from(new Uint8Array(await blob.arrayBuffer()));
  });
  writeFileSync(join(folder, `${scene}.webp`), Uint8Array.from(picture));
  console.log(`${scene}: ${picture.length} bytes`);
}
await chromium.close();
served.stop();
process.exit(0);
