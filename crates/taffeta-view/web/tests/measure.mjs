// How fast the viewer is: pictures a second, time from a drag to the changed picture, what the server costs. Prints a line for every size.
//
// node tests/measure.mjs [SECONDS] [SIZE...]: on a machine that does other things too, only the CPU times mean something.

import { readFileSync, readdirSync } from "node:fs";
import { browser, page, viewer } from "./rig.mjs";

const chromium = await browser();
const seconds = Number(process.argv[2] ?? 8);
const sizes = process.argv.length > 3 ? process.argv.slice(3).map(Number) : [100, 500];
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

/** From a hand's message to the first displayed picture in which the particle has moved [ms], several times. */
const drag = () => {
  const { stage, link } = window.taffeta;
  const particle = 0, waits = [];
  const once = async (k) => {
    const start = stage.sides[0].cloth.place(particle);
    const sign = k % 2 ? -1 : 1;
    const begun = performance.now();
    link.tell({ do: "hold", particle, place: [start.x, start.y + 0.3 * sign, start.z] });
    await new Promise((done) => {
      let last = start.y;
      const look = () => {
        const now = stage.sides[0].cloth.place(particle).y;
        if (sign * (now - last) > 0.02 || performance.now() - begun > 5000) return done();
        last = sign > 0 ? Math.min(last, now) : Math.max(last, now);
        requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
    waits.push(performance.now() - begun);
    await new Promise((done) => setTimeout(done, 200));
  };
  return Array.from({ length: 9 }).reduce((before, _, k) => before.then(() => once(k)), Promise.resolve()).then(() => waits);
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

async function measure(size) {
  const served = await viewer("drape");
  const opened = await page(chromium, served.url, { width: 1280, height: 720 });
  if (size !== 100) {
    const set = ([key, value]) => window.taffeta.link.ask({ do: "set", key: `cloth[0].sheet.${key}`, value });
    for (const key of ["rows", "columns"]) await opened.evaluate(set, [key, size]);
    await opened.waitForFunction((n) => window.taffeta.stage.shape.particles === n && window.taffeta.stage.frame.frame > 0, size * size, { timeout: 300_000 });
  }
  // Twice as many frames as the goal, so that frames are not what limits pictures.
  await opened.evaluate(() => window.taffeta.link.ask({ do: "speed", factor: 2 }));
  await opened.waitForTimeout(2500);
  const look = async () => ({
    ...(await opened.evaluate(() => ({ pictures: window.taffeta.stage.pictures, frame: window.taffeta.stage.frame.frame, now: performance.now() / 1000 }))),
    threads: threads(served.pid), server: family(served.pid), // The browser is a child of this process, as the viewer is.
    browser: family(process.pid) - family(served.pid),
  });
  const before = await look();
  await opened.waitForTimeout(1000 * seconds);
  const after = await look();
  const gained = (key) => after[key] - before[key];
  const wall = gained("now");
  const share = (thread) => `${((100 * ((after.threads[thread] ?? 0) - (before.threads[thread] ?? 0))) / wall).toFixed(1)} %`;
  const waits = await opened.evaluate(drag);
  await opened.evaluate(() => window.taffeta.link.ask({ do: "pause" }));
  const alone = [family(process.pid) - family(served.pid), await opened.evaluate(draw), family(process.pid) - family(served.pid)];
  const [report, quality] = await opened.evaluate(() => [window.taffeta.stage.frame.sides[0].report, window.taffeta.stage.quality]);
  console.log(`${size} x ${size}: ${(gained("pictures") / wall).toFixed(1)} pictures/s, ${(gained("frame") / wall).toFixed(1)} frames/s, step ${report.wall_ms.toFixed(1)} ms; ` +
    `drag to picture ${median(waits).toFixed(0)} ms (worst ${Math.max(...waits).toFixed(0)}); ` +
    `drawing alone ${(1000 / alone[1]).toFixed(1)} pictures/s; CPU: browser ${((1000 * (alone[2] - alone[0])) / 30).toFixed(1)} ms a picture, program ${((1000 * gained("server")) / gained("frame")).toFixed(1)} ms a frame, ` +
    `of a core: server ${share("server")}, publishing ${share("simulation")}, certificates ${share("certifier")}; quality ${quality}`);
  await opened.context().close();
  served.stop();
}

for (const size of sizes) await measure(size);
await chromium.close();
process.exit(0);
