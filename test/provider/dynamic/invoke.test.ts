import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { startEmulator } from "../../../emulator";

const REPOSITORY = path.resolve(__dirname, "../../..");

/** Runs with V8's debugger on, as Pulumi does. The derived outputs are those of the README. */
const PROGRAM = `
const pulumi = require("@pulumi/pulumi");
const hooks = require("@pulumi/pulumi/runtime/closure/v8Hooks");
const { getEndpoint, getEndpointHealthOutput, getEndpointOutput } = require("pulumi-serverless-gpu");
const failures = new Set();
process.on("unhandledRejection", (error) => failures.add(error.message));
hooks.isInitializedAsync().then(() => {
  let id = (process.argv[2] === "promise" ? pulumi.output(getEndpoint({ name: "llama" })) : getEndpointOutput({ name: "llama" })).id;
  for (let depth = 0; depth < 5; depth++) id = pulumi.all([id, pulumi.interpolate\`\${id}/\`]).apply(([all]) => all);
  getEndpointHealthOutput({ endpointId: id }).workers.idle.apply(console.log);
});
process.on("exit", () => console.log(JSON.stringify([...failures])));
`;

test.each([
  "output",
  "promise",
])("the outputs of a failing data source use little memory and time: %s", async (form) => {
  await using emulator = await startEmulator({ profile: "contract" });
  const folder = await mkdtemp(path.join(REPOSITORY, ".scratch-look-up-"));
  try {
    await writeFile(path.join(folder, "program.cjs"), PROGRAM);
    const { stdout } = await promisify(execFile)(process.execPath, ["program.cjs", form], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...emulator.env },
      // Without a limit, the process would use up all memory. The list is read twice, 5 s apart.
      timeout: 20_000,
      killSignal: "SIGKILL",
    });
    expect(JSON.parse(stdout)).toEqual([expect.stringMatching(/^no endpoint of this account is named "llama"/)]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
