// The page in a real browser: it loads, the cloth moves, hands and controls do what they say, at every size, light and dark.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { browser, files, page, shots, siteFolder, viewer } from "./rig.mjs";

const chromium = await browser();
let failed = 0;

/** A browser that no longer answers within this long [ms] is asked once more, loudly; what is asserted is not. */
const HUNG = 180_000;

async function test(name, source, options, body, again = true) {
  // `npm test -- WORDS` runs only what has these words in its name.
  if (!name.includes(process.argv[2] ?? "")) return;
  const served = options.site ? await site(source, options) : await viewer(...source);
  let timer;
  const hung = new Promise((resolve) => (timer = setTimeout(() => resolve("hung"), HUNG)));
  const run = async () => {
    const opened = await page(chromium, served.url, options);
    await body(opened, served);
    assert.deepEqual(opened.troubles, [], "nothing goes wrong at the console");
    await opened.context().close();
  };
  try {
    const ended = run();
    ended.catch(() => {});
    if ((await Promise.race([ended, hung])) === "hung") {
      if (!again) throw new Error("the browser hung twice");
      console.log(`HUNG    ${name}: once more`);
      served.stop();
      return await test(name, source, options, body, false);
    }
    console.log(`ok      ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${error.stack}`);
  } finally {
    clearTimeout(timer);
    served.stop();
  }
}

/** The page without a server, at a scene. */
async function site([scene], { isolated }) {
  const served = await files(siteFolder, isolated);
  return { ...served, url: `${served.url}?scene=${scene}` };
}

/** How many different colours a picture of an element has, roughly. */
async function colours(opened, selector, file, clip) {
  const shot = clip ? await opened.screenshot({ path: join(shots, file), clip }) : await opened.locator(selector).screenshot({ path: join(shots, file) });
  return opened.evaluate(async (data) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))]));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    const seen = new Set();
    const { data: pixels } = pen.getImageData(0, 0, image.width, image.height);
    for (let i = 0; i < pixels.length; i += 4 * 7) seen.add(((pixels[i] >> 4) << 8) | ((pixels[i + 1] >> 4) << 4) | (pixels[i + 2] >> 4));
    return seen.size;
  }, shot.toString("base64"));
}

const frame = (opened) => opened.evaluate(() => window.taffeta.stage.frame.frame);
const place = (opened, particle) => opened.evaluate((p) => window.taffeta.stage.sides[0].cloth.place(p).toArray(), particle);
const status = (opened, wanted) => opened.waitForFunction(wanted);
// The last frame of what was paused may still be on its way.
const lastFrame = async (opened) => {
  await status(opened, () => !window.taffeta.status.playing && window.taffeta.stage.frame.frame === window.taffeta.status.at);
  return frame(opened);
};
const frames = async (opened, more) => {
  const from = await frame(opened);
  await opened.waitForFunction((to) => window.taffeta.stage.frame.frame >= to, from + more);
};

await test("the page loads and the cloth moves", ["flag"], {}, async (opened) => {
  const before = await place(opened, 59);
  await frames(opened, 5);
  assert.notDeepEqual(await place(opened, 59), before);
  assert.ok((await colours(opened, "#stage", "flag.png")) > 20, "the picture is not empty");
  assert.match(await opened.locator("#certificate").innerText(), /Largest strain .* within the tolerance of 1 %/);
  assert.equal(await opened.locator(".plot").count(), 5);
});

await test("the start keeps its promises", ["hang"], {}, async (opened) => {
  await opened.click("#play");
  await opened.click("#reset");
  await opened.waitForFunction(() => window.taffeta.stage.frame.frame === 0 && window.taffeta.stage.frame.sides[0].certificate);
  assert.match(await opened.locator("#certificate").innerText(), /Frame 0: all promises held/);
});

await test("a drag moves a vertex, and letting go frees it", ["hang"], {}, async (opened) => {
  await frames(opened, 2);
  await opened.click("#play");
  await status(opened, () => !window.taffeta.status.playing);
  const [x, y, particle] = await opened.evaluate(() => {
    const { stage } = window.taffeta;
    const box = document.getElementById("canvas").getBoundingClientRect();
    for (let k = 0; k < stage.shape.particles; k += 7) {
      const [x, y] = stage.onCanvas(stage.sides[0].cloth.place(k));
      const pick = stage.pick(x, y);
      if (pick && !window.taffeta.status.held.includes(pick.particle) && k > 200) return [x + box.left, y + box.top, pick.particle];
    }
  });
  const before = await place(opened, particle);
  await opened.click("#play");
  await opened.mouse.move(x, y);
  await opened.mouse.down();
  // No further than the cloth can follow: what pulls at pins takes many sub-steps.
  await opened.mouse.move(x - 20, y - 30, { steps: 6 });
  await status(opened, () => window.taffeta.status.held.length === 1);
  const held = await opened.evaluate(() => window.taffeta.status.held[0]);
  await frames(opened, 12);
  const after = await place(opened, held);
  assert.ok(Math.hypot(...after.map((c, k) => c - before[k])) > 0.02, `${before} to ${after}`);
  await opened.mouse.up();
  await status(opened, () => window.taffeta.status.held.length === 0);
});

/** A point of the cloth on the screen. */
const onCloth = (opened, particle) => opened.evaluate((particle) => {
  const { stage } = window.taffeta;
  const box = document.getElementById("canvas").getBoundingClientRect();
  const [x, y] = stage.onCanvas(stage.sides[0].cloth.place(particle));
  return [x + box.left, y + box.top];
}, particle);

await test("a reload in mid-drag lets go", ["flag"], {}, async (opened) => {
  const [x, y] = await onCloth(opened, 1225);
  await opened.mouse.move(x, y);
  await opened.mouse.down();
  await opened.mouse.move(x + 20, y, { steps: 3 });
  await status(opened, () => window.taffeta.status.held.length === 1);
  await opened.reload();
  await status(opened, () => window.taffeta?.status?.held.length === 0);
  await opened.mouse.up();
});

await test("a press close beside the cloth grabs it, and the camera stays above the floor", ["hang"], {}, async (opened) => {
  const camera = () => opened.evaluate(() => window.taffeta.stage.camera.position.toArray());
  await opened.click("#play");
  await lastFrame(opened);
  // From the lowest point of the cloth ten pixels down: beside it, but not far.
  const [x, y] = await opened.evaluate(() => {
    const { stage } = window.taffeta;
    const box = document.getElementById("canvas").getBoundingClientRect();
    const all = Array.from({ length: stage.shape.particles }, (_, k) => stage.onCanvas(stage.sides[0].cloth.place(k)));
    const [x, y] = all.reduce((low, at) => (at[1] > low[1] ? at : low));
    return [x + box.left, y + box.top + 10];
  });
  const before = await camera();
  await opened.mouse.move(x, y);
  await opened.waitForFunction(() => document.getElementById("canvas").classList.contains("hand"));
  await opened.mouse.down();
  await opened.mouse.move(x + 30, y, { steps: 3 });
  await status(opened, () => window.taffeta.status.held.length === 1);
  await opened.mouse.up();
  assert.deepEqual(await camera(), before, "the camera stands still");
  const { x: left, y: top } = await opened.locator("#canvas").boundingBox();
  await opened.mouse.move(left + 30, top + 300);
  await opened.mouse.down();
  await opened.mouse.move(left + 30, top + 10, { steps: 5 });
  await opened.mouse.up();
  assert.notDeepEqual(await camera(), before, "far beside the cloth the view turns");
  const floor = await opened.evaluate(() => window.taffeta.stage.floor.position.y);
  assert.ok((await camera())[1] > floor, `${await camera()} is above ${floor}`);
});

await test("two fingers on the cloth zoom", ["flag"], { touch: true }, async (opened) => {
  await opened.click("#play");
  await lastFrame(opened);
  const distance = () => opened.evaluate(() => window.taffeta.stage.controls.getDistance());
  const before = await distance();
  const [x, y] = await onCloth(opened, 1225);
  const cdp = await opened.context().newCDPSession(opened);
  const fingers = (...across) => across.map((dx, id) => ({ x: x + dx, y, id }));
  await cdp.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: fingers(-20) });
  await cdp.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: fingers(-20, 20) });
  for (const apart of [30, 50, 80]) await cdp.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: fingers(-apart, apart) });
  await cdp.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  assert.ok((await distance()) < 0.7 * before, `${before} to ${await distance()}`);
  await status(opened, () => window.taffeta.status.held.length === 0);
});

await test("nothing flashes while the page loads", ["flag"], {}, async (opened) => {
  const cdp = await opened.context().newCDPSession(opened);
  const pictures = [];
  cdp.on("Page.screencastFrame", ({ data, sessionId }) => {
    pictures.push(data);
    cdp.send("Page.screencastFrameAck", { sessionId }).catch(() => {});
  });
  await cdp.send("Page.startScreencast", { format: "png", maxWidth: 400, maxHeight: 250 });
  for (let k = 0; k < 3; k++) {
    await opened.reload();
    await opened.waitForFunction(() => window.taffeta?.stage.frame && window.taffeta.stage.pictures > 5);
  }
  await cdp.send("Page.stopScreencast");
  // The upper left corner of the stage shows nothing but the sky.
  const darkest = await opened.evaluate((pictures) => Promise.all(pictures.map(async (data) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))]));
    const pen = new OffscreenCanvas(image.width, image.height).getContext("2d");
    pen.drawImage(image, 0, 0);
    return pen.getImageData(8, 35, 1, 1).data[0];
  })), pictures);
  assert.ok(Math.min(...darkest) > 128, `${darkest}`);
});

await test("a frame that takes long says so and can be cancelled", ["flag"], {}, async (opened) => {
  const set = (key, value) => opened.evaluate(([key, value]) => window.taffeta.link.ask({ do: "set", key, value }), [key, value]);
  await set("solver.steps_per_frame", 100_000);
  await set("frame_time", 1000);
  await opened.locator("#computing").waitFor();
  await opened.screenshot({ path: join(shots, "computing.png") });
  await opened.click("#cancel");
  await status(opened, () => !window.taffeta.status.playing && !window.taffeta.status.computing);
  await opened.locator("#computing").waitFor({ state: "hidden" });
  await opened.selectOption("#choice", "hang");
  await status(opened, () => window.taffeta.status.choice === "hang");
});

await test("the tools pin and throw", ["flag"], {}, async (opened) => {
  await opened.getByRole("radio", { name: "Pin" }).click();
  const [x, y] = await opened.evaluate(() => {
    const { stage } = window.taffeta;
    const box = document.getElementById("canvas").getBoundingClientRect();
    const [x, y] = stage.onCanvas(stage.sides[0].cloth.place(1225));
    return [x + box.left, y + box.top];
  });
  await opened.mouse.click(x, y);
  await status(opened, () => window.taffeta.status.held.length === 1);
  await opened.getByRole("radio", { name: "Ball" }).click();
  await opened.mouse.click(x, y);
  await opened.waitForFunction(() => window.taffeta.stage.shape.bodies.length === 1);
  await frames(opened, 3);
});

await test("a ball that flies away is not looked after", ["flag"], {}, async (opened) => {
  const distance = () => opened.evaluate(() => window.taffeta.stage.camera.position.length());
  await opened.click("#play");
  await opened.getByRole("button", { name: "See all" }).click();
  const before = await distance();
  // Away from the cloth, as fast as it goes.
  await opened.evaluate(() => window.taffeta.link.ask({ do: "ball", from: [0, 3, 3], velocity: [0, 20, 60], radius: 0.1 }));
  await opened.click("#play");
  await frames(opened, 15);
  await opened.click("#play");
  await lastFrame(opened);
  await opened.getByRole("button", { name: "See all" }).click();
  assert.ok((await distance()) < 1.5 * before, `from ${before} to ${await distance()}`);
  assert.match(await opened.locator("#certificate").innerText(), /the nearest is [\d.]+ m away/);
});

await test("a slider changes the wind, a key changes the cloth", ["flag"], {}, async (opened) => {
  await opened.locator("#wind-speed").focus();
  for (let k = 0; k < 30; k++) await opened.keyboard.press("ArrowRight");
  await status(opened, () => Math.hypot(...window.taffeta.status.scene.air.wind) > 8);
  await opened.locator("#keys-section summary").click();
  await opened.fill("#keys-filter", "density");
  const density = opened.locator('[data-path="fabrics.bunting.density"] input');
  await density.fill("250");
  await density.press("Enter");
  await status(opened, () => window.taffeta.status.scene.fabrics.bunting.density === 250);
  await opened.fill("#keys-filter", "cloth_cloth");
  await opened.locator('[data-path="contact.cloth_cloth"] input').uncheck();
  await status(opened, () => window.taffeta.status.scene.contact.cloth_cloth === false);
  await opened.fill("#keys-filter", "velocities");
  await opened.locator('[data-path="solver.velocities"] select').selectOption("corrected");
  await status(opened, () => window.taffeta.status.scene.solver.velocities === "corrected");
  await opened.fill("#keys-filter", "");
  await opened.screenshot({ path: join(shots, "keys.png") });
  await opened.fill("#keys-filter", "columns");
  const columns = opened.locator('[data-path="cloth[0].sheet.columns"] input');
  await columns.fill("30");
  // The notice goes by itself after a while: it is waited for from before it can come.
  const told = opened.locator("#notices").getByText(/begins anew/).first().waitFor();
  await columns.press("Enter");
  await Promise.all([told, opened.waitForFunction(() => window.taffeta.stage.shape.particles === 1200)]);
  await columns.fill("1");
  await columns.press("Enter");
  await opened.locator("#notices .bad").waitFor();
  await opened.locator("#notices .bad").evaluateAll((lines) => lines.forEach((line) => line.remove()));
});

await test("a garment is made of another fabric", ["shirt"], {}, async (opened) => {
  const before = await opened.evaluate(() => window.taffeta.stage.shape.cloths[0].colour);
  assert.notEqual(await opened.locator("#fabric").inputValue(), "silk");
  await opened.selectOption("#fabric", "silk");
  await opened.waitForFunction((before) => window.taffeta.stage.shape.cloths[0].colour !== before, before);
  await status(opened, () => window.taffeta.status.scene.garment[0].fabric === "silk");
  assert.equal(await opened.locator("#fabric").inputValue(), "silk");
});

await test("strain is read on the cloth", ["hang"], {}, async (opened) => {
  await frames(opened, 5);
  await opened.click("#play");
  await lastFrame(opened);
  await opened.selectOption("#colour", "strain");
  await opened.waitForFunction(() => window.taffeta.stage.drawnQuality === 0);
  const shot = (await opened.screenshot({ path: join(shots, "strain.png") })).toString("base64");
  const points = await Promise.all([200, 620, 1130, 1500, 2100].map((particle) => onCloth(opened, particle)));
  const light = await opened.evaluate(async ([data, points]) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))]));
    const pen = new OffscreenCanvas(image.width, image.height).getContext("2d", { willReadFrequently: true });
    pen.drawImage(image, 0, 0);
    return points.map(([x, y]) => Math.max(...pen.getImageData(Math.round(x), Math.round(y), 1, 1).data.slice(0, 3)));
  }, [shot, points]);
  assert.ok(light.every((channel) => channel > 150), `${light}`);
});

await test("maps have legends and read what they say", ["hang"], {}, async (opened) => {
  await frames(opened, 5);
  await opened.click("#play");
  await lastFrame(opened);
  const seen = new Set();
  for (const map of await opened.evaluate(() => [...document.getElementById("colour").options].map((option) => option.value))) {
    await opened.selectOption("#colour", map);
    await opened.waitForFunction(() => window.taffeta.stage.drawnQuality === 0);
    await opened.waitForTimeout(100);
    const legend = map === "fabric" ? "" : await opened.locator("#legend").innerText();
    if (map !== "fabric") assert.match(legend, /\[(%|m\/s|mm|kPa|1\/m|mJ\/m²)\]/, map);
    const shot = await opened.locator("#stage").screenshot({ path: join(shots, `map-${map.replace(" ", "-")}.png`) });
    seen.add(`${legend} ${shot.length}`);
  }
  assert.equal(seen.size, 10, "every map is another picture");
  const [warp, weft] = await opened.evaluate(() => ["warp strain", "weft strain"].map((map) => window.taffeta.stage.sides[0].cloth.measured(map)));
  const largest = (numbers) => Math.max(...Object.values(numbers).map(Math.abs));
  assert.ok(largest(warp) > 0 && largest(warp) < 0.05 && largest(weft) > 0 && largest(weft) < 0.05, `${largest(warp)} ${largest(weft)}`);
});

await test("pressure is weight by area, and is told as not known in recordings", ["hang"], {}, async (opened) => {
  const text = 'fabrics = { heavy = { base = "cotton", density = 200 } }\ncloth = [{ fabric = "heavy", position = [0, 0.001, 0], sheet = { width = 0.3, height = 0.3, columns = 10, rows = 10 } }]\ncollider = [{ plane = {} }]\n';
  await opened.evaluate((text) => window.taffeta.link.ask({ do: "read", name: "lying.toml", text }), text);
  await opened.waitForFunction(() => window.taffeta.stage.shape.particles === 100 && window.taffeta.stage.frame.frame > 15);
  await opened.selectOption("#colour", "pressure");
  assert.match(await opened.locator("#legend").innerText(), /pressure of bodies .*\[kPa\]/);
  const [found, weight] = await opened.evaluate(() => {
    const { frame } = window.taffeta.stage;
    const pressures = [...frame.arrays.get("pressure 0")].map((number) => number * frame.sides[0].pressure_unit);
    return [pressures.reduce((sum, pressure) => sum + pressure) / pressures.length, 1e-3 * 0.2 * 9.81];
  });
  assert.ok(Math.abs(found / weight - 1) < 0.03, `${found} kPa, ${weight} kPa expected`);
  await opened.click("#record");
  await status(opened, () => window.taffeta.status.recording);
  await frames(opened, 2);
  await opened.click("#record");
  await status(opened, () => window.taffeta.status.choices.at(-1).recording);
  await opened.selectOption("#choice", { index: (await opened.locator("#choice option").count()) - 1 });
  await opened.waitForFunction(() => /is not known/.test(document.getElementById("legend").innerText));
});

/** How many scenes the program has. */
const builtIn = readdirSync(new URL("../../../../scenes", import.meta.url)).filter((file) => file.endsWith(".toml")).length;

await test("the gallery opens scenes by their pictures", ["flag"], {}, async (opened) => {
  await opened.click("#gallery");
  await opened.locator("#gallery-box").waitFor();
  assert.equal(await opened.locator(".card").count(), builtIn);
  assert.equal(await opened.locator("#gallery-list section").count(), 5, "no built-in scene is without a group");
  await opened.evaluate(() => Promise.all([...document.querySelectorAll(".card img")].map((image) => {
    image.loading = "eager";
    return image.decode();
  })));
  await opened.screenshot({ path: join(shots, "gallery.png") });
  await opened.click('[data-choice="hang"]');
  await status(opened, () => window.taffeta.status.choice === "hang");
  await opened.locator("#gallery-box").waitFor({ state: "hidden" });
});

await test("how it looks survives a reload", ["hang"], {}, async (opened) => {
  assert.ok(await opened.locator("#hint").isVisible(), "who comes first is told what hands can do");
  await opened.click("#play");
  await lastFrame(opened);
  await opened.click("#hint-close");
  await opened.selectOption("#colour", "speed");
  await opened.click("#theme");
  await opened.keyboard.press("2");
  const camera = () => opened.evaluate(() => window.taffeta.stage.camera.position.toArray().map((x) => Math.round(1000 * x)));
  const before = await camera();
  await opened.reload();
  await opened.waitForFunction(() => window.taffeta?.stage.frame && window.taffeta.stage.pictures > 2);
  assert.equal(await opened.locator("#colour").inputValue(), "speed");
  assert.equal(await opened.locator("html").getAttribute("data-theme"), "dark");
  assert.deepEqual(await camera(), before);
  assert.ok(await opened.locator("#hint").isHidden());
});

await test("changes are undone", ["flag"], {}, async (opened) => {
  const before = await opened.evaluate(() => window.taffeta.status.scene.solver.tolerance);
  assert.ok(await opened.locator("#undo").isDisabled());
  await opened.fill("#tolerance", "3");
  await opened.press("#tolerance", "Enter");
  await status(opened, () => window.taffeta.status.scene.solver.tolerance === 0.03);
  await opened.click("#undo");
  await opened.waitForFunction((before) => window.taffeta.status.scene.solver.tolerance === before, before);
  assert.ok(await opened.locator("#undo").isDisabled());
});

await test("the hand's line is drawn, and keys are words", ["hang"], {}, async (opened) => {
  const [x, y] = await onCloth(opened, 1225);
  await opened.mouse.move(x, y);
  await opened.waitForFunction(() => window.taffeta.stage.reach.visible);
  await opened.mouse.down();
  await opened.mouse.move(x + 60, y - 40, { steps: 4 });
  await opened.waitForFunction(() => window.taffeta.stage.lead.visible);
  await opened.screenshot({ path: join(shots, "hand.png") });
  await opened.mouse.up();
  await opened.waitForFunction(() => !window.taffeta.stage.lead.visible);
  await opened.locator("#keys-section summary").click();
  const row = opened.locator('[data-path="solver.steps_per_frame"]');
  assert.equal(await row.locator("span").innerText(), "Steps per frame");
  assert.match(await row.getAttribute("title"), /^solver\.steps_per_frame/);
});

await test("A and B run side by side in step", ["hang"], {}, async (opened) => {
  const other = await opened.evaluate(() => [...document.getElementById("compare").options].map((o) => o.value).find((v) => v && v !== window.taffeta.status.scene.solver.method));
  await opened.selectOption("#compare", other);
  await opened.waitForFunction(() => window.taffeta.stage.sides.length === 2 && window.taffeta.stage.frame.sides.length === 2);
  await frames(opened, 3);
  assert.equal(await opened.locator("#sides span").count(), 2);
  const { x, y, width, height } = await opened.locator("#canvas").boundingBox();
  for (const half of [0, 1]) {
    const clip = { x: x + (half * width) / 2, y: y + 60, width: width / 2, height: height - 60 };
    assert.ok((await colours(opened, "", `side-${half}.png`, clip)) > 8, `side ${half} is not empty`);
  }
  await opened.screenshot({ path: join(shots, "compare.png") });
});

await test("a recording is made, opened and scrubbed", ["hang"], {}, async (opened) => {
  await opened.click("#record");
  await status(opened, () => window.taffeta.status.recording);
  await frames(opened, 12);
  await opened.click("#record");
  await status(opened, () => window.taffeta.status.choices.at(-1).recording);
  await opened.selectOption("#choice", { index: (await opened.locator("#choice option").count()) - 1 });
  await status(opened, () => !window.taffeta.status.live && window.taffeta.status.frames > 10);
  await opened.locator("#timeline").fill("3");
  await opened.waitForFunction(() => window.taffeta.stage.frame.frame === 3);
  const before = await place(opened, 50);
  await opened.locator("#timeline").fill("9");
  await opened.waitForFunction(() => window.taffeta.stage.frame.frame === 9);
  assert.notDeepEqual(await place(opened, 50), before);
  await opened.click("#back");
  await opened.waitForFunction(() => window.taffeta.stage.frame.frame === 8);
  await opened.screenshot({ path: join(shots, "recording.png") });
});

await test("pictures and scene files are saved", ["flag"], {}, async (opened) => {
  const [scene] = await Promise.all([opened.waitForEvent("download"), opened.click("#save")]);
  assert.match(readFileSync(await scene.path(), "utf8"), /\[air\]/);
  const [picture] = await Promise.all([opened.waitForEvent("download"), opened.click("#picture")]);
  const bytes = readFileSync(await picture.path());
  assert.equal(bytes.subarray(1, 4).toString(), "PNG");
  assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [1400, 860], "it has the window's size");
  writeFileSync(join(shots, "picture.png"), bytes);
});

/** Drops a file on the page. */
const drop = (opened, name, bytes) => opened.evaluate(([name, data]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], name));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}, [name, Buffer.from(bytes).toString("base64")]);

/** A sheet of n by n points as OBJ, or a closed box. */
const obj = (n) => [
  ...Array.from({ length: n * n }, (_, k) => `v ${(k % n) / n} 0 ${Math.floor(k / n) / n}`),
  ...Array.from({ length: (n - 1) * (n - 1) }, (_, k) => 1 + (k % (n - 1)) + n * Math.floor(k / (n - 1))).map((i) => `f ${i} ${i + n} ${i + n + 1} ${i + 1}`),
].join("\n");
const box = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\nf 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 4 8 7 3\nf 1 5 8 4\nf 2 3 7 6\n";

async function takesFiles(opened) {
  await opened.evaluate(() => window.taffeta.link.ask({ do: "pause" }));
  // Longer than a message may be.
  await drop(opened, "mine.toml", `# ${"x".repeat(20_000)}\n[[cloth]]\nsheet = { width = 1, height = 1, columns = 12, rows = 12 }\n`);
  await status(opened, () => window.taffeta.status.choice === "mine" && window.taffeta.stage.shape.particles === 144);
  await drop(opened, "sheet.obj", obj(30));
  await status(opened, () => window.taffeta.status.choice === "sheet.obj" && window.taffeta.stage.shape.particles === 900);
  await drop(opened, "box.obj", box);
  await status(opened, () => window.taffeta.status.choice === "box.obj" && window.taffeta.stage.shape.particles === 3600 && window.taffeta.stage.shape.bodies.length === 2);
  await drop(opened, "picture.jpg", "none");
  await opened.getByText(/picture.jpg: scenes \(.toml\)/).waitFor();
  await drop(opened, "broken.obj", "v 1 2\n");
  await opened.getByText(/broken.obj: .*line 1/).waitFor();
}

/** A recording, as it lies on the disk, is dropped, shown and saved whole for other programs. */
async function takesRecording(opened, bytes) {
  await drop(opened, "dropped.taffeta", bytes);
  await status(opened, () => window.taffeta.status.choice === "dropped.taffeta" && !window.taffeta.status.live && window.taffeta.stage.frame.shape === window.taffeta.stage.shape.shape);
  const frames = await opened.evaluate(() => window.taffeta.status.frames);
  const whole = async (button) => {
    const [made] = await Promise.all([opened.waitForEvent("download"), opened.click(button, { modifiers: ["Shift"] })]);
    return [made.suggestedFilename(), readFileSync(await made.path())];
  };
  const [glbName, glb] = await whole("#glb");
  assert.equal(glbName, "dropped.glb");
  const json = JSON.parse(glb.subarray(20, 20 + glb.readUInt32LE(12)).toString());
  assert.equal(json.meshes[0].primitives[0].targets.length, frames - 1, "every frame but one is a target");
  const [usdzName, usdz] = await whole("#usdz");
  assert.equal(usdzName, "dropped.usdz");
  const [, last, first] = usdz.subarray(0, 1000).toString("latin1").match(/endTimeCode = (\d+)[^]*startTimeCode = (\d+)/);
  assert.equal(last - first + 1, frames);
}

await test("scenes and meshes are dropped", ["flag"], {}, takesFiles);

await test("recordings are dropped and exported whole", ["hang"], {}, async (opened, { folder }) => {
  await opened.click("#record");
  await status(opened, () => window.taffeta.status.recording);
  await frames(opened, 3);
  await opened.click("#record");
  await status(opened, () => window.taffeta.status.choices.at(-1).recording);
  const refused = await opened.evaluate(() => window.taffeta.link.ask({ do: "export", format: "gltf" }).catch((error) => error.message));
  assert.match(refused, /record it/);
  const name = await opened.evaluate(() => window.taffeta.status.choices.at(-1).id);
  await takesRecording(opened, readFileSync(resolve(folder, name)));
});

await test("a drag beyond reach costs no more than one within it", ["flag"], {}, async (opened) => {
  await opened.evaluate(() => window.taffeta.link.ask({ do: "hold", particle: 2399, place: [3, 3, 3] }));
  const from = await frame(opened);
  // Sub-steps do not depend on how busy the machine is.
  const most = await opened.evaluate(async (to) => {
    let most = 0;
    for (let seen = -1; seen < to; ) {
      const { frame, sides } = window.taffeta.stage.frame;
      if (frame !== seen) most = Math.max(most, sides[0].report.iterations ?? 0);
      seen = frame;
      await new Promise((done) => requestAnimationFrame(done));
    }
    return most;
  }, from + 25);
  assert.ok(most > 0 && most <= 1500, `${most} iterations in a frame`);
});

await test("what would take all memory or start in the cloth is refused", ["flag"], {}, async (opened) => {
  const asked = (request) => opened.evaluate((request) => window.taffeta.link.ask(request).then(() => "", (error) => error.message), request);
  assert.match(await asked({ do: "set", key: "cloth[0].sheet.columns", value: 10_000 }), /more than half of the memory|particles/);
  assert.match(await asked({ do: "ball", from: [0.75, 1.5, 0], velocity: [0, 0, 1], radius: 0.5 }), /would start in the cloth/);
  await frames(opened, 2);
});

await test("the energy of a soft solid is that of its cloth", ["jelly"], {}, async (opened) => {
  await frames(opened, 2);
  const { kinetic, gravity, elastic } = await opened.evaluate(() => window.taffeta.stage.frame.sides[0].report.energy_j);
  assert.ok(Math.abs(kinetic) + Math.abs(gravity) + Math.abs(elastic) < 200, `${kinetic} ${gravity} ${elastic} J`);
});

await test("a flag has its pole", ["flag"], {}, async (opened) => {
  const [x, top, low] = await opened.evaluate(() => {
    const { pole, floor } = window.taffeta.stage;
    return [pole.position.x, pole.position.y + 0.5 * pole.geometry.parameters.height, pole.position.y - 0.5 * pole.geometry.parameters.height - floor.position.y];
  });
  assert.ok(Math.abs(x) < 0.03 && top > 2 && Math.abs(low) < 1e-6, `${x} ${top} ${low}`);
  await opened.evaluate(() => window.taffeta.link.ask({ do: "open", choice: "hang" }));
  await opened.waitForFunction(() => window.taffeta.stage.shape.cloths[0].name !== "flag" && window.taffeta.stage.pole === null);
});

// VS Code hosts the widgets of anywidget in a page of its own, loads them as this does, and may forbid the network.
await test("the widget of notebooks needs nothing but itself", ["hang"], {}, async (opened) => {
  const messages = [];
  opened.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => typeof payload !== "string" && messages.push(payload.toString("base64"))));
  await opened.reload();
  await opened.waitForFunction(() => window.taffeta?.stage.frame?.frame > 1);
  const folder = mkdtempSync(join(tmpdir(), "taffeta-widget-"));
  execFileSync("npx", ["vite", "build", "--config", "vite.widget.config.ts", "--outDir", folder, "--logLevel", "error"], { cwd: fileURLToPath(new URL("..", import.meta.url)), stdio: "inherit" });
  const host = await opened.context().newPage(), wrong = [];
  host.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  host.on("pageerror", (error) => wrong.push(error.message));
  const policy = "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; img-src data:";
  await host.setContent(`<meta http-equiv="Content-Security-Policy" content="${policy}"><div id="stage" style="width: 600px"></div>`);
  const asked = await host.evaluate(async ([source, messages]) => {
    const { default: widget } = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    const sent = [];
    let heard;
    const model = { get: (key) => ({ height: 400, frames: null })[key], send: (message) => sent.push(message.do), on: (_, listener) => (heard = listener), off() {} };
    widget.render({ model, el: document.getElementById("stage") });
    heard({}, messages.map((data) => new DataView(Uint8Array.from(atob(data), (c) => c.charCodeAt(0)).buffer)));
    return sent;
  }, [readFileSync(join(folder, "widget.js"), "utf8"), messages]);
  assert.deepEqual(asked, ["start"]);
  await host.waitForFunction(() => /frame \d/.test(document.querySelector(".taffeta .bar span").textContent));
  assert.ok((await colours(host, "#stage", "widget.png")) > 12, "the cloth is seen");
  assert.deepEqual(wrong, []);
});

await test("no dark dots along folds", ["drape"], {}, async (opened) => {
  await opened.evaluate(async () => {
    const size = (key) => ({ do: "set", key: `cloth[0].sheet.${key}`, value: 50 });
    for (const request of [{ do: "pause" }, size("columns"), size("rows"), { do: "reset" }, ...Array(24).fill({ do: "step" })]) await window.taffeta.link.ask(request);
  });
  // The same frame on every machine, however fast it is.
  await opened.waitForFunction(() => window.taffeta.stage.shape.particles === 2500 && window.taffeta.stage.frame.frame === 24);
  // Bodies are drawn a little further away than they are, so that cloth wins over what lies just below it; `nearer` shows what else would be seen.
  const count = (nearer) => opened.evaluate((nearer) => {
    for (const side of window.taffeta.stage.sides) {
      side.bodies.group.traverse(({ material }) => nearer && material && Object.assign(material, { polygonOffsetFactor: -4, polygonOffsetUnits: -60 }));
    }
    const { width, height, data } = (() => {
      const canvas = window.taffeta.stage.drawn(1100, 760);
      return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    })();
    const light = (x, y) => data[4 * (y * width + x)] + data[4 * (y * width + x) + 1] + data[4 * (y * width + x) + 2];
    // The cloth is warm, the ground is not: what is seen of the ball past the rim of the cloth is no dot.
    const isCloth = ([x, y]) => light(x, y) > 480 && data[4 * (y * width + x)] > data[4 * (y * width + x) + 2];
    let dots = 0;
    // As dark as the ball below, amid light cloth two pixels away on all sides; folds are not so dark.
    for (let y = 2; y < height - 2; y++) for (let x = 2; x < width - 2; x++) {
      const around = [[x - 2, y], [x + 2, y], [x, y - 2], [x, y + 2]];
      if (light(x, y) < 250 && around.every(isCloth)) dots += 1;
    }
    return dots;
  }, nearer);
  const [dots, shown] = [await count(false), await count(true)];
  assert.ok(dots < 12 && shown > 30, `${dots} dots, ${shown} if the ball were nearer`);
});

await test("shadows have no stairs while something moves", ["flag"], {}, async (opened) => {
  await opened.waitForFunction(() => window.taffeta.stage.frame.frame >= 40);
  await opened.click("#play");
  await lastFrame(opened);
  await opened.waitForFunction(() => window.taffeta.stage.drawnQuality === 0);
  for (const quality of [1, 2, 3]) {
    const steps = await opened.evaluate((quality) => {
      const { stage } = window.taffeta;
      stage.useQuality(quality);
      stage.render();
      const canvas = document.getElementById("canvas"), pen = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
      pen.drawImage(canvas, 0, 0);
      const { width, height, data } = pen.getImageData(0, 0, canvas.width, canvas.height);
      const at = (x, y) => 4 * (y * width + x);
      const light = (x, y) => data[at(x, y)] + data[at(x, y) + 1] + data[at(x, y) + 2];
      const drawn = (x, y) => data[at(x, y) + 3] === 255;
      let steps = 0;
      // Darker or lighter than on both sides, amid what is drawn: the teeth of a shadow that lies along the cloth.
      for (let y = 0; y < height; y++) for (let x = 1; x < width - 1; x++) {
        const [left, right] = [light(x, y) - light(x - 1, y), light(x, y) - light(x + 1, y)];
        if (drawn(x - 1, y) && drawn(x, y) && drawn(x + 1, y) && left * right > 0 && Math.min(Math.abs(left), Math.abs(right)) > 90) steps += 1;
      }
      return steps;
    }, quality);
    assert.ok(steps < 60, `${steps} teeth at quality ${quality}`);
  }
});

await test("films, exports and links", ["flag"], {}, async (opened, { url }) => {
  await opened.click("#film");
  await frames(opened, 10);
  const [film] = await Promise.all([opened.waitForEvent("download"), opened.click("#film")]);
  const seen = readFileSync(await film.path());
  assert.match(film.suggestedFilename(), /^flag\.(mp4|webm)$/);
  assert.ok(seen.length > 5000, `${seen.length} bytes`);
  const [glb] = await Promise.all([opened.waitForEvent("download"), opened.click("#glb")]);
  const bytes = readFileSync(await glb.path());
  const json = JSON.parse(bytes.subarray(20, 20 + bytes.readUInt32LE(12)).toString());
  assert.equal(json.accessors[json.meshes[0].primitives[0].attributes.POSITION].count, 2400);
  const [usdz] = await Promise.all([opened.waitForEvent("download"), opened.click("#usdz")]);
  assert.equal(readFileSync(await usdz.path()).subarray(0, 2).toString(), "PK");
  const size = await opened.evaluate(async () => {
    const picture = await createImageBitmap(await window.taffeta.stage.picture(1234, 567));
    return [picture.width, picture.height];
  });
  assert.deepEqual(size, [1234, 567]);

  await opened.evaluate(() => window.taffeta.link.ask({ do: "open", choice: "hang" }));
  await opened.goto(`${url}#scene=curtain&air.wind=%5B4%2C0%2C0%5D`);
  await opened.reload();
  await opened.waitForFunction(() => window.taffeta?.status?.choice === "curtain" && window.taffeta.status.scene.air.wind[0] === 4);
});

await test("pictures get better again, and what stands still is as good as it can be", ["flag"], {}, async (opened) => {
  await opened.evaluate(() => window.taffeta.link.ask({ do: "speed", factor: 0.1 }));
  // As after a slow moment.
  await opened.evaluate(() => (window.taffeta.stage.quality = 4));
  await opened.waitForFunction(() => window.taffeta.stage.quality < 4);
  await opened.click("#play");
  await lastFrame(opened);
  await opened.waitForFunction(() => window.taffeta.stage.drawnQuality === 0);
  const [drawn, shown] = await opened.evaluate(() => [document.getElementById("canvas").width, document.getElementById("canvas").clientWidth]);
  assert.equal(drawn, shown);
  await opened.screenshot({ path: join(shots, "still.png") });
});

await test("everything can be done by keyboard", ["hang"], {}, async (opened) => {
  await opened.locator("#canvas").focus();
  await opened.keyboard.press(" ");
  const at = await lastFrame(opened);
  await opened.keyboard.press(".");
  await opened.waitForFunction((n) => window.taffeta.stage.frame.frame === n + 1, at);
  await opened.keyboard.press("g");
  await status(opened, () => window.taffeta.status.held.length === 1);
  for (let k = 0; k < 4; k++) await opened.keyboard.press("ArrowUp");
  await opened.keyboard.press("p");
  await opened.keyboard.press("c");
  assert.equal(await opened.locator("#colour").inputValue(), "strain");
  assert.ok(await opened.locator("#legend").isVisible());
  await opened.keyboard.press("?");
  assert.ok(await opened.locator("#help-box").isVisible());
  await opened.keyboard.press("Escape");
  // Tab reaches every control, and nothing catches it.
  const reached = new Set();
  for (let k = 0; k < 60; k++) {
    await opened.keyboard.press("Tab");
    reached.add(await opened.evaluate(() => document.activeElement.id || document.activeElement.textContent));
  }
  for (const id of ["choice", "method", "play", "wind-speed", "colour", "save", "canvas"]) assert.ok(reached.has(id), `${id} is reached`);
});

await test("Space plays after a click on a tool", ["flag"], {}, async (opened) => {
  for (const name of ["Pin", "Turn"]) {
    const playing = await opened.evaluate(() => window.taffeta.status.playing);
    await opened.getByRole("radio", { name }).click();
    await opened.keyboard.press(" ");
    await opened.waitForFunction((before) => window.taffeta.status.playing !== before, playing);
  }
});

await test("a second page looks on and can take control", ["flag"], {}, async (opened, { url }) => {
  const second = await page(chromium, url);
  assert.ok(await second.locator("#play").isDisabled());
  await second.click("#take");
  await second.waitForFunction(() => !document.getElementById("play").disabled);
  await opened.waitForFunction(() => document.getElementById("play").disabled);
  await second.context().close();
});

for (const [name, width, height] of [["narrow", 390, 844], ["wide", 1920, 1080], ["4k", 3840, 2160]]) {
  for (const dark of [false, true]) {
    await test(`${name}, ${dark ? "dark" : "light"}`, ["drape"], { width, height, dark, touch: name === "narrow" }, async (opened) => {
      await frames(opened, 2);
      const over = await opened.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(over <= 0, `${over} pixels stick out`);
      assert.ok((await colours(opened, "#stage", `${name}-${dark ? "dark" : "light"}-stage.png`)) > 12);
      await opened.screenshot({ path: join(shots, `${name}-${dark ? "dark" : "light"}.png`) });
      if (name === "narrow") await opened.screenshot({ path: join(shots, `narrow-${dark ? "dark" : "light"}-all.png`), fullPage: true });
    });
  }
}

// --- the page that has the engine in itself

if (!existsSync(siteFolder)) console.error("SKIPPED: tests of the page without a server: it is not built; npm run build:site");
else {
  await test("without a server: the cloth moves, keys and hands work", ["flag"], { site: true, isolated: true }, async (opened) => {
    const first = await opened.evaluate(() => window.taffeta.firstPicture);
    console.log(`        the first picture was there after ${(first / 1000).toFixed(2)} s`);
    await frames(opened, 5);
    assert.equal(await opened.locator("#choice option").count(), 40);
    await status(opened, () => window.taffeta.stage.frame.sides[0].certificate);
    await opened.evaluate(() => window.taffeta.link.ask({ do: "set", key: "air.wind", value: [9, 0, 0] }));
    await status(opened, () => window.taffeta.status.scene.air.wind[0] === 9);
    const [x, y] = await onCloth(opened, 1225);
    await opened.mouse.move(x, y);
    await opened.mouse.down();
    await opened.mouse.move(x + 20, y, { steps: 3 });
    await status(opened, () => window.taffeta.status.held.length === 1);
    await opened.mouse.up();
    await status(opened, () => window.taffeta.status.held.length === 0);
    const refused = await opened.evaluate(() => window.taffeta.link.ask({ do: "set", key: "cloth[0].sheet.columns", value: 10000 }).catch((error) => error.message));
    assert.match(refused, /more than half of the memory/);
    await opened.screenshot({ path: join(shots, "site.png") });
  });

  await test("without a server: recordings are downloads", ["hang"], { site: true, isolated: true }, async (opened) => {
    await opened.click("#record");
    await status(opened, () => window.taffeta.status.recording);
    await frames(opened, 4);
    const [made] = await Promise.all([opened.waitForEvent("download"), opened.click("#record")]);
    assert.equal(made.suggestedFilename(), "hang.taffeta");
    assert.equal(readFileSync(await made.path()).subarray(0, 7).toString(), "TAFFETA");
    const recorded = readFileSync(await made.path());
    await opened.selectOption("#choice", "hang.taffeta");
    await status(opened, () => !window.taffeta.status.live && window.taffeta.status.frames > 3);
    await opened.locator("#timeline").fill("2");
    await opened.waitForFunction(() => window.taffeta.stage.frame.frame === 2);
    await takesRecording(opened, recorded);
    await takesFiles(opened);
  });

  /** Thirty frames of scenes, held against the hashes that the native program has kept. */
  async function hasKeptBits(opened) {
    const kept = readFileSync(new URL("../../../taffeta-wasm/tests/kept.hashes", import.meta.url), "utf8").trim().split("\n").map((line) => line.split(" "));
    // With TAFFETA_LONG=all every scene, which takes minutes.
    const chosen = process.env.TAFFETA_LONG === "all" ? kept : kept.filter(([scene]) => ["flag", "hang", "shirt", "balloon", "ring", "objects"].includes(scene));
    for (const [scene, , thirty] of chosen) {
      const found = await opened.evaluate(async (choice) => {
        const { link } = window.taffeta;
        // What is kept was computed to its end, however long it took.
        const patient = { do: "set", key: "solver.budget", value: 1e6 };
        for (const request of [{ do: "pause" }, { do: "open", choice }, patient, { do: "reset" }, ...Array(30).fill({ do: "step" })]) await link.ask(request);
        while (window.taffeta.stage.frame.frame !== 30 || window.taffeta.status.choice !== choice) await new Promise((done) => setTimeout(done, 20));
        return window.taffeta.stage.frame.sides[0].report.state_hash;
      }, scene);
      assert.equal(found, thirty, scene);
    }
  }

  await test("without a server: the bits of the native program", ["flag"], { site: true, isolated: false }, hasKeptBits);

  const hasThreads = existsSync(new URL("../../../taffeta-wasm/npm/threads", import.meta.url));
  if (!hasThreads) console.error("SKIPPED: tests of threads in the page: the module with threads is not built; see scripts/engine-wasm.sh");
  else await test("without a server: the same bits on two threads that share memory", ["flag"], { site: true, isolated: true }, async (opened) => {
    await opened.evaluate(() => window.taffeta.link.ask({ do: "threads", count: 2 }));
    await status(opened, () => window.taffeta.status.threads === 2);
    await hasKeptBits(opened);
    // Fewer again, while it plays: helpers of the pool before are free for the next.
    for (const count of [1, 2]) {
      await opened.evaluate((count) => window.taffeta.link.ask({ do: "threads", count }), count);
      await opened.evaluate(() => window.taffeta.link.ask({ do: "play" }));
      await frames(opened, 2);
    }
  });

  for (const isolated of [true, false]) {
    await test(`without a server: a frame that takes long says so${isolated ? " and can be cancelled" : ", where no memory is shared"}`, ["flag"], { site: true, isolated }, async (opened) => {
      await opened.click("#play");
      await lastFrame(opened);
      await opened.evaluate(() => window.taffeta.link.ask({ do: "set", key: "solver.steps_per_frame", value: 400 }));
      await opened.evaluate(() => window.taffeta.link.ask({ do: "set", key: "frame_time", value: 4 }));
      const at = await frame(opened);
      await opened.click("#step");
      await opened.locator("#computing").waitFor();
      if (isolated) {
        await opened.click("#cancel");
        await status(opened, () => !window.taffeta.status.playing && !window.taffeta.status.computing);
        assert.equal(await frame(opened), at);
      } else await opened.waitForFunction((at) => window.taffeta.stage.frame.frame > at, at);
      await opened.locator("#computing").waitFor({ state: "hidden" });
    });
  }
}

await test("the page says so when the program ends", ["flag"], {}, async (opened, served) => {
  await opened.waitForFunction(() => document.getElementById("certificate").classList.contains("held"));
  served.stop();
  await opened.getByText("The program has ended").waitFor();
  assert.equal(await opened.locator("#certificate").getAttribute("class"), "");
  assert.doesNotMatch(await opened.locator("#certificate").innerText(), /held/);
  await opened.screenshot({ path: join(shots, "ended.png") });
  // Attempts to connect again are told at the console.
  opened.troubles.length = 0;
});
await chromium.close();

if ("the page says so where there is no WebGL".includes(process.argv[2] ?? "")) {
  const blind = await browser("--disable-3d-apis");
  const served = await viewer("flag");
  try {
    const opened = await blind.newPage();
    await opened.goto(served.url);
    await opened.getByText("draws nothing in three dimensions").waitFor({ timeout: 60_000 });
    await opened.screenshot({ path: join(shots, "no-webgl.png") });
    console.log("ok      the page says so where there is no WebGL");
  } catch (error) {
    failed += 1;
    console.log(`FAILED  the page says so where there is no WebGL\n${error.stack}`);
  } finally {
    served.stop();
  }
  await blind.close();
}

console.log(failed === 0 ? "all tests passed" : `${failed} tests failed`);
process.exit(failed === 0 ? 0 : 1);
