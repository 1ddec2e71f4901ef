import type { Emulator } from "../../emulator";
import { newMachine, programOf, serving, startService, TOKEN } from "../support/rollOuts";
import { createStack, type PulumiStack } from "./harness";
import { createPluginStack, withPlugin } from "./pluginStack";

const { automaticName: _, ...GOOD } = programOf("good");

/** The variables are secrets of the program. */
const program = (args: object) => `
const { env, ...args } = ${JSON.stringify({ ...GOOD, ...args })};
new ServerlessEndpoint("llama", { ...args, env: require("@pulumi/pulumi").secret(env) });
`;

const text = {
  dynamic: (source: string) => `const { ServerlessEndpoint } = require("pulumi-serverless-gpu");\n${source}`,
  plugin: (source: string) => withPlugin(`const { ServerlessEndpoint } = plugin;\n${source}`),
};

const FORMS = {
  dynamic: {
    create: (emulator: Emulator, env: Record<string, string>) =>
      createStack({ program: text.dynamic(program({})), env: { ...emulator.env, ...env } }),
  },
  plugin: {
    create: (emulator: Emulator, env: Record<string, string>) =>
      createPluginStack(`const { ServerlessEndpoint } = plugin;${program({})}`, { ...emulator.env, ...env }),
  },
} as const;

test.each([
  "dynamic",
  "plugin",
] as const)("after a bad release, the same up restores what served before, and the next up tries it again: %s form", async (form) => {
  await using emulator = await startService();
  const env = { SERVERLESS_GPU_API: "v2", SERVERLESS_GPU_SERVICE: "runpod", XDG_CACHE_HOME: newMachine() };
  const stack: PulumiStack = await FORMS[form].create(emulator, env);
  const write = (args: object) => stack.writeProgram(text[form](program(args)));
  await stack.up();
  // The engine encrypts secrets anew each time.
  const state = async () =>
    JSON.stringify((await stack.exportState()).deployment.resources).replace(/"(ciphertext|modified)":"[^"]*"/g, "");
  const before = await state();

  const bad = { imageName: "me/llama-wrong", env: { HF_TOKEN: TOKEN, VERSION: "bad" } };
  await write(bad);
  const first = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(first.exitCode).not.toBe(0);
  expect(first.output).toMatch(/failed: its test failed: .*output\.text is not as expected/s);
  expect(first.output).toContain("The previous settings were saved again");
  expect(serving(emulator)).toMatchObject({ image: "me/llama-good", env: { VERSION: "good" }, saves: 2 });
  expect(await state()).toBe(before);

  const second = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(second.output).toContain("The previous settings were saved again");
  expect(serving(emulator)).toMatchObject({ image: "me/llama-good", saves: 4 });
  expect(await state()).toBe(before);
  // Drift is the same as before: the service has what state says.
  await write({});
  await stack.preview("--refresh", "--expect-no-changes");

  await write({ imageName: "me/llama-2-good" });
  const last = await stack.up();
  expect(serving(emulator)).toMatchObject({ image: "me/llama-2-good", saves: 5 });
  for (const shown of [first.output, second.output, last.output, await state()]) expect(shown).not.toContain(TOKEN);
  await stack.preview("--refresh", "--expect-no-changes");
}, 180_000);

test("a preview refuses a rollout when the image belongs to a template, and suggests an alternative", async () => {
  await using emulator = await startService();
  const { imageName, env: __, ...others } = GOOD;
  const stack = await createStack({
    program: text.dynamic(`new ServerlessEndpoint("llama", ${JSON.stringify({ ...others, templateId: "template" })});`),
    env: emulator.env,
  });
  const { exitCode, output } = await stack.run(["preview"]);
  expect(exitCode).not.toBe(0);
  expect(output).toMatch(/rollOut.*needs imageName.*SmokeTest.*blue-green/s);
  expect(emulator.endpoints.list()).toEqual([]);
}, 120_000);
