// Serves the dynamic resources of a program: Pulumi's own dynamic provider, from the
// `@pulumi/pulumi` that the program uses. The engine starts this in the program's folder and reads
// the port from the first line of its output.
const { createRequire } = require("node:module");
const path = require("node:path");

const requireFromProgram = createRequire(path.join(process.cwd(), "index.js"));
try {
  requireFromProgram.resolve("@pulumi/pulumi");
} catch {
  console.error(`@pulumi/pulumi is not installed for the program in ${process.cwd()}: run "npm install" there.`);
  process.exit(1);
}
requireFromProgram("@pulumi/pulumi/cmd/dynamic-provider");
