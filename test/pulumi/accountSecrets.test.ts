import { type Emulator, startEmulator } from "../../emulator";
import { apisOr } from "../faults/rules/stack";
import { createStack, type PulumiStack } from "./harness";

const PARTS = ["canary-one-6a1f", "canary-two-93be", "canary-theirs-4c"];

/** Returns what the handler sees in the variable of the worker that takes a job. */
async function tokenOfWorker({ url, apiKey, endpoints }: Emulator): Promise<unknown> {
  const [endpoint] = endpoints.list();
  const response = await fetch(`${url}/v2/${endpoint?.id}/runsync?wait=60000`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: '{"input":{}}',
  });
  return ((await response.json()) as { output?: unknown }).output;
}

const handlers = { default: (_job: unknown, { env }: { env: Record<string, string> }) => String(env.HF_TOKEN) };

async function showsNone(stack: PulumiStack, emulator: Emulator, outputs: readonly string[], parts: readonly string[]) {
  const shown = [...outputs, JSON.stringify(emulator.journal.requests()), JSON.stringify(emulator.templates.list())];
  for (const [file, text] of await stack.files()) if (!file.endsWith("program/index.js")) shown.push(text);
  for (const part of parts) expect(shown.filter((text) => text.includes(part))).toEqual([]);
}

const withSecret = (args: string, more = "") => `
const { Secret, ServerlessEndpoint, ServerlessTemplate } = require("pulumi-serverless-gpu");
const pulumi = require("@pulumi/pulumi");
const token = new Secret("token", { ${args} });
const template = new ServerlessTemplate("t", { imageName: "app:1", env: { HF_TOKEN: token.reference } });
new ServerlessEndpoint("e", {
  gpuIds: "ADA_24", workersMax: 1, templateId: template.id,
  templateRevision: token.version, recycleWorkers: true,
});
exports.reference = token.reference;
exports.version = token.version;
exports.id = token.id;
${more}`;

// Without `npm run test:everywhere`, the tests below use GraphQL.
test.each(apisOr("v2"))("a secret is created, changed and deleted over %s", async (api) => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 0, coldStartMs: 0, handlers });
  const env = { ...emulator.env, SERVERLESS_GPU_API: api };
  const stack = await createStack({ program: withSecret(`name: "hf", value: "${PARTS[0]}"`), env });
  await stack.up();
  const first = await stack.outputs();
  expect(first).toMatchObject({ reference: "{{ RUNPOD_SECRET_hf }}", version: expect.any(Number) });
  expect(await tokenOfWorker(emulator)).toBe(PARTS[0]);

  // A new value replaces the workers: version is the endpoint's templateRevision.
  await stack.writeProgram(withSecret(`name: "hf", value: "${PARTS[1]}"`));
  await stack.up();
  const second = await stack.outputs();
  expect(second.id).toBe(first.id);
  expect(Number(second.version)).toBeGreaterThan(Number(first.version));
  expect(await tokenOfWorker(emulator)).toBe(PARTS[1]);
  expect((await stack.up()).output).not.toContain("updated");

  // Somebody else writes the value: a refresh shows it, and the next up says so and restores it.
  const id = String(second.id);
  emulator.secrets.change(id, { value: String(PARTS[2]) });
  const restored = await stack.up("--refresh");
  expect(restored.output).toContain("it was changed elsewhere at");
  expect(emulator.secrets.matches(id, String(PARTS[1]))).toBe(true);
  expect(await tokenOfWorker(emulator)).toBe(PARTS[1]);
  expect((await stack.preview("--refresh", "--expect-no-changes")).exitCode).toBe(0);

  // A name that is taken, also in other case, is refused with the id and not overwritten.
  const other = emulator.secrets.create({ name: "Taken", value: String(PARTS[2]) });
  await stack.writeProgram(withSecret(`name: "taken", value: "${PARTS[1]}"`));
  const refused = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(refused.exitCode).not.toBe(0);
  expect(refused.output).toContain(other.id);
  expect(emulator.secrets.matches(other.id, String(PARTS[2]))).toBe(true);

  // Another name replaces the secret: the new one exists before the old one goes.
  await stack.writeProgram(withSecret(`name: "renamed", value: "${PARTS[1]}"`));
  await stack.up();
  expect(emulator.secrets.list().map(({ name }) => name)).toEqual(["Taken", "renamed"]);
  expect(await tokenOfWorker(emulator)).toBe(PARTS[1]);

  // From here on state has no value: the environment of the run does.
  const fromEnv = (version: number) =>
    withSecret(`name: "renamed", valueEnv: "MY_TOKEN", valueVersion: ${version}, description: "of the environment"`);
  await stack.writeProgram(fromEnv(1));
  const unset = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(unset.exitCode).not.toBe(0);
  expect(unset.output).toContain("MY_TOKEN, which is not set");
  await stack.succeed(["up", "--yes", "--skip-preview"], { MY_TOKEN: String(PARTS[0]) });
  expect(await tokenOfWorker(emulator)).toBe(PARTS[0]);
  // Without a new version nothing is written, and the variable need not be set.
  expect((await stack.preview("--expect-no-changes")).exitCode).toBe(0);
  await stack.writeProgram(fromEnv(2));
  await stack.succeed(["up", "--yes", "--skip-preview"], { MY_TOKEN: String(PARTS[1]) });
  expect(await tokenOfWorker(emulator)).toBe(PARTS[1]);
  await stack.destroy();
  expect(emulator.secrets.list().map(({ name }) => name)).toEqual(["Taken"]);
}, 600_000);

test("with valueEnv, the value appears in no state, plan, output, journal or template", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 0, handlers });
  const program = (version: number) => withSecret(`valueEnv: "MY_TOKEN", valueVersion: ${version}`);
  const stack = await createStack({ program: program(1), env: emulator.env });
  const outputs: string[] = [];
  const run = async (value: string, ...args: string[]) => {
    const { output, exitCode } = await stack.run(args, { MY_TOKEN: value });
    outputs.push(output);
    return exitCode;
  };
  const [one, two] = [String(PARTS[0]), String(PARTS[1])];
  const unset = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(unset.output).toMatch(/secret \\?"token-\w+\\?" is not valid: .*names MY_TOKEN, which is not set/);
  expect(await run(one, "preview", "--diff", "--save-plan", "plan.json")).toBe(0);
  expect(await run(one, "up", "--yes", "--plan", "plan.json")).toBe(0);
  await stack.writeProgram(program(2));
  emulator.faults.add({
    match: { operation: "secretValueUpdate" },
    effect: { status: 400, body: { errors: [{ message: `bad value ${JSON.stringify(two)}` }] } },
    times: 1,
  });
  expect(await run(two, "up", "--yes", "--skip-preview")).not.toBe(0);
  expect(await run(two, "up", "--yes", "--diff")).toBe(0);
  expect(await run(two, "refresh", "--yes", "--diff")).toBe(0);
  expect(await run(two, "stack", "export", "--show-secrets")).toBe(0);
  expect(emulator.secrets.matches(emulator.secrets.list()[0]?.id ?? "", two)).toBe(true);
  await showsNone(stack, emulator, outputs, PARTS);
  const { createHash } = await import("node:crypto");
  const hashes = [one, two].map((value) => createHash("sha256").update(value).digest("hex"));
  await showsNone(stack, emulator, outputs, hashes);
}, 300_000);

test("a secret is adopted by its id, and a key in a plain variable is reported once", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  const { id } = emulator.secrets.create({ name: "hf", value: String(PARTS[2]) });
  const program = `
const { Secret, ServerlessTemplate } = require("pulumi-serverless-gpu");
const pulumi = require("@pulumi/pulumi");
const token = new Secret("token", { adoptId: "${id}", value: "${PARTS[0]}" });
const env = { HF_TOKEN: "${PARTS[1]}", API_KEY: pulumi.secret("${PARTS[1]}"), OTHER_KEY: token.reference, MODE: "fast" };
new ServerlessTemplate("t", { imageName: "app:1", env });
exports.reference = token.reference;`;
  const stack = await createStack({ program, env: emulator.env });
  const { output: preview } = await stack.preview();
  expect(preview).toContain(`secret ${id} ("hf") is adopted`);
  const { output } = await stack.up();
  // The engine repeats a resource's last message in its progress.
  const summary = output.slice(output.indexOf("Diagnostics:"));
  expect(summary.match(/env: HF_TOKEN, API_KEY look like keys/g)).toHaveLength(1);
  expect(emulator.secrets.list()).toMatchObject([{ id, name: "hf" }]);
  expect(emulator.secrets.matches(id, String(PARTS[0]))).toBe(true);
  await showsNone(stack, emulator, [preview, output], [String(PARTS[0]), String(PARTS[2])]);
}, 300_000);

test("a preview reports a key in a plain variable even if another variable is not known yet", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  const program = `
const { Secret, ServerlessTemplate, ServerlessEndpoint } = require("pulumi-serverless-gpu");
const token = new Secret("token", { value: "${PARTS[0]}" });
new ServerlessTemplate("t", { imageName: "app:1", env: { HF_TOKEN: "${PARTS[1]}", OTHER_KEY: token.reference } });`;
  const stack = await createStack({ program, env: emulator.env });
  const { output } = await stack.preview();
  expect(output).toContain("env: HF_TOKEN looks like a key");
  expect(output).not.toContain("OTHER_KEY");
}, 300_000);
