// How fast the viewer is: pictures a second, time from a drag to the changed picture, what the server costs. Prints a line for every source.
//
// node tests/measure.mjs [SECONDS] [SCENE:SIZE or RECORDING...]: on a machine that does other things too, only the CPU times mean something.

import { readFileSync, readdirSync } from "node:fs";
import { browser, page, viewer } from "./rig.mjs";

const chromium = await browser();
const seconds = Number(process.argv[2] ?? 8);
const sources = process.argv.length > 3 ? process.argv.slice(3) : ["drape:100", "hang:100", "drape:500"];
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

/** Name, parent and CPU time [s] of a process or thread, from its line in /proc. */
function told(path) {
  const [, name, rest] = /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`${path}/stat`, "utf8"));
  const fields = rest.split(" ");
  return { name, parent: Number(fields[1]), cpu: (Number(fields[11]) + Number(fields[12])) / 100 };
}

/** CPU time of the threads of a process by name [s]. */
function threads(pid) {
  const times = {};
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const { name, cpu } = told(`/proc/${pid}/task/${thread}`);
    times[name] = (times[name] ?? 0) + cpu;
  }
  return times;
}

/** CPU time of a process and all below it [s]. */
function family(root) {
  const all = new Map();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      all.set(Number(pid), told(`/proc/${pid}`));
    } catch {
      // It has ended since.
    }
  }
  const below = (pid) => pid === root || (all.has(pid) && below(all.get(pid).parent));
  return [...all].filter(([pid]) => below(pid)).reduce((sum, [, { cpu }]) => sum + cpu, 0);
}

/** From a hand's message to the first picture in which the particle is two pixels further [ms], several times; and steps meanwhile [ms]. */
const drag = async () => {
  const { stage, link } = window.taffeta;
  const particle = 0, waits = [], steps = [];
  const place = () => stage.sides[0].cloth.place(particle);
  const pause = (time) => new Promise((done) => setTimeout(done, time));
  // It is held from here on, so that all it does is the hand's.
  await link.ask({ do: "hold", particle });
  await pause(500);
  for (let k = 0; k < 9; k++) {
    const start = place(), [x, y] = stage.onCanvas(start), begun = performance.now();
    link.tell({ do: "hold", particle, place: [start.x, start.y + (k % 2 ? -0.3 : 0.3), start.z] });
    let moved = 0;
    while (moved < 2 && performance.now() - begun < 5000) {
      await new Promise((done) => requestAnimationFrame(done));
      const [nowX, nowY] = stage.onCanvas(place());
      moved = Math.hypot(nowX - x, nowY - y);
    }
    waits.push(performance.now() - begun);
    for (let wait = 0; wait < 10; wait++) {
      await pause(50);
      steps.push(stage.frame.sides[0].report.wall_ms);
    }
  }
  return { waits, steps };
};

/** Draws one frame thirty times as fast as it goes; the mean time of a picture [ms]. */
const draw = async () => {
  const { stage } = window.taffeta;
  const { frame } = stage, begun = performance.now();
  for (let k = 0; k < 30; k++) {
    stage.setFrame(frame);
    await new Promise((done) => requestAnimationFrame(done));
  }
  return (performance.now() - begun) / 30;
};

async function measure(source) {
  const [, scene, digits] = /^([a-z-]+):(\d+)$/.exec(source) ?? [];
  const size = Number(digits), recorded = scene === undefined;
  const served = await viewer(scene ?? source);
  const opened = await page(chromium, served.url, { width: 1280, height: 720 });
  if (!recorded) {
    const set = ([key, value]) => window.taffeta.link.ask({ do: "set", key: `cloth[0].sheet.${key}`, value });
    for (const key of ["rows", "columns"]) await opened.evaluate(set, [key, size]);
    await opened.waitForFunction((n) => window.taffeta.stage.shape.particles === n && window.taffeta.stage.frame.frame > 0, size * size, { timeout: 300_000 });
  }
  // Twice as many frames as the goal, so that frames are not what limits pictures.
  await opened.evaluate(() => window.taffeta.link.ask({ do: "speed", factor: 2 }));
  // A recording plays for ever: back to its start before it ends.
  const again = () => setInterval(() => {
    if (window.taffeta.stage.frame.frame > 40) for (const request of [{ do: "seek", frame: 0 }, { do: "play" }]) window.taffeta.link.tell(request);
  }, 250);
  if (recorded) await opened.evaluate(again);
  await opened.waitForTimeout(2500);
  const look = async () => ({
    ...(await opened.evaluate(() => ({ pictures: window.taffeta.stage.pictures, frame: window.taffeta.stage.frame.serial, now: performance.now() / 1000 }))),
    threads: threads(served.pid), server: family(served.pid), // The browser is a child of this process, as the viewer is.
    browser: family(process.pid) - family(served.pid),
  });
  const before = await look();
  await opened.waitForTimeout(1000 * seconds);
  const after = await look();
  const gained = (key) => after[key] - before[key];
  const wall = gained("now");
  const share = (thread) => `${((100 * ((after.threads[thread] ?? 0) - (before.threads[thread] ?? 0))) / wall).toFixed(1)} %`;
  const own = await opened.evaluate(() => window.taffeta.stage.frame.sides[0].report.wall_ms);
  const { waits, steps } = recorded ? {} : await opened.evaluate(drag);
  await opened.evaluate(() => window.taffeta.link.ask({ do: "pause" }));
  const alone = [family(process.pid) - family(served.pid), await opened.evaluate(draw), family(process.pid) - family(served.pid)];
  const quality = await opened.evaluate(() => window.taffeta.stage.quality);
  const dragged = waits && `step ${own.toFixed(1)} ms, ${median(steps).toFixed(1)} while dragged; drag to picture ${median(waits).toFixed(0)} ms (worst ${Math.max(...waits).toFixed(0)}); `;
  console.log(`${source}: ${(gained("pictures") / wall).toFixed(1)} pictures/s, ${(gained("frame") / wall).toFixed(1)} frames/s; ${dragged ?? ""}` +
    `drawing alone ${(1000 / alone[1]).toFixed(1)} pictures/s; CPU: browser ${((1000 * gained("browser")) / gained("pictures")).toFixed(1)} ms a picture (alone ${((1000 * (alone[2] - alone[0])) / 30).toFixed(1)}), program ${((1000 * gained("server")) / gained("frame")).toFixed(1)} ms a frame, ` +
    `of a core: server ${share("server")}, publishing ${share("simulation")}, certificates ${share("certifier")}; quality ${quality}`);
  await opened.context().close();
  served.stop();
}

for (const source of sources) await measure(source);
await chromium.close();
process.exit(0);
