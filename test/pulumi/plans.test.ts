import { readFileSync } from "node:fs";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { IS_EVERYWHERE } from "../support/everywhere";
import { createStack, type PulumiStack } from "./harness";
import { createPluginStack, withPlugin } from "./pluginStack";

const LOGIN = `username: "me", password: "password-of-the-registry"`;

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  const template = { imageName: "app:0", isServerless: true };
  emulator.templates.create({ ...template, id: "template-by-hand", name: "template by hand" });
  emulator.volumes.create({ id: "volume-by-hand", name: "volume by hand", size: 10, dataCenterId: "EU-RO-1" });
  emulator.registryAuths.create({ id: "login-by-hand", name: "login by hand", username: "you", password: "unknown" });
  for (const id of ["by-hand", "second"]) {
    emulator.seed({ endpoints: [{ id, name: id, gpuIds: "AMPERE_24", templateId: "template-by-hand" }] });
  }
});
afterEach(() => emulator.stop());

/**
 * Saves a plan, as a job for a proposed change does, and applies it, as the job after the merge
 * does.
 */
async function plan(stack: PulumiStack, ...args: string[]) {
  const file = path.join(stack.scratch, "temp", "plan.json");
  await stack.preview("--save-plan", file, ...args);
  const plan = readFileSync(file, "utf8");
  const { output } = await stack.up("--plan", file, ...args);
  return { plan, output };
}

const ALL = (workers: number) => `
new plugin.ServerlessTemplate("template", { imageName: "app:${workers}" });
new plugin.ContainerRegistryAuth("login", { ${LOGIN} });
new plugin.ServerlessEndpoint("endpoint", { gpuIds: GPUS, templateId: "template-by-hand", workersMax: ${workers} });
`;

const ADOPTIONS = `
new plugin.ServerlessTemplate("adopted", { imageName: "app:1", adoptId: "template-by-hand" });
new plugin.NetworkVolume("adopted", { size: 10, dataCenterId: "EU-RO-1", adoptId: "volume-by-hand" });
new plugin.ContainerRegistryAuth("adopted", { ${LOGIN}, adoptId: "login-by-hand" });
`;

const endpoint = (name: string, more: string) =>
  `new plugin.ServerlessEndpoint("${name}", { gpuIds: GPUS, templateId: "template-by-hand", ${more} });\n`;

const DYNAMIC = {
  write: (program: string) => `const plugin = require("pulumi-serverless-gpu");\nconst GPUS = "AMPERE_24";\n${program}`,
  create: (program: string, env: Readonly<Record<string, string>>) => createStack({ program, env }),
};

const PLUGIN = {
  write: (program: string) => withPlugin(`const GPUS = ["AMPERE_24"];\n${program}`),
  create: async (program: string, env: Readonly<Record<string, string>>) => {
    const stack = await createPluginStack("", env);
    await stack.writeProgram(program);
    return stack;
  },
};

/** `npm run test:everywhere` plays each test with both forms. */
const formsOf = (form: "the dynamic form" | "the plugin") =>
  Object.entries({ "the dynamic form": DYNAMIC, "the plugin": PLUGIN }).filter(
    ([name]) => IS_EVERYWHERE || name === form,
  );

test.each(
  formsOf("the plugin"),
)("a saved plan of %s creates, adopts, changes, renames, deletes and releases every kind of resource", async (_, {
  write,
  create,
}) => {
  const adopting = (name: string) => endpoint(name, 'adoptId: "by-hand"');
  const stack = await create(write(ALL(1) + ADOPTIONS + adopting("previous")), emulator.env);
  const first = await plan(stack);
  const names = () => [...emulator.templates.list(), ...emulator.registryAuths.list()].map(({ name }) => name).sort();
  expect(names()).toEqual([
    "login by hand",
    expect.stringMatching(/^login-[0-9a-f]{7}$/),
    "template by hand",
    expect.stringMatching(/^template-[0-9a-f]{7}$/),
  ]);
  const drawn = names();
  expect(first.output).toContain("adopted network volume volume-by-hand");
  await stack.preview("--refresh", "--expect-no-changes");

  await stack.writeProgram(write(ALL(2) + ADOPTIONS + adopting("latter") + endpoint("second", 'adoptId: "second"')));
  const second = await plan(stack);
  expect(second.output).toContain(
    "endpoint by-hand is not deleted, because another resource in the program has adopted it",
  );
  expect(names()).toEqual(drawn);
  expect(emulator.endpoints.list()).toMatchObject([{}, {}, { workersMax: 2 }]);
  await stack.preview("--expect-no-changes");

  await stack.writeProgram(write(ADOPTIONS));
  await plan(stack);
  // What was adopted is released.
  expect(emulator.endpoints.list()).toMatchObject([{ id: "by-hand" }, { id: "second" }]);
  expect(names()).toEqual(["login by hand", "template by hand"]);
  await stack.destroy();
  expect(names()).toEqual(["login by hand", "template by hand"]);
});

const rolledOut = (template: string) => `
const template = new plugin.ServerlessTemplate("template", { imageName: "app:1", ${template} });
new plugin.ServerlessEndpoint("endpoint", {
  gpuIds: GPUS, templateId: template.id, templateRevision: template.revision, workersMax: 1,
});
`;

test.each(
  formsOf("the dynamic form"),
)("a saved plan of %s removes variables that the program does not set, and rolls out the template", async (_, {
  write,
  create,
}) => {
  const stack = await create(write(rolledOut('env: { MODE: "fast" }')), emulator.env);
  await stack.up();
  const template = () => {
    const found = emulator.templates.list().find(({ name }) => name.startsWith("template-"));
    return { id: found?.id ?? "", env: found?.env ?? [] };
  };
  const variables = () => template().env.map(({ key }) => key);
  const addTheirs = () =>
    emulator.templates.change(template().id, { env: [...template().env, { key: "THEIRS", value: "theirs" }] });
  const versions: unknown[] = [];
  const planned = async (program: string) => {
    await stack.writeProgram(write(rolledOut(program)));
    await plan(stack);
    expect(variables()).toEqual(["MODE"]);
    const { deployment } = await stack.exportState();
    versions.push(deployment.resources?.find(({ urn }) => urn.endsWith("::endpoint"))?.inputs?.templateRevision);
    await stack.preview("--expect-no-changes");
  };

  addTheirs();
  await planned('env: { MODE: "fast" }, removeUnknownEnv: true');
  addTheirs();
  await stack.refresh();
  await planned('env: { MODE: "fast" }, removeUnknownEnv: true');

  // What a killed run leaves: the service has the variable, and state does not.
  const state = await stack.exportState();
  await stack.writeProgram(write(rolledOut('env: { MODE: "fast", LEFT: "1" }, removeUnknownEnv: true')));
  await stack.up();
  await stack.importState(state);
  expect(variables()).toContain("LEFT");
  await planned('env: { MODE: "fast" }, removeUnknownEnv: true');
  expect(versions).toEqual([2, 3, 4]);
  await stack.destroy();
});
