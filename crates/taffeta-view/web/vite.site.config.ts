// How the page without a server is built: the same page, and the engine beside it.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

// Nothing but what lies beside the page, and no page around it.
const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' blob: data:; style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'";

export default defineConfig({
  base: "./",
  resolve: { alias: { "#wire": path("src/site/wire.ts") } },
  plugins: [{
    name: "policy",
    transformIndexHtml: () => [{ tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: POLICY }, injectTo: "head-prepend" }],
  }],
  worker: { format: "es" },
  build: { target: "es2022", outDir: "site", chunkSizeWarningLimit: 1000, modulePreload: false },
});
