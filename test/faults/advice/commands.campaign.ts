import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Emulator, startEmulator } from "../../../emulator";
import { createClient } from "../../../sdk";
import { createStack, endpointsIn, type PulumiStack } from "../../pulumi/harness";
import { createPluginStack, withPlugin } from "../../pulumi/pluginStack";
import { startScriptedServer } from "../../support/scriptedServer";
import { HEAD, printed, startPlays, UP } from "./play";

// What the commands print is run in a shell as it is printed, or done in the program.

const MAIN = path.resolve(__dirname, "../../../dist/cli/main.js");
const REFERENCE = "4dabf18193072939515e22adb298388d";
const SECRET = "1b47061264138c4ac30d75fd1eb44270";

/** Runs a line in a shell in which `npx pulumi-serverless-gpu` is this build's command. */
async function shell(stack: PulumiStack, line: string, env: Readonly<Record<string, string>> = {}) {
  const bin = path.join(stack.scratch, "bin");
  await mkdir(bin, { recursive: true });
  await writeFile(path.join(bin, "npx"), `#!/bin/sh\nshift\nexec ${process.execPath} ${MAIN} "$@"\n`, { mode: 0o755 });
  const named = line.replace(/^npx /, `${bin}/npx `);
  return stack.exec("sh", ["-c", named], { env });
}

async function shellSucceeds(stack: PulumiStack, line: string, env: Readonly<Record<string, string>> = {}) {
  const result = await shell(stack, line, env);
  expect([line, result.exitCode, result.output]).toEqual([line, 0, expect.any(String)]);
  return result;
}

interface Check {
  readonly status: string;
  readonly found: string;
  readonly fix?: string;
}

async function doctor(stack: PulumiStack, env: Readonly<Record<string, string>> = {}) {
  const { stdout } = await stack.exec(process.execPath, [MAIN, "doctor", "--json"], { env });
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly (Check & { readonly check: string })[] };
  return (name: string) => checks.find(({ check }) => check === name) as Check;
}

const fixOf = (check: Check, says: RegExp) => printed({ output: `${check.found}\n${check.fix}` }, says);

test("URLs, keys and settings that doctor blames are mended as it says", async () => {
  await using account = await startPlays({ apiKey: "key-of-the-play" });
  const { emulator, stack } = account;
  await stack.writeFile("package.json", JSON.stringify({ dependencies: { "pulumi-serverless-gpu": "*" } }));
  const { SERVERLESS_GPU_SERVICE: _, ...urls } = emulator.env;
  const good = await doctor(stack);
  expect([good("key").status, good("addresses").status]).toEqual(["ok", "ok"]);

  const dead = await doctor(stack, { SERVERLESS_GPU_QUEUE_URL: "http://127.0.0.1:9" });
  fixOf(dead("addresses"), /Check http:\/\/127\.0\.0\.1:9 \(.*SERVERLESS_GPU_QUEUE_URL.*\) and the connection to it/);
  const malformed = await doctor(stack, { SERVERLESS_GPU_QUEUE_URL: "localhost" });
  fixOf(malformed("addresses"), /queueUrl is .*SERVERLESS_GPU_QUEUE_URL.*: correct it there/);
  const open = await doctor(stack, { SERVERLESS_GPU_GRAPHQL_URL: emulator.url.replace("127.0.0.1", "0.0.0.0") });
  fixOf(open("addresses"), /Use https\./);
  const spaced = await doctor(stack, { SERVERLESS_GPU_API_KEY: "key of the play" });
  expect(spaced("config").status).toBe("failed");

  await using gateway = await startScriptedServer(() => ({ status: 401, body: { message: "log in" } }));
  const blocked = await doctor(stack, { SERVERLESS_GPU_GRAPHQL_URL: gateway.url });
  const [, place = ""] = fixOf(blocked("key"), /something else may have responded: check (\S+), and any proxies/);
  expect(place).toBe(gateway.url);

  const api = await doctor(stack);
  const [, variable = "", command = ""] = fixOf(
    api("api"),
    /set (SERVERLESS_GPU_API=v2), and look at a preview\. To keep REST v2, run: (pulumi config set serverless-gpu:api v2)$/m,
  );
  await shellSucceeds(stack, `export ${variable}; pulumi preview --non-interactive`);
  await shellSucceeds(stack, command);
  expect((await doctor(stack))("api")).toMatchObject({ status: "ok", found: expect.stringMatching(/^REST v2 /) });
  // The corrected settings are those with which the report was good.
  expect((await doctor(stack, urls))("key").status).toBe("ok");
});

test("an account that cannot be read, and a state of another service, are mended as doctor says", async () => {
  const file = path.join((await createStack()).scratch, "data.json");
  const emulator = await startEmulator({ profile: "observed", dataFile: file } as never);
  const stack = await createStack({
    env: emulator.env,
    program: `${HEAD}new ServerlessEndpoint("llama", { ...right, name: "llama" });`,
  });
  await stack.up();
  const [{ id = "" } = {}] = emulator.endpoints.list();

  emulator.faults.add({
    match: { operation: "myself" },
    effect: {
      status: 200,
      body: {
        data: { myself: { id: null, serverlessDiscount: null, endpoints: [], podTemplates: [], networkVolumes: [] } },
      },
    },
  });
  const unreadable = await doctor(stack, { SERVERLESS_GPU_ACCOUNT: "user_another" });
  fixOf(
    unreadable("account"),
    /If it stays unreadable and you are sure of the key, remove serverless-gpu:account, or SERVERLESS_GPU_ACCOUNT/,
  );
  expect((await doctor(stack))("account").status).toBe("skipped");
  emulator.faults.clear();

  await using other = await startEmulator({ profile: "observed" });
  other.endpoints.create({ name: "theirs", gpuIds: "AMPERE_24", templateId: "t" });
  const there = await doctor(stack, other.env);
  const [, line = ""] = fixOf(
    there("state"),
    /in the shell of its emulator: (eval "\$\(npx pulumi-serverless-gpu emulator env\)")/,
  );
  expect(line).not.toBe("");
  expect((await doctor(stack, emulator.env))("state").status).toBe("ok");

  await emulator.stop();
  const gone = await doctor(stack, other.env);
  const [, removal = ""] = fixOf(
    gone("state"),
    /remove exactly these resources from the state: (pulumi state delete '[^']+')/,
  );
  await shellSucceeds(stack, `${removal} --yes`, other.env);
  expect(endpointsIn(await stack.exportState())).toEqual([]);
  expect(id).not.toBe("");
});

test("an endpoint that the account's limits keep from scaling is no longer reported after the advised change", async () => {
  await using account = await startPlays({ spendLimit: 2 });
  const { stack } = account;
  await stack.writeFile("package.json", JSON.stringify({ dependencies: { "pulumi-serverless-gpu": "*" } }));
  const env = { SERVERLESS_GPU_SERVICE: "runpod" };
  const write = (workersMax: number) =>
    stack.writeProgram(
      `${HEAD}new ServerlessEndpoint("llama", { ...right, name: "llama", workersMax: ${workersMax} });`,
    );
  const report = async () => (await stack.exec(process.execPath, [MAIN, "doctor"], { env })).stdout;
  await write(5);
  await stack.succeed(UP, env);
  printed({ output: await report() }, /spend limit of \$2\.00[\s\S]*?Change the program and run pulumi up\.$/m);
  await write(1);
  await stack.succeed(UP, env);
  expect(await report()).not.toContain("spend limit of");
});

test("deletedWith is removed as doctor says, and destroy then deletes the endpoint", async () => {
  await using account = await startPlays();
  const { stack, emulator } = account;
  const program = (options: string) => `${HEAD}
const guard = new ServerlessTemplate("guard", { name: "guard", imageName: "app:1" });
new ServerlessEndpoint("owned", { ...right, name: "owned" }, { ${options} });`;
  await stack.writeProgram(program("deletedWith: guard"));
  await stack.up();
  fixOf((await doctor(stack))("state"), /Remove deletedWith from the program, and run pulumi up/);
  await stack.writeProgram(program(""));
  await stack.up();
  expect((await doctor(stack))("state").status).toBe("ok");
  await stack.destroy();
  expect(emulator.endpoints.list()).toEqual([]);
});

test("a released endpoint is deleted with the command that the release prints, and other commands for orphans work as printed", async () => {
  await using account = await startPlays({ profile: "contract" });
  const { stack, emulator } = account;
  emulator.endpoints.create({ id: "theirs", name: "theirs", gpuIds: "AMPERE_24", templateId: "template" });
  await stack.writeProgram(`${HEAD}new ServerlessEndpoint("a", { ...right, name: "theirs", adoptId: "theirs" });
new ServerlessTemplate("kept", { name: "kept", imageName: "a:1" });`);
  await stack.up();
  await stack.writeProgram(`${HEAD}new ServerlessTemplate("kept", { name: "kept", imageName: "a:1" });`);
  const released = await stack.up();
  const [, command = ""] = printed(released, /or (npx pulumi-serverless-gpu orphans --all)\./);
  const listed = await shell(stack, command);
  const [, line = ""] = printed(listed, /To delete one: (npx pulumi-serverless-gpu orphans.* --delete <id>)/);
  const asPrinted = line.replace("<id>", "theirs");
  const refused = await shell(stack, asPrinted);
  expect(refused.exitCode).toBe(1);
  // Each refusal names the option or the check that it waits for.
  let current = asPrinted;
  for (let turn = 0; turn < 4; turn++) {
    const { exitCode, output } = await shell(stack, current);
    if (exitCode === 0) break;
    const [option = ""] =
      /--runs-have-ended|--nobody-manages-it|--all(?=[.,\s])/.exec(output.replaceAll(/To delete one:.*/g, "")) ?? [];
    expect([output, option]).toEqual([output, expect.stringMatching(/^--/)]);
    current += ` ${option}`;
  }
  expect(emulator.endpoints.list()).toEqual([]);
});

test("a rollback that cannot be made by the command is made in the program, as the error says", async () => {
  await using account = await startPlays();
  const { stack, emulator } = account;
  const client = createClient({ apiKey: emulator.apiKey, graphqlUrl: emulator.url, queueUrl: emulator.url, api: "v2" });
  const env = { ...emulator.env, SERVERLESS_GPU_API: "v2" };
  const program = (tag: string, disk: number) =>
    `${HEAD}new ServerlessEndpoint("llama", { ...image, name: "llama", imageName: "me/llama:${tag}", containerDiskInGb: ${disk} });`;
  for (const [tag, disk] of [
    ["1", 20],
    ["2", 20],
    ["2", 40],
  ] as const) {
    await stack.writeProgram(program(tag, disk));
    await stack.succeed(UP, env);
  }
  const [{ id = "" } = {}] = emulator.endpoints.list();
  const { releases } = JSON.parse((await shell(stack, `npx pulumi-serverless-gpu history ${id} --json`, env)).stdout);
  const first = releases.at(-1).release as string;
  const dry = await shell(stack, `npx pulumi-serverless-gpu rollback ${id} --to ${first}`, env);
  printed(dry, /To keep the settings of release \S+, set in the program:/);
  expect(dry.stdout).toMatch(
    /imageName: "me\/llama:1",[\s\S]*containerDiskInGb: 20,|containerDiskInGb: 20,[\s\S]*imageName: "me\/llama:1",/,
  );
  const applied = await shell(stack, `npx pulumi-serverless-gpu rollback ${id} --to ${first} --yes`, env);
  printed(applied, /Change the program as well: otherwise, the next pulumi up undoes the rollback/);
  await stack.writeProgram(program("1", 20));
  await stack.succeed(UP, env);
  expect(await client.endpoints.get(id)).toMatchObject({ imageName: "me/llama:1", containerDiskInGb: 20 });
  await stack.succeed(["preview", "--refresh", "--expect-no-changes"], env);

  const all = (await client.endpoints.releases(id)) ?? [];
  const hidden = all
    .filter(({ version }) => version !== 1)
    .map(({ changes, ...release }) => ({ ...release, diff: changes }));
  emulator.faults.add({ match: { operation: "listReleases" }, effect: { status: 200, body: { releases: hidden } } });
  const refused = await shell(stack, `npx pulumi-serverless-gpu rollback ${id} --to 0`, env);
  printed(refused, /does not show release 1, .* Set them in the program, and run pulumi up/);
  emulator.faults.clear();
  await stack.writeProgram(program("2", 40));
  await stack.succeed(UP, env);
  expect(await client.endpoints.get(id)).toMatchObject({ imageName: "me/llama:2", containerDiskInGb: 40 });
  await client.close();
});

/** A state of another provider, as `pulumi stack export` writes it. */
const oldState = (resources: readonly object[]) => JSON.stringify({ version: 3, deployment: { resources } });
const URN = "urn:pulumi:dev::p::runpod:index";
const oldEndpoint = (fields: object = {}) => ({
  urn: `${URN}:Endpoint::llama`,
  type: "runpod:index:Endpoint",
  custom: true,
  id: "e1",
  inputs: { name: "llama", gpuIds: "AMPERE_24", templateId: "t1" },
  outputs: { endpointId: "e1" },
  ...fields,
});
const oldTemplate = (fields: object = {}) => ({
  urn: `${URN}:Template::tpl`,
  type: "runpod:index:Template",
  custom: true,
  id: "t1",
  inputs: { name: "tpl", imageName: "me/x:1", isServerless: true },
  outputs: { templateId: "t1" },
  ...fields,
});
const marked = { [REFERENCE]: SECRET, ciphertext: "v1:x" };

function seedOld(emulator: Emulator) {
  emulator.templates.create({ id: "t1", name: "tpl", imageName: "me/x:1", isServerless: true });
  emulator.endpoints.create({ id: "e1", name: "llama", gpuIds: "AMPERE_24", templateId: "t1" });
}

test("a state of another tool is written, decrypted and exported with the commands that the errors print", async () => {
  await using account = await startPlays();
  const { stack } = account;
  const adopt = (file: string, env = {}) => shell(stack, `npx pulumi-serverless-gpu adopt --from ${file}`, env);
  await stack.importState(JSON.parse(oldState([oldEndpoint(), oldTemplate()])));
  await stack.writeFile("state.json", "no JSON");
  const [, command = ""] = printed(
    await adopt("state.json"),
    /Write the file with "(pulumi stack export --file state\.json)"/,
  );
  await shellSucceeds(stack, command);
  expect(await adopt("state.json")).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('adoptId: "e1"') });

  // Stand-ins for the other tools, which print their state in plain text.
  const state = JSON.stringify({
    version: 4,
    resources: [
      {
        mode: "managed",
        type: "runpod_serverless_endpoint",
        name: "llama",
        provider: 'provider["x/runpod/runpod"]',
        instances: [{ attributes: { id: "e1", name: "llama", gpu_pools: ["AMPERE_24"], template_id: "t1" } }],
      },
    ],
  });
  for (const tool of ["tofu", "terraform"])
    await writeFile(path.join(stack.scratch, "bin", tool), `#!/bin/sh\ncat <<'STATE'\n${state}\nSTATE\n`, {
      mode: 0o755,
    });
  await stack.writeFile("state.json", JSON.stringify({ encrypted_data: "x" }));
  const [, decrypt = ""] = printed(await adopt("state.json"), /Decrypt it with: (tofu state pull > state\.json)/);
  await shellSucceeds(stack, `PATH=${stack.scratch}/bin:$PATH; ${decrypt}`);
  expect(await adopt("state.json")).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('adoptId: "e1"') });
});

test("resources that a state's program leaves out are adopted as each reason says", async () => {
  await using account = await startPlays();
  const { stack, emulator } = account;
  seedOld(emulator);
  emulator.registryAuths.create({ id: "c1", name: "ghcr", username: "me", password: "old-word" } as never);
  const adopt = async (resources: readonly object[], flags = "") => {
    await stack.writeFile("state.json", oldState(resources));
    return shell(stack, `npx pulumi-serverless-gpu adopt --from state.json ${flags}`);
  };
  const auth = {
    urn: `${URN}:ContainerRegistryAuth::ghcr`,
    type: "runpod:index:ContainerRegistryAuth",
    id: "c1",
    inputs: { name: "ghcr", username: "me", password: marked },
  };
  const secret = {
    urn: `${URN}:Secret::hf`,
    type: "runpod:index:Secret",
    id: "s1",
    inputs: { name: "hf", value: marked },
  };
  const imported = await adopt([oldEndpoint(), oldTemplate(), auth, secret], "--import-file");
  printed(imported, /Declare it with adoptId and its user and password/);
  printed(imported, /Declare it with adoptId and its value/);

  const twin = await adopt([oldEndpoint(), oldEndpoint({ id: "e0", delete: true }), oldTemplate()]);
  printed(twin, /has replaced it and still has to delete it: run the old program once more/);
  printed(twin, /Run the old program once more, which deletes the replaced resource, and export the state again/);
  expect(await adopt([oldEndpoint(), oldTemplate()])).toMatchObject({ exitCode: 0 });

  const alarm = {
    ...oldTemplate(),
    urn: `${URN}:Template::pods`,
    id: "t9",
    inputs: { name: "pods", imageName: "i" },
    dependencies: [`${URN}:Template::tpl`],
  };
  const blocked = await adopt([oldTemplate(), oldEndpoint(), alarm]);
  printed(
    blocked,
    /because \S+::pods stays there and depends on it\. Adopt both, or write the id as text in the old program/,
  );
  expect(await adopt([oldTemplate(), oldEndpoint(), { ...alarm, dependencies: [] }])).toMatchObject({
    stdout: expect.stringContaining('adoptId: "t1"'),
  });

  const overV2 = await adopt(
    [oldEndpoint({ inputs: { name: "llama", gpuIds: "AMPERE_24", templateId: "gone" } })],
    "--api v2",
  );
  const [, filtered = ""] = printed(overV2, /Write it with "(adopt --filter <name>)", which reads the service/);
  const written = await shellSucceeds(
    stack,
    `npx pulumi-serverless-gpu ${filtered.replace("<name>", "llama")} --api v2`,
  );
  await stack.writeProgram(
    written.stdout.replace(/^import .*$/gm, (line) =>
      line.replace(/import (\{.*\}) from (".*");/, "const $1 = require($2);"),
    ),
  );
  await stack.succeed(UP, { SERVERLESS_GPU_API: "v2" });
  expect(emulator.endpoints.list()).toMatchObject([{ id: "e1", templateId: "t1" }]);

  await stack.writeProgram(`${HEAD}
const { ContainerRegistryAuth } = gpu;
new ContainerRegistryAuth("ghcr", { adoptId: "c1", name: "ghcr", username: "me", password: "new-word" });`);
  await stack.setConfig({ "serverless-gpu:api": "graphql" });
  await stack.up();
  expect(JSON.stringify(await readFile(path.join(stack.folder, "index.js"), "utf8"))).toContain("c1");
  expect(emulator.registryAuths.list()).toMatchObject([{ id: "c1", name: "ghcr" }]);
  expect(emulator.endpoints.list()).toMatchObject([{ id: "e1" }]);
});

test("what the plugin refuses to import is declared as the error says", async () => {
  await using emulator = await startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 0 });
  emulator.registryAuths.create({ id: "c1", name: "ghcr", username: "me", password: "old-word" } as never);
  const stack = await createPluginStack("", emulator.env);
  const refused = await stack.run(["import", "serverless-gpu:index:ContainerRegistryAuth", "ghcr", "c1", "--yes"]);
  printed(refused, /Declare the resource with adoptId, username and password/);
  const secret = await stack.run(["import", "serverless-gpu:index:Secret", "hf", "s1", "--yes"]);
  printed(secret, /Declare the resource with adoptId, and with value or valueEnv/);
  const made = createClient({ apiKey: emulator.apiKey, graphqlUrl: emulator.url, queueUrl: emulator.url });
  const { id } = await made.secrets.create({ name: "hf", value: "one" });
  await made.close();
  await stack.writeProgram(
    withPlugin(`new plugin.ContainerRegistryAuth("ghcr", { adoptId: "c1", name: "ghcr", username: "me", password: "new-word" });
new plugin.Secret("hf", { adoptId: "${id}", name: "hf", value: "two" });`),
  );
  await stack.up();
  expect(emulator.registryAuths.list()).toMatchObject([{ id: "c1" }]);
  await stack.preview("--expect-no-changes");
});
