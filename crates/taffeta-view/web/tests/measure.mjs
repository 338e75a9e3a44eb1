// How fast the viewer is: pictures a second, time from a drag to the changed picture, what the server costs. Prints a table.

import { readFileSync } from "node:fs";
import { browser, page, viewer } from "./rig.mjs";

const chromium = await browser();
const seconds = Number(process.argv[2] ?? 8);
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

/** CPU time of the threads of a process by name [s]. */
function cpu(pid) {
  const { readdirSync } = process.getBuiltinModule("node:fs");
  const times = {};
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const name = readFileSync(`/proc/${pid}/task/${thread}/comm`, "utf8").trim();
    const fields = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8").split(") ")[1].split(" ");
    times[name] = (times[name] ?? 0) + (Number(fields[11]) + Number(fields[12])) / 100;
  }
  return times;
}

async function measure(name, size) {
  const served = await viewer("drape");
  const opened = await page(chromium, served.url, { width: 1280, height: 720 });
  if (size) {
    for (const key of ["rows", "columns"]) await opened.evaluate(([key, size]) => window.taffeta.link.ask({ do: "set", key: `cloth[0].sheet.${key}`, value: size }), [key, size]);
    await opened.waitForFunction((n) => window.taffeta.stage.shape.particles === n && window.taffeta.stage.frame.frame > 1, size * size, { timeout: 300_000 });
  }
  // Twice as many frames as the screen's goal, so that frames are not what limits pictures.
  await opened.evaluate(() => window.taffeta.link.ask({ do: "speed", factor: 2 }));
  await opened.waitForTimeout(4000);
  const look = () => opened.evaluate(() => [window.taffeta.stage.pictures, window.taffeta.stage.frame.frame, performance.now()]);
  const [before, busy] = [await look(), cpu(served.pid)];
  await opened.waitForTimeout(1000 * seconds);
  const [after, worked] = [await look(), cpu(served.pid)];
  const wall = (after[2] - before[2]) / 1000;
  const share = (thread) => `${((100 * ((worked[thread] ?? 0) - (busy[thread] ?? 0))) / wall).toFixed(1)} %`;
  const report = await opened.evaluate(() => window.taffeta.stage.frame.sides[0].report);

  // From a hand's message to the first displayed picture in which the particle has moved.
  const waits = await opened.evaluate(async () => {
    const { stage, link } = window.taffeta;
    const particle = 0, waits = [];
    for (let k = 0; k < 12; k++) {
      const start = stage.sides[0].cloth.place(particle);
      const to = start.clone().add({ x: 0, y: k % 2 ? -0.3 : 0.3, z: 0 });
      const begun = performance.now();
      link.tell({ do: "hold", particle, place: to.toArray() });
      const sign = Math.sign(to.y - start.y);
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
      await new Promise((done) => setTimeout(done, 300));
    }
    return waits;
  });
  const quality = await opened.evaluate(() => window.taffeta.stage.quality);
  console.log(`${name}: ${((after[0] - before[0]) / wall).toFixed(1)} pictures/s, ${((after[1] - before[1]) / wall).toFixed(1)} frames/s simulated, step ${report.wall_ms.toFixed(1)} ms; ` +
    `drag to picture ${median(waits).toFixed(0)} ms (worst ${Math.max(...waits).toFixed(0)}); server thread ${share("server")} of a core, simulation thread ${share("simulation")}; quality ${quality}`);
  await opened.context().close();
  served.stop();
}

await measure("100 x 100");
if (process.argv[3] !== "small") await measure("500 x 500", 500);
await chromium.close();
