import path from "node:path";
import { startEmulator } from "../../emulator";
import { createStack, endpointsIn } from "./harness";
import { createPluginStack, withPlugin } from "./pluginStack";

function program(resources: Readonly<Record<string, object>>, options = ""): string {
  const declared = Object.entries(resources).map(([name, args]) => {
    const all = { name: "llama", gpuIds: "AMPERE_24", templateId: "t", ...args };
    return `new ServerlessEndpoint("${name}", ${JSON.stringify(all)}, { ${options} });`;
  });
  return `const { ServerlessEndpoint } = require("pulumi-serverless-gpu");\n${declared.join("\n")}`;
}

test("an endpoint that is handed back to its previous resource is deleted with it, unless another stack may manage it", async () => {
  await using emulator = await startEmulator({ drainMs: 0 });
  const stack = await createStack({ program: program({ former: {} }), env: emulator.env });
  await stack.up();
  const [{ id: adoptId = "" } = {}] = emulator.endpoints.list();

  await stack.writeProgram(program({ adopter: { adoptId } }));
  await stack.up("--target", "**::adopter");
  await stack.writeProgram(program({ former: {} }));
  await stack.up();
  expect(emulator.endpoints.list()).toMatchObject([{ id: adoptId }]);
  await stack.destroy();
  expect(emulator.endpoints.list()).toEqual([]);

  await stack.up();
  const [{ id = "" } = {}] = emulator.endpoints.list();
  const another = await createStack({
    program: program({ theirs: { adoptId: id } }, "retainOnDelete: true"),
    // The same machine.
    env: { ...emulator.env, HOME: path.join(stack.scratch, "home") },
  });
  await another.up();
  await another.destroy();

  const refused = await stack.run(["destroy", "--yes", "--skip-preview"]);
  expect(refused.exitCode).not.toBe(0);
  expect(refused.output).toContain(`endpoint ${id} is not deleted, and this resource stays in state`);
  expect(emulator.endpoints.list()).toMatchObject([{ id, workersMax: 3 }]);

  // As the message advises.
  await stack.writeProgram(program({ former: { adoptId: id } }));
  await stack.up();
  expect(emulator.endpoints.list()).toMatchObject([{ id }]);
  await stack.destroy();
  expect(emulator.endpoints.list()).toEqual([]);
});

test("destroy deletes an endpoint that two resources of the stack manage, whichever resource is deleted first", async () => {
  await using emulator = await startEmulator({ drainMs: 0 });
  const stack = await createStack({ program: program({ former: {} }), env: emulator.env });
  await stack.up();
  const [{ id: adoptId = "" } = {}] = emulator.endpoints.list();
  await stack.writeProgram(program({ former: {}, adopter: { adoptId } }));
  await stack.up("--target", "**::adopter");

  // As the message advises.
  const before = await stack.exportState();
  const refused = await stack.run(["destroy", "--yes", "--skip-preview", "--target", "**::former"]);
  expect(refused.exitCode).not.toBe(0);
  expect(refused.output).toContain("remove this one from the program and run pulumi up without --target");
  await stack.writeProgram(program({ adopter: { adoptId } }));
  await stack.up();
  expect(emulator.endpoints.list()).toMatchObject([{ id: adoptId }]);
  expect(endpointsIn(await stack.exportState())).toMatchObject([{ id: adoptId }]);

  await stack.importState(before);
  await stack.destroy();
  expect(emulator.endpoints.list()).toEqual([]);
});

test("a replacement with adoptId keeps the endpoint, and the plugin refuses it if the program deletes before it replaces", async () => {
  await using emulator = await startEmulator({ drainMs: 0 });
  const deletesFirst = "deleteBeforeReplace: true";
  const stack = await createStack({ program: program({ llama: {} }, deletesFirst), env: emulator.env });
  await stack.up();
  const [{ id: adoptId = "" } = {}] = emulator.endpoints.list();
  await stack.writeProgram(program({ llama: { adoptId } }, deletesFirst));
  await stack.up("--replace", "**::llama");
  expect(emulator.endpoints.list()).toMatchObject([{ id: adoptId }]);

  const declared = (args: object, options: string) => `
new plugin.ServerlessEndpoint("llama", ${JSON.stringify({ name: "llama", gpuIds: ["AMPERE_24"], templateId: "t", ...args })}, { ${options} });`;
  const other = await createPluginStack(declared({ adoptId }, deletesFirst), emulator.env);
  await other.up();
  const refused = await other.run(["up", "--yes", "--skip-preview", "--replace", "**::llama"]);
  expect(refused.exitCode).not.toBe(0);
  expect(refused.output).toContain("If you are replacing this resource, remove its option deleteBeforeReplace");
  expect(emulator.endpoints.list()).toMatchObject([{ id: adoptId }]);

  // As the message advises.
  await other.writeProgram(withPlugin(declared({ adoptId }, "")));
  await other.up("--replace", "**::llama");
  expect(emulator.endpoints.list()).toMatchObject([{ id: adoptId }]);
  await other.writeProgram(withPlugin(declared({}, deletesFirst)));
  await other.up("--replace", "**::llama");
  const [{ id = "" } = {}, ...more] = emulator.endpoints.list();
  expect(id).not.toBe(adoptId);
  expect(more).toEqual([]);
});
