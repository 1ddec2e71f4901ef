import { startEmulator } from "../../emulator";
import { crash, unlock } from "../faults/crash";
import { createStack } from "./harness";

// `npm run test:faults` kills the engine at all other moments, and also kills the provider process.
test("killing the engine after a create leaves no process running, and the next up does not create a second endpoint", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  const resources = ["one", "two"].map(
    (name) => `new ServerlessEndpoint("${name}", { gpuIds: "AMPERE_24", templateId: "template" });`,
  );
  const program = `const { ServerlessEndpoint } = require("pulumi-serverless-gpu");\n${resources.join("\n")}`;
  const stack = await createStack({ program, env: emulator.env });
  await stack.setConfig({ "serverless-gpu:namespace": "crash" });
  await crash(stack, emulator, { step: "save", when: "after", operation: "saveEndpoint", held: 2 }, "engine", "up");
  await unlock(stack);
  const ids = emulator.endpoints.list().map(({ id }) => id);
  expect(ids).toHaveLength(2);

  const refused = await stack.run(["up", "--yes", "--skip-preview", "--continue-on-error"]);
  expect(refused.exitCode).not.toBe(0);
  let adopting = program;
  for (const { id, name } of emulator.endpoints.list()) {
    expect(refused.output).toContain(`set adoptId to "${id}"`);
    adopting = adopting.replace(`"${name.split("-")[0]}", {`, `$& adoptId: "${id}",`);
  }
  await stack.writeProgram(adopting);
  await stack.up();
  expect(emulator.endpoints.list().map(({ id }) => id)).toEqual(ids);
  const pending = async () => (await stack.exportState()).deployment.pending_operations ?? [];
  expect(await pending()).toHaveLength(2);
  // As the message advises: then the endpoints are the stack's own, and destroy deletes them.
  await stack.writeProgram(program);
  await stack.up();
  await stack.refresh("--clear-pending-creates");
  expect(await pending()).toEqual([]);
  await stack.destroy();
  expect(emulator.endpoints.list()).toEqual([]);
});
