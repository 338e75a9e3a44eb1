// How the widget of notebooks is built: one file with all that it needs.
import { defineConfig } from "vite";

export default defineConfig({
  build: { target: "es2022", emptyOutDir: false, lib: { entry: "src/widget.ts", formats: ["es"], fileName: () => "widget.js" } },
});
