import { mkdir } from "node:fs/promises";
import path from "node:path";
import { type EmulatorOptions, startEmulator } from "../../../emulator";
import { createClient } from "../../../sdk";
import { createStack, endpointsIn } from "../../pulumi/harness";
import { createPluginStack, withPlugin } from "../../pulumi/pluginStack";
import { startScriptedServer } from "../../support/scriptedServer";
import { doctor, fixOf, shell, shellSucceeds } from "./commands";
import { HEAD, printed, startPlays, UP } from "./play";

// What is wrong with the service, the account or a run, and the same after the advice was followed.

const ENDPOINT = 'new ServerlessEndpoint("llama", { ...image, name: "llama" });';
const LLAMA = { name: "llama", gpuIds: "AMPERE_24", imageName: "me/app:1" };
const KEPT: EmulatorOptions = { profile: "observed", drainMs: 0, coldStartMs: 0 };

/** A template, and an endpoint that takes its releases over either API. */
const sharing = (tag: string) => `${HEAD}
const template = new ServerlessTemplate("tpl", { name: "tpl", imageName: "me/app:${tag}" });
new ServerlessEndpoint("llama", { gpuIds: "AMPERE_24", name: "llama", templateId: template.id, templateRevision: template.revision });`;

test("once GraphQL has ended, the printed command keeps a stack to REST v2, and a wrong URL is corrected", async () => {
  await using account = await startPlays();
  const { stack, emulator } = account;
  const gone = (status: number) => emulator.faults.add({ match: { interface: "graphql" }, effect: { status } });
  await stack.writeProgram(sharing("1"));
  await stack.up();
  gone(410);
  const switched = await stack.up();
  const [, command = ""] = printed(switched, /To keep to REST v2, run: (pulumi config set serverless-gpu:api v2)/);
  await shellSucceeds(stack, command);
  expect((await stack.up()).output).not.toContain("no longer serves GraphQL");
  await stack.succeed(["config", "rm", "serverless-gpu:api"]);
  emulator.faults.clear();

  // A URL without GraphQL and a service that has ended it look the same.
  const unsure =
    /not certain that REST v2 shows the same account\. Nothing was changed\. Check the URL\. If the service has ended GraphQL, run: (pulumi config set serverless-gpu:api v2)/;
  await stack.writeProgram(sharing("2"));
  gone(404);
  printed(await stack.run(UP), unsure);
  emulator.faults.clear();
  await stack.up();
  expect(emulator.templates.list()).toMatchObject([{ imageName: "me/app:2" }]);

  await stack.writeProgram(sharing("3"));
  gone(404);
  const [, set = ""] = printed(await stack.run(UP), unsure);
  await shellSucceeds(stack, set);
  await stack.up();
  expect(emulator.templates.list()).toMatchObject([{ imageName: "me/app:3" }]);
  expect(emulator.endpoints.list()).toMatchObject([{ name: "llama" }]);
});

test("a list of words that cannot be read is set again with the printed command", async () => {
  await using account = await startPlays();
  const { stack } = account;
  await stack.writeProgram(HEAD + ENDPOINT);
  await stack.setConfig({ "serverless-gpu:acceptWords": '["FIRST", 2' });
  const refused = await stack.run(UP);
  const [, command = ""] = printed(
    refused,
    /Set it again: (pulumi config set serverless-gpu:acceptWords FIRST,SECOND)/,
  );
  await shellSucceeds(stack, command);
  await stack.up();
});

test("an emulator that is started with the same data file is the account of the state again, as doctor and a refresh say", async () => {
  const stack = await createStack({ program: HEAD + ENDPOINT });
  const dataFile = path.join(stack.scratch, "data.json");
  const first = await startEmulator({ ...KEPT, dataFile });
  const port = Number(new URL(first.url).port);
  await stack.succeed(UP, first.env);
  const ids = endpointsIn(await stack.exportState()).map(({ id }) => id);
  expect((await doctor(stack, first.env))("state").status).toBe("ok");
  await first.stop();

  const other = await startEmulator(KEPT);
  fixOf((await doctor(stack, other.env))("state"), /Start it again with the same --data file\./);
  const refused = await stack.run(["refresh", "--yes", "--skip-preview"], other.env);
  printed(refused, /To keep an emulator's data, start it with --data <file>/);
  await other.stop();

  const empty = await startEmulator({ ...KEPT, port });
  fixOf(
    (await doctor(stack, empty.env))("state"),
    /Check the key and the URLs: they probably belong to another account\. If they are right, pulumi preview --refresh/,
  );
  await empty.stop();

  await using again = await startEmulator({ ...KEPT, dataFile, port });
  expect((await doctor(stack, again.env))("state").status).toBe("ok");
  const refreshed = await stack.succeed(["refresh", "--yes", "--skip-preview"], again.env);
  expect(refreshed.output).not.toContain("is not in this account");
  expect(again.endpoints.list().map(({ id }) => id)).toEqual(ids);
});

test("a key that doctor doubts is copied again", async () => {
  await using account = await startPlays({ apiKey: "key-of-the-play" });
  const { stack, emulator } = account;
  await stack.writeFile("package.json", JSON.stringify({ dependencies: { "pulumi-serverless-gpu": "*" } }));
  await using gateway = await startScriptedServer(() => ({ status: 401, body: { message: "log in" } }));
  const blocked = await doctor(stack, { SERVERLESS_GPU_GRAPHQL_URL: gateway.url });
  const [, place = ""] = fixOf(blocked("key"), /If they are right, check the key, which is (.*)\./);
  expect(place).toContain("SERVERLESS_GPU_API_KEY");
  expect((await doctor(stack, emulator.env))("key").status).toBe("ok");
});

test("orphans finds the right account, the right backend, and a stack that no run changes, as it says", async () => {
  await using account = await startPlays({ profile: "contract" });
  const { stack, emulator } = account;
  await stack.writeProgram(`${HEAD}new ServerlessEndpoint("llama", { ...right });`);
  await stack.up();
  const orphan = emulator.endpoints.create({ name: "llama-0123abc", gpuIds: "ADA_24", templateId: "t" }).id;
  const list = "npx pulumi-serverless-gpu orphans";

  await using other = await startEmulator({ profile: "contract" });
  const elsewhere = await shell(stack, list, other.env);
  printed(elsewhere, /Check the key and the URLs: they probably belong to another account/);
  expect((await shell(stack, list)).output).not.toContain("probably belong to another account");

  await mkdir(path.join(stack.scratch, "empty"));
  const empty = await shell(stack, `${list} --backend file://${stack.scratch}/empty`);
  printed(empty, /contains no stacks\. If it should, check its URL first\./);
  expect((await shell(stack, `${list} --backend file://${stack.scratch}/state`)).output).not.toContain("no stacks");

  const remove = `${list} --delete ${orphan} --runs-have-ended --nobody-manages-it`;
  emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { hang: true }, times: 1 });
  await stack.writeProgram(`${HEAD}new ServerlessEndpoint("llama", { ...right, workersMax: 2 });`);
  const running = stack.run(UP);
  while (!emulator.journal.requests({ outcome: "pending" }).some(({ operation }) => operation === "saveEndpoint"))
    await new Promise((resolve) => setTimeout(resolve, 50));
  const busy = await shell(stack, remove);
  const [, cancel = ""] = printed(
    busy,
    /Wait until it ends\. If it was killed, release its lock: (pulumi cancel --stack \S+)/,
  );
  for (const { pid } of await stack.processes()) process.kill(pid, "SIGKILL");
  await running;
  expect((await shell(stack, remove)).exitCode).toBe(1);
  await shellSucceeds(stack, `${cancel} --yes`);
  emulator.faults.clear();
  fixOf(
    (await doctor(stack))("state"),
    /Once no run is active, run pulumi up --refresh, which reads the service before/,
  );
  await stack.succeed([...UP, "--refresh"]);
  expect((await doctor(stack))("state").status).toBe("ok");
  // This run is not killed: the command is repeated once it has ended.
  await shellSucceeds(stack, remove);
  expect(emulator.endpoints.list()).toMatchObject([{ workersMax: 2 }]);
});

test("a rollback that the service does not show, or whose settings this version does not know, is made as the errors say", async () => {
  await using account = await startPlays();
  const { stack, emulator } = account;
  const client = createClient({ apiKey: emulator.apiKey, graphqlUrl: emulator.url, queueUrl: emulator.url, api: "v2" });
  const env = { SERVERLESS_GPU_API: "v2" };
  const { id } = await client.endpoints.create(LLAMA);
  await client.endpoints.update(id, { imageName: "me/app:2" });
  const first = `npx pulumi-serverless-gpu rollback ${id} --to 0 --yes`;

  const all = (await client.endpoints.releases(id)) ?? [];
  const releases = all.map(({ changes, ...release }, index) => ({
    ...release,
    diff: index === 0 ? [{ field: "quantumFlux", old: 1, new: 2 }] : changes,
  }));
  emulator.faults.add({ match: { operation: "listReleases" }, effect: { status: 200, body: { releases } } });
  const unknown = await shell(stack, first, env);
  printed(
    unknown,
    /which this command cannot roll back\. Nothing was changed\. Set the earlier values in the program, and run/,
  );
  emulator.faults.clear();
  await stack.writeProgram(`${HEAD}new ServerlessEndpoint("llama", { ...image, name: "llama", adoptId: "${id}" });`);
  await stack.succeed(UP, env);
  expect(await client.endpoints.get(id)).toMatchObject({ imageName: "me/app:1" });

  await client.endpoints.update(id, { imageName: "me/app:3" });
  const headers = { authorization: `Bearer ${emulator.apiKey}` };
  const body: unknown = await (await fetch(`${emulator.url}/v2/serverless/${id}`, { headers })).json();
  emulator.faults.add({ match: { operation: "updateEndpoint" }, effect: { status: 200, body }, times: 1 });
  const hidden = await shell(stack, first, env);
  const [, look = ""] = printed(hidden, /Look at it with (npx pulumi-serverless-gpu history \S+) before you try again/);
  expect((await shellSucceeds(stack, look, env)).stdout).toContain("imageName");
  await shellSucceeds(stack, first, env);
  expect(await client.endpoints.get(id)).toMatchObject({ imageName: "me/app:1" });
  await client.close();
});

test("a credential is read, and a provider is named or freed of a setting, as the plugin says", async () => {
  await using emulator = await startEmulator(KEPT);
  emulator.registryAuths.create({ id: "c1", name: "ghcr", username: "me", password: "old-word" } as never);
  const stack = await createPluginStack("", emulator.env);
  const refused = await stack.run(["import", "serverless-gpu:index:ContainerRegistryAuth", "ghcr", "c1", "--yes"]);
  printed(refused, /To read its id and name, use getContainerRegistryAuth/);
  await stack.writeProgram(
    withPlugin(
      `module.exports = pulumi.runtime.invoke("serverless-gpu:index:getContainerRegistryAuth", { name: "ghcr" });`,
    ),
  );
  await stack.up();
  expect(await stack.outputs()).toMatchObject({ id: "c1", name: "ghcr" });

  const declares = (name: string) => `
new plugin.Provider("${name}", { apiKeyEnv: "OTHER_KEY", graphqlUrl: "${emulator.url}", queueUrl: "${emulator.url}" });`;
  const other = { OTHER_KEY: emulator.apiKey };
  await stack.writeProgram(withPlugin(declares("default_1_0_0")));
  const named = await stack.run(UP, other);
  printed(
    named,
    /Give the provider another name in the program, or remove serverless-gpu:apiKeyEnv from the stack's config/,
  );
  await stack.writeProgram(withPlugin(declares("staging")));
  await stack.succeed(UP, other);

  await stack.setConfig({ "serverless-gpu:apiKeyEnv": "OTHER_KEY" });
  await stack.writeProgram(withPlugin('new plugin.ServerlessTemplate("tpl", { name: "tpl", imageName: "a:1" });'));
  const configured = await stack.run(UP, other);
  printed(configured, /or remove serverless-gpu:apiKeyEnv from the stack's config/);
  await stack.succeed(["config", "rm", "serverless-gpu:apiKeyEnv"]);
  await stack.succeed(UP, other);
  expect(emulator.templates.list()).toMatchObject([{ name: "tpl" }]);
});

test("what could not be read for a moment is read when doctor runs again, as it says", async () => {
  await using account = await startPlays();
  const { stack, emulator } = account;
  await stack.writeProgram(HEAD + ENDPOINT);
  await stack.up();
  emulator.faults.add({ match: { interface: "graphql" }, effect: { status: 429, headers: { "retry-after": "60" } } });
  fixOf((await doctor(stack))("key"), /Run doctor again in a minute\./);
  emulator.faults.clear();
  emulator.faults.add({ match: { interface: "graphql" }, effect: { status: 500 } });
  const failing = await doctor(stack);
  fixOf(failing("key"), /Check that http:\S+ is the URL of the management API, and try again later\./);
  emulator.faults.clear();
  const again = await doctor(stack);
  expect(["key", "names"].map((name) => again(name).status)).toEqual(["ok", "ok"]);
});

test("an endpoint of the same name that nothing uses is deleted in the console, and the run names it no more", async () => {
  await using account = await startPlays();
  const { stack, emulator } = account;
  await stack.writeProgram(HEAD + ENDPOINT);
  await stack.up();
  const [own] = emulator.endpoints.list();
  const { id } = emulator.endpoints.create({ name: "llama", gpuIds: "AMPERE_24", templateId: "t" });
  const named = await stack.up();
  const [, other = ""] = printed(named, /both are billed: (\S+)\. .*If nothing else uses it, delete it/);
  expect(other).toBe(id);
  emulator.endpoints.delete(other);
  expect((await stack.up()).output).not.toContain("both are billed");
  expect(emulator.endpoints.list()).toMatchObject([{ id: own?.id }]);
});

test("a wait that ends too early is explained by the command that its error prints", async () => {
  await using account = await startPlays({ coldStartMs: 600_000 });
  const { stack } = account;
  const waits = "workersMin: 1, awaitReady: true, awaitReadyTimeout: 5";
  await stack.writeProgram(`${HEAD}new ServerlessEndpoint("llama", { ...image, name: "llama", ${waits} });`);
  const failed = await stack.run(UP);
  const [, command = ""] = printed(failed, /To find out why, run: (npx pulumi-serverless-gpu explain \w+)/);
  expect((await shellSucceeds(stack, command)).stdout).toMatch(/^endpoint llama \(\w+\): a worker is starting/);
});
