import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Emulator, startEmulator } from "../../../emulator";
import { createClient } from "../../../sdk";
import { createPluginStack, withPlugin } from "../../pulumi/pluginStack";
import { shell, shellSucceeds } from "./commands";
import { HEAD, printed, startPlays, UP } from "./play";

// States of other tools, and programs that are written from an account. What `adopt` prints about
// them is done as it says.

const REFERENCE = "4dabf18193072939515e22adb298388d";
const SECRET = "1b47061264138c4ac30d75fd1eb44270";

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

/** Turns the program that `adopt` writes into the JavaScript of a test's stack. */
const asScript = (program: string) =>
  program
    .replace(/^import \* as (\w+) from (".*");$/gm, "const $1 = require($2);")
    .replace(/^import (\{[^}]*\}) from (".*");$/gm, "const $1 = require($2);")
    .replace(/^export .*$/gm, "");

test("resources that the old tool has not finished are adopted after it was run as each reason says", async () => {
  await using account = await startPlays();
  const { stack } = account;
  seedOld(account.emulator);
  const adopt = async (state: object) => {
    await stack.writeFile("state.json", JSON.stringify(state));
    return shell(stack, "npx pulumi-serverless-gpu adopt --from state.json");
  };
  const adopted = { exitCode: 0, stdout: expect.stringContaining('adoptId: "e1"') };
  const attributes = { id: "e1", name: "llama", gpu_pools: ["AMPERE_24"], template_id: "t1" };
  const terraform = (...instances: readonly object[]) => {
    const endpoint = { mode: "managed", type: "runpod_serverless_endpoint", name: "llama", instances };
    return { version: 4, resources: [{ ...endpoint, provider: 'provider["x/runpod/runpod"]' }] };
  };
  const tainted = await adopt(terraform({ attributes, status: "tainted" }));
  printed(tainted, /If it works, run "terraform untaint" and pull the state again/);
  // "terraform untaint" removes the status.
  expect(await adopt(terraform({ attributes }))).toMatchObject(adopted);
  const deposed = await adopt(terraform({ attributes }, { attributes: { ...attributes, id: "e0" }, deposed: "1a" }));
  printed(deposed, /still has to delete it: apply the old program once more/);
  expect(await adopt(terraform({ attributes }))).toMatchObject(adopted);

  const resources = [oldEndpoint(), oldTemplate()];
  const pending = { pending_operations: [{ resource: oldEndpoint(), type: "updating" }] };
  const interrupted = await adopt({ version: 3, deployment: { resources, ...pending } });
  printed(interrupted, /Check the resource at the service, and run the old program's refresh first/);
  // Pulumi's refresh removes the operation.
  const refreshed = await adopt({ version: 3, deployment: { resources } });
  expect(refreshed).toMatchObject(adopted);
  expect(refreshed.output).not.toContain("was interrupted");

  const pod = { urn: `${URN}:Pod::dev`, type: "runpod:index:Pod", id: "p1", inputs: { name: "dev" } };
  const withPod = await adopt({ version: 3, deployment: { resources: [...resources, pod] } });
  printed(withPod, /this package does not manage pods: keep them in the old program, or move them to another tool/);
  expect(withPod.stdout).toContain('adoptId: "e1"');
  expect(withPod.output).not.toMatch(/pulumi state delete .*Pod/);
  const pods = { mode: "managed", type: "runpod_pod", name: "dev", instances: [{ attributes: { id: "p1" } }] };
  const state = terraform({ attributes });
  const inTerraform = await adopt({
    ...state,
    resources: [...state.resources, { ...pods, provider: 'provider["x/runpod/runpod"]' }],
  });
  printed(inTerraform, /this package does not manage pods: keep them in Terraform/);
  expect(inTerraform.output).not.toMatch(/terraform state rm .*runpod_pod/);

  const read = await adopt({ version: 3, deployment: { resources: [oldEndpoint({ external: true }), oldTemplate()] } });
  printed(read, /To read it here, use get or a data source/);
  await stack.writeProgram(`${HEAD}
const got = ServerlessEndpoint.get("llama", "e1");
module.exports = { got: got.name, found: gpu.getEndpointOutput({ id: "e1" }).name };`);
  await stack.up();
  expect(await stack.outputs()).toEqual({ got: "llama", found: "llama" });
  await stack.destroy();
  expect(account.emulator.endpoints.list()).toMatchObject([{ id: "e1" }]);
});

test("a program for an explicit provider of another service is used after its addresses were checked", async () => {
  await using account = await startPlays();
  const { stack, emulator } = account;
  seedOld(emulator);
  const urn = "urn:pulumi:dev::p::pulumi:providers:runpod::eu";
  const inputs = { apiKey: marked, apiUrl: `${emulator.url}/graphql` };
  const provider = { urn, type: "pulumi:providers:runpod", custom: true, id: "6f", inputs };
  const resources = [provider, oldEndpoint({ provider: `${urn}::6f` }), oldTemplate({ provider: `${urn}::6f` })];
  await stack.writeFile("state.json", oldState(resources));
  const written = await shell(stack, "npx pulumi-serverless-gpu adopt --from state.json");
  printed(written, /has an apiUrl that is not RunPod's: check graphqlUrl and queueUrl in the program/);
  printed(written, /Check that the queue is at this host, too\./);
  expect(written.stdout).toContain(`queueUrl: "${emulator.url}"`);
  for (const [, line = ""] of written.output.matchAll(/set the config value with: (pulumi config set --secret \S+)/g))
    await shellSucceeds(stack, `${line} ${emulator.apiKey}`);
  // The old provider's URL has a path, which this service does not have.
  await stack.writeProgram(asScript(written.stdout.replace(`${emulator.url}/graphql`, emulator.url)));
  await stack.up();
  expect(emulator.endpoints.list()).toMatchObject([{ id: "e1", templateId: "t1" }]);
  await stack.preview("--refresh", "--expect-no-changes");
});

test("variables, a start command and a file that an adopted account's program leaves out are added as it says", async () => {
  await using account = await startPlays();
  const { stack, emulator } = account;
  const env = [{ key: "HF_TOKEN", value: "canary-token" }];
  emulator.templates.create({
    ...{ id: "t1", name: "tpl", imageName: "me/x:1", isServerless: true, env },
    dockerArgs: "python x.py --api-key=canary-argument",
  });
  const all = "npx pulumi-serverless-gpu adopt --all --out adopted.ts";
  await stack.writeFile("adopted.ts", "// mine");
  const refused = await shell(stack, all);
  printed(refused, /adopted\.ts already exists and will not be overwritten\. Give --out the name of a new file/);
  await shellSucceeds(stack, all.replace("adopted.ts", "another.ts"));
  const program = await readFile(path.join(stack.folder, "another.ts"), "utf8");
  expect(program).not.toContain("canary");
  printed(
    { output: program },
    /not managed: env \(HF_TOKEN\)\. To manage these variables, add them with config secrets/,
  );
  printed({ output: program }, /not managed: dockerArgs, which may hold a secret\. Add it with a config secret/);
  await stack.succeed(["config", "set", "--secret", "hfToken", "canary-token"]);
  await stack.succeed(["config", "set", "--secret", "startCommand", "python x.py --api-key=canary-argument"]);
  const added = program
    .replace(/^ *\/\/ not managed: env .*$/m, '  env: { HF_TOKEN: secrets.requireSecret("hfToken") },')
    .replace(/^ *\/\/ not managed: dockerArgs.*$/m, '  dockerArgs: secrets.requireSecret("startCommand"),');
  await stack.writeProgram(`const secrets = new (require("@pulumi/pulumi").Config)();\n${asScript(added)}`);
  await stack.up();
  await stack.preview("--refresh", "--expect-no-changes");
  expect(emulator.templates.list()).toMatchObject([
    {
      id: "t1",
      dockerArgs: "python x.py --api-key=canary-argument",
      env: [{ key: "HF_TOKEN", value: "canary-token" }],
    },
  ]);
  expect(JSON.stringify(await stack.exportState())).not.toContain("canary");
});

test("a resource of an explicit provider is imported by hand with --provider", async () => {
  await using emulator = await startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 0 });
  seedOld(emulator);
  const [provider] = ["urn:pulumi:dev::p::pulumi:providers:runpod::eu"];
  const stack = await createPluginStack("", {});
  await stack.writeFile("state.json", oldState([oldEndpoint({ provider: `${provider}::6f` })]));
  const imported = await shell(stack, "npx pulumi-serverless-gpu adopt --from state.json --import-file");
  printed(imported, /it has the explicit provider "eu": import it with --provider, by hand/);
  const { url, apiKey } = emulator;
  const eu = `const eu = new plugin.Provider("eu", { apiKey: pulumi.secret("${apiKey}"), graphqlUrl: "${url}", queueUrl: "${url}" });`;
  await stack.writeProgram(withPlugin(eu));
  await stack.up();
  const { deployment } = await stack.exportState();
  const urn = deployment.resources?.find(({ type }) => type === "pulumi:providers:serverless-gpu")?.urn;
  const type = "serverless-gpu:index:ServerlessEndpoint";
  const flags = ["--yes", "--protect=false", "--generate-code=false", "--provider", `eu=${urn}`];
  await stack.succeed(["import", type, "llama", "e1", ...flags]);
  await stack.writeProgram(
    withPlugin(`${eu}
new plugin.ServerlessEndpoint("llama", { name: "llama", gpuIds: ["AMPERE_24"], templateId: "t1" }, { provider: eu });`),
  );
  await stack.up();
  expect(emulator.endpoints.list()).toMatchObject([{ id: "e1" }]);
  await stack.preview("--expect-no-changes");
});
