import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "../pulumi/harness";
import { API_ENV, either } from "./campaignApi";
import { at, crash, scenarios, unlock } from "./crash";
import { once } from "./progress";

const TOKEN = "env-canary-3c0b77";
const PASSWORDS = ["password-canary-91ad", "password-canary-ee02"];

interface Change {
  readonly image?: string;
  readonly size?: number;
  readonly password?: string | undefined;
  /** The ids to adopt, by the resource's name. */
  readonly adopted?: Readonly<Record<string, string>>;
}

/** A credential, a template, a volume and an endpoint. */
const program = ({ image = "app:1", size = 50, password = PASSWORDS[0], adopted = {} }: Change = {}) => `
const pulumi = require("@pulumi/pulumi");
const { ContainerRegistryAuth, NetworkVolume, ServerlessEndpoint, ServerlessTemplate } = require("pulumi-serverless-gpu");
const adopted = ${JSON.stringify(adopted)};
const adopt = (name) => (adopted[name] ? { adoptId: adopted[name] } : {});
const registry = new ContainerRegistryAuth("registry", { username: "me", password: "${password}", ...adopt("registry") });
const template = new ServerlessTemplate("template", {
  imageName: "${image}", env: { HF_TOKEN: "${TOKEN}", MODE: "${image}" }, containerRegistryAuthId: registry.id, ...adopt("template"),
});
const volume = new NetworkVolume("volume", { size: ${size}, dataCenterId: "EU-RO-1", ...adopt("volume") });
new ServerlessEndpoint("endpoint", {
  templateId: template.id, templateRevision: template.revision, recycleWorkers: true, networkVolumeId: volume.id,
  gpuIds: ["ADA_24"], locations: ["EU-RO-1"], workersMax: 2, ...adopt("endpoint"),
});
`;

const start = () =>
  startEmulator({
    profile: "contract",
    strictReferences: true,
    drainMs: 50,
    coldStartMs: 20,
    templateReleaseMs: 1_000,
  });

async function makeStack(emulator: Emulator): Promise<PulumiStack> {
  const stack = await createStack({ program: program(), env: { ...emulator.env, ...API_ENV } });
  await stack.setConfig({ "serverless-gpu:namespace": "record-crashes" });
  return stack;
}

const idsOf = ({ registryAuths, templates, volumes, endpoints }: Emulator) =>
  [registryAuths, templates, volumes, endpoints].map((kind) => kind.list().map(({ id }) => id));

/**
 * Runs `up` until it succeeds, and follows the advice in each error, which is to adopt the records
 * that the interrupted run has left.
 */
async function upAsTold(stack: PulumiStack, adopted: Record<string, string> = {}): Promise<string> {
  const { exitCode, output } = await stack.run(["up", "--yes", "--skip-preview"]);
  if (exitCode === 0) return output;
  const [, id] = /set adoptId to "([^"]+)"/.exec(output) ?? [];
  const [, name] = /named "([a-z]+)-[0-9a-f]{7}" already exists/.exec(output) ?? [];
  if (!id || !name || adopted[name]) throw new Error(`no advice that helps: ${output}`);
  const next = { ...adopted, [name]: id };
  await stack.writeProgram(program({ adopted: next }));
  return output + (await upAsTold(stack, next));
}

/** Makes what a run has adopted the stack's own, so that destroy deletes it. */
async function keepAdopted(stack: PulumiStack): Promise<void> {
  await stack.writeProgram(program());
  await stack.up();
}

/**
 * A template that an interrupted run has left may use the credential: `destroy` refuses, names it,
 * and ends once it is gone.
 */
async function destroyAsTold(stack: PulumiStack, { templates }: Emulator): Promise<void> {
  const { exitCode, output } = await stack.run(["destroy", "--yes", "--skip-preview"]);
  if (exitCode === 0) {
    for (const { id } of templates.list()) templates.delete(id);
    return;
  }
  const [left, ...others] = templates.list();
  expect(others).toEqual([]);
  expect(output).toContain(`in use by template "${left?.name}" (${left?.id})`);
  templates.delete(left?.id ?? "");
  await stack.destroy();
}

/**
 * Checks that neither the requests nor the engine's files show a secret. The program itself is the
 * user's text.
 */
async function expectNoSecrets(stack: PulumiStack, emulator: Emulator, output: string): Promise<void> {
  const files = [...(await stack.files())].filter(([file]) => !file.endsWith("index.js"));
  for (const secret of [TOKEN, ...PASSWORDS]) {
    expect(output).not.toContain(secret);
    expect(JSON.stringify(emulator.journal.requests())).not.toContain(secret);
    for (const [file, text] of files) if (text.includes(secret)) throw new Error(`${file} holds ${secret}`);
  }
}

const CREATE = either(
  { registryAuth: "saveRegistryAuth", template: "saveTemplate", endpoint: "saveEndpoint" },
  { registryAuth: "createRegistry", template: "createTemplate", endpoint: "createEndpoint" },
);
const CREATES = [CREATE.registryAuth, CREATE.template, "createNetworkVolume", CREATE.endpoint].flatMap((name) =>
  at(name),
);

test.concurrent.each(scenarios(CREATES))(
  "create: %s",
  once("recordCrashes", "create", async (_title, moment, victim) => {
    await using emulator = await start();
    const stack = await makeStack(emulator);
    await crash(stack, emulator, moment, victim, "up");
    await unlock(stack);
    const output = await upAsTold(stack);

    const [registryAuths, templates, volumes, endpoints] = idsOf(emulator);
    expect([volumes?.length, endpoints?.length]).toEqual([1, 1]);
    // A record whose name has random digits cannot be found again, so one free, unused record may
    // be left.
    const isLeft = (operation: string) => Number(moment.operation === operation && moment.when === "after");
    expect(registryAuths?.length).toBeLessThanOrEqual(1 + isLeft(CREATE.registryAuth));
    expect(templates?.length).toBeLessThanOrEqual(1 + isLeft(CREATE.template));
    await stack.preview("--refresh", "--expect-no-changes");
    await expectNoSecrets(stack, emulator, output);
    await keepAdopted(stack);
    await destroyAsTold(stack, emulator);
    const [leftAuths, ...others] = idsOf(emulator).map(({ length }) => length);
    expect([leftAuths, ...others]).toEqual([(registryAuths?.length ?? 0) - 1, 0, 0, 0]);
  }),
);

const CHANGE = { image: "app:2", size: 80, password: PASSWORDS[1] };
const SAVE = either("saveEndpoint", "updateEndpoint");
const UPDATES = [
  ...either(["updateRegistryAuth", "saveTemplate"], ["createRegistry", "updateTemplate", "deleteRegistry"]).flatMap(
    (name) => at(name),
  ),
  ...at("updateNetworkVolume"),
  // REST v2 applies the template first. A recycle then sets the workers to zero and back.
  ...either([1, 2], [1, 2, 3]).flatMap((position) => at(SAVE, position)),
];

/**
 * Over REST v2 another password needs another credential. One that an interrupted run has left is
 * free.
 */
const withoutCredentials = (ids: readonly string[][]) => ids.slice(either(0, 1));

const updates = scenarios(UPDATES).flatMap(([title, ...scenario]) => [
  [title, ...scenario, false] as const,
  ...(scenario[0].when === "after" ? [[`${title}, then a refresh`, ...scenario, true] as const] : []),
]);

test.concurrent.each(updates)(
  "update: %s",
  once("recordCrashes", "update", async (_title, moment, victim, refreshes) => {
    await using emulator = await start();
    const stack = await makeStack(emulator);
    await stack.up();
    const ids = idsOf(emulator);
    await stack.writeProgram(program(CHANGE));
    await crash(stack, emulator, moment, victim, "up");
    await unlock(stack);
    if (refreshes) await stack.refresh();
    emulator.journal.clear();
    const { output } = await stack.up();

    expect(withoutCredentials(idsOf(emulator))).toEqual(withoutCredentials(ids));
    const used = emulator.endpoints
      .list()
      .map(({ container }) => container?.containerRegistryAuthId)
      .filter(Boolean);
    for (const id of used) expect(emulator.registryAuths.matches(String(id), "me", PASSWORDS[1] ?? "")).toBe(true);
    expect(emulator.templates.list()).toMatchObject([{ imageName: "app:2" }]);
    expect(emulator.volumes.list()).toMatchObject([{ size: 80 }]);
    expect(emulator.endpoints.list()).toMatchObject([{ workersMin: 0, workersMax: 2 }]);
    // However the template's record was completed, its workers are replaced. The previous
    // credential is deleted last, after that.
    if (moment.operation !== "deleteRegistry") expect(emulator.journal.operations()).toContain(SAVE);
    await stack.preview("--refresh", "--expect-no-changes");
    await expectNoSecrets(stack, emulator, output);
    await stack.destroy();
    expect(withoutCredentials(idsOf(emulator)).flat()).toEqual([]);
    const isLeft = moment.operation === CREATE.registryAuth && moment.when === "after";
    expect(emulator.registryAuths.list().length).toBeLessThanOrEqual(Number(isLeft));
  }),
);

const DELETIONS = [
  // To zero, then the deletion.
  ...at(SAVE),
  ...[
    "deleteEndpoint",
    "deleteTemplate",
    either("deleteRegistryAuth", "deleteRegistry"),
    "deleteNetworkVolume",
  ].flatMap((name) => at(name)),
];

test.concurrent.each(scenarios(DELETIONS))(
  "delete: %s",
  once("recordCrashes", "delete", async (_title, moment, victim) => {
    await using emulator = await start();
    const stack = await makeStack(emulator);
    await stack.up();
    await crash(stack, emulator, moment, victim, "destroy");
    await unlock(stack);
    await stack.destroy();
    expect(idsOf(emulator)).toEqual([[], [], [], []]);
    expect((await stack.exportState()).deployment.resources ?? []).toEqual([]);
  }),
);
