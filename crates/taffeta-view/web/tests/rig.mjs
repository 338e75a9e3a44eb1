// A viewer and a browser for tests: starts both, or says why not.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "../../../..");
const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
const program = process.env.TAFFETA ?? join(target, "release", process.platform === "win32" ? "taffeta.exe" : "taffeta");
const browserPath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => path && existsSync(path));
export const shots = join(here, "../shots");

/** Ends the tests with a loud line where something is missing that a script cannot get. */
export function skip(why) {
  console.error(`SKIPPED: tests of the viewer in a browser: ${why}`);
  process.exit(0);
}

/** A browser without a window and without a GPU: it draws the page as on any machine that has none, WebGL alone through SwiftShader. */
export async function browser(...more) {
  if (!existsSync(program)) skip(`${program} is not built; cargo build --release`);
  if (!browserPath) skip("no Chromium is installed; name one in CHROMIUM");
  const playwright = await import("playwright-core").catch(() => skip("playwright-core is not installed; npm ci"));
  mkdirSync(shots, { recursive: true });
  return playwright.chromium.launch({
    executablePath: browserPath,
    args: ["--no-sandbox", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", ...more],
  });
}

/** A viewer of a scene or recording; `stop` ends it. */
export async function viewer(...source) {
  const folder = mkdtempSync(join(tmpdir(), "taffeta-view-"));
  const child = spawn(program, ["view", ...source, "--no-open", "--port", "0"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (data) => (text += data).includes("\n") && resolve(text.trim()));
    child.on("exit", (code) => reject(new Error(`the viewer ended with ${code}`)));
  });
  return { url, pid: child.pid, folder, stop: () => child.kill("SIGINT") };
}

const KINDS = { ".html": "text/html", ".json": "application/json", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".webp": "image/webp" };

/** A server of nothing but the files of a folder; `isolated` says whether its pages may share memory with their workers. */
export async function files(folder, isolated = true) {
  const server = createServer((request, response) => {
    const path = join(folder, normalize(new URL(request.url, "http://host").pathname).replace(/\/$/, "/index.html"));
    if (!path.startsWith(folder) || !existsSync(path) || !statSync(path).isFile()) return response.writeHead(404).end();
    const shared = isolated ? { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" } : {};
    response.writeHead(200, { "content-type": KINDS[extname(path)] ?? "application/octet-stream", ...shared }).end(readFileSync(path));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `http://127.0.0.1:${server.address().port}/`, stop: () => (server.closeAllConnections(), server.close()) };
}

/** The page that has the engine in itself. */
export const siteFolder = join(here, "../site");

/** A page with what went wrong in it. */
export async function page(browser, url, { width = 1400, height = 860, dark = false, touch = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", hasTouch: touch, acceptDownloads: true });
  // The last resort; no machine is so busy.
  context.setDefaultTimeout(600_000);
  const opened = await context.newPage();
  opened.troubles = [];
  opened.on("console", (message) => ["error", "warning"].includes(message.type()) && !message.text().includes("GPU stall") && opened.troubles.push(message.text()));
  opened.on("pageerror", (error) => opened.troubles.push(error.message));
  await opened.goto(url);
  await opened.waitForFunction(() => window.taffeta?.stage.frame && window.taffeta.stage.pictures > 2);
  return opened;
}
