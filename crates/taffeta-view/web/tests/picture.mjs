// The picture of the page in the README: node tests/picture.mjs FILE.png [SCENE FRAME light|dark]

import { browser, page, viewer } from "./rig.mjs";

const [file, scene = "hang", frame = "75", theme = "light"] = process.argv.slice(2);
const chromium = await browser();
const served = await viewer(scene);
const opened = await page(chromium, served.url, { width: 1440, height: 900, dark: theme === "dark" });
// Step by step, so that it is the same frame on every machine.
await opened.evaluate(async (frame) => {
  const { link } = window.taffeta;
  for (const request of ["pause", "reset", ...Array(frame).fill("step")]) await link.ask({ do: request });
}, Number(frame));
await opened.waitForFunction((wanted) => window.taffeta.stage.frame.frame === wanted, Number(frame));
await opened.keyboard.press("f");
// Until the certificate is that of the frame shown, and the plots are drawn.
await opened.waitForFunction(() => window.taffeta.stage.frame.sides[0].certificate?.frame === window.taffeta.stage.frame.frame);
await opened.waitForTimeout(1500);
await opened.screenshot({ path: file });
await chromium.close();
served.stop();
process.exit(0);
