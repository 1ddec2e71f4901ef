import path from "node:path";
import { startEmulator } from "../../emulator";
import { createStack } from "./harness";

const CLI = path.resolve(__dirname, "../../dist/cli/main.js");

const PROGRAM = `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
new ServerlessEndpoint("auto", { gpuIds: "ADA_24", imageName: "me/app:1", workersMax: 1 });
new ServerlessEndpoint("named", { name: "llama", gpuIds: "ADA_24", imageName: "me/app:1", workersMax: 1 });
`;

test("a template that a killed endpoint deletion left behind is found after a refresh and deleted", async () => {
  await using emulator = await startEmulator({
    profile: "observed",
    drainMs: 0,
    coldStartMs: 0,
    keepBoundTemplates: true,
    templateReleaseMs: 0,
  });
  const env = { ...emulator.env, SERVERLESS_GPU_SERVICE: "runpod", SERVERLESS_GPU_API: "graphql" };
  const stack = await createStack({ program: PROGRAM, env });
  await stack.up();
  const orphans = async (...args: string[]) => {
    const { exitCode, stdout } = await stack.exec("node", [CLI, "orphans", "--json", ...args]);
    const { orphans } = JSON.parse(stdout) as { orphans: { id: string; kind: string; reason: string }[] };
    return { exitCode, orphans };
  };
  expect(await orphans()).toEqual({ exitCode: 0, orphans: [] });
  // A kill between the two deletions leaves this.
  const templates = emulator.templates.list();
  for (const { id } of emulator.endpoints.list()) emulator.endpoints.delete(id);
  await stack.succeed(["refresh", "--yes", "--skip-preview"]);
  const { exitCode, orphans: found } = await orphans();
  expect(exitCode).toBeGreaterThanOrEqual(3);
  expect(found.map(({ id }) => id).sort()).toEqual(templates.map(({ id }) => id).sort());
  for (const { kind, reason } of found) {
    expect(kind).toBe("template");
    expect(reason).toMatch(
      /it was left behind by an endpoint "(auto-[0-9a-f]{7}|llama)" that is gone or now has another template/,
    );
  }
  for (const { id } of found)
    await stack.exec("node", [CLI, "orphans", "--delete", id, "--runs-have-ended", "--nobody-manages-it"]);
  expect(emulator.templates.list()).toEqual([]);
});
