// Runs Khronos' validator over a .glb file. Usage: npm install gltf-validator && node gltf.js FILE
const fs = require("fs");
const validator = require("gltf-validator");

validator.validateBytes(new Uint8Array(fs.readFileSync(process.argv[2]))).then(({ issues }) => {
  console.log(`gltf-validator ${validator.version()}: ${issues.numErrors} errors, ${issues.numWarnings} warnings`);
  issues.messages.forEach(({ code, message, pointer }) => console.log(`    ${code} ${pointer}: ${message}`));
  process.exitCode = issues.numErrors + issues.numWarnings > 0 ? 1 : 0;
});
