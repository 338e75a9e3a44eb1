// How the page is built: relative paths, because every address begins with a token.
import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  // three.js alone is larger than the limit that vite warns of.
  build: { target: "es2022", chunkSizeWarningLimit: 1000, modulePreload: false },
});
