import { startEmulator } from "../../../emulator";
import { createStack, endpointsIn } from "../../pulumi/harness";
import { HEAD, printed, UP } from "./play";

// Resources whose account, provider or settings change, and what the messages advise then.

async function startAccounts() {
  const options = { profile: "observed", drainMs: 0, coldStartMs: 0 } as const;
  const own = await startEmulator({ ...options, apiKey: "own-account-key" });
  const other = await startEmulator({ ...options, apiKey: "other-account-key" });
  const stack = await createStack({ env: own.env });
  const end = async () => {
    await own.stop();
    await other.stop();
  };
  return { own, other, stack, [Symbol.asyncDispose]: end };
}

const ENDPOINT = 'name: "llama", gpuIds: "AMPERE_24"';

test("an endpoint that cannot move to another account moves after each advice was followed, and stays until then", async () => {
  await using accounts = await startAccounts();
  const { own, other, stack } = accounts;
  const program = (provider: string, args: string) => `${HEAD}
const target = new ServerlessGpuProvider("target", { apiKey: "other-account-key", graphqlUrl: "${other.url}", restUrl: "${other.url}", queueUrl: "${other.url}" });
new ServerlessEndpoint("llama", { ${ENDPOINT}, ${args} }, { ${provider} });`;
  const at = async (provider: string, args: string, env = {}) => {
    await stack.writeProgram(program(provider, args));
    return stack.run(UP, env);
  };
  const target = "provider: target";
  const kept = () => expect(own.endpoints.list()).toHaveLength(1);
  expect(await at("", 'templateId: "mine"')).toMatchObject({ exitCode: 0 });

  const template = await at(target, 'templateId: "mine"');
  printed(
    template,
    /Set the id of a template of the new account\. If the template exists in both .* for this run\. Nothing was changed.* Fix this, or restore the resource's previous provider/,
  );
  kept();
  expect(await at("", 'templateId: "mine"')).toMatchObject({ exitCode: 0 });
  await stack.preview("--refresh", "--expect-no-changes");
  kept();

  const adopting = await at(target, 'templateId: "theirs", adoptId: "nowhere"');
  printed(adopting, /adoptId \(nowhere\) does not exist there\. Remove adoptId from the program/);
  kept();
  other.templates.create({ id: "theirs", name: "theirs", imageName: "app:1", isServerless: true });
  expect(await at(target, 'templateId: "theirs"')).toMatchObject({ exitCode: 0 });
  expect([own.endpoints.list(), other.endpoints.list()]).toMatchObject([[], [{ templateId: "theirs" }]]);

  // The other way of the advice, for a public template.
  const back = await at("", 'templateId: "theirs"');
  printed(back, /its templateId is from the previous account/);
  const allowed = await at("", 'templateId: "theirs"', { SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE: "true" });
  expect(allowed).toMatchObject({ exitCode: 0 });
  expect([own.endpoints.list(), other.endpoints.list()]).toMatchObject([[{ templateId: "theirs" }], []]);
});

test("a volume moves to another account without its data being lost, as the warning says", async () => {
  await using accounts = await startAccounts();
  const { own, other, stack } = accounts;
  const volume = (name: string, options: string) =>
    `new NetworkVolume("${name}", { name: "${name}", size: 50, dataCenterId: "EU-RO-1" }, { ${options} });`;
  const provider = `const target = new ServerlessGpuProvider("target", { apiKey: "other-account-key", graphqlUrl: "${other.url}", restUrl: "${other.url}", queueUrl: "${other.url}" });`;
  const write = (...lines: string[]) => stack.writeProgram([HEAD, provider, ...lines].join("\n"));
  await write(volume("models", ""));
  await stack.up();
  const [old] = own.volumes.list();
  await write(volume("models", "provider: target"));
  const shown = await stack.preview();
  printed(
    shown,
    /ALL ITS DATA IS LOST\. To keep the data, restore the previous account, declare another network volume with the new account, copy the data, and remove this one/,
  );
  await write(volume("models", ""), volume("copy", "provider: target"));
  await stack.up();
  expect([own.volumes.list(), other.volumes.list()]).toMatchObject([[{ id: old?.id }], [{ name: "copy" }]]);
  await write(volume("copy", "provider: target"));
  await stack.up();
  expect([own.volumes.list(), other.volumes.list()]).toMatchObject([[], [{ name: "copy" }]]);
});

test("a run with the key of another account is repeated with the previous one, and nothing is lost or made twice", async () => {
  await using accounts = await startAccounts();
  const { own, other, stack } = accounts;
  const program = (more: string) => `${HEAD}
new ServerlessEndpoint("llama", { ${ENDPOINT}, templateId: "t" });
${more}`;
  await stack.writeProgram(program(""));
  await stack.up();
  const [{ id = "" } = {}] = own.endpoints.list();
  // The state names a service that is not this machine.
  const state = JSON.stringify(await stack.exportState());
  await stack.importState(JSON.parse(state.replaceAll(`${own.url} `, "https://service.invalid ")));
  await stack.writeProgram(program('new ServerlessEndpoint("second", { ...right, name: "second" });'));
  const refused = await stack.run([...UP, "--refresh", "--continue-on-error"], other.env);
  expect(refused.exitCode).not.toBe(0);
  printed(refused, /is not in this account.* Use the previous key and service\./);
  expect([own.endpoints.list().length, other.endpoints.list().length]).toEqual([1, 0]);
  await stack.importState(JSON.parse(state));
  await stack.up("--refresh");
  expect(own.endpoints.list()).toMatchObject([{ id }, { name: "second" }]);
  expect(endpointsIn(await stack.exportState())).toHaveLength(2);
});

test("a key of another account than the settings name is replaced, or the setting is corrected, as the error says", async () => {
  await using accounts = await startAccounts();
  const { own, stack } = accounts;
  await stack.writeProgram(`${HEAD}new ServerlessEndpoint("llama", { ${ENDPOINT}, templateId: "t" });`);
  await stack.setConfig({ "serverless-gpu:account": "user_another" });
  const refused = await stack.run(UP);
  expect(refused.exitCode).not.toBe(0);
  const [, id = ""] = printed(
    refused,
    /this key is of account (\w+)\. Use a key of that account, or correct the setting/,
  );
  expect(own.endpoints.list()).toEqual([]);
  await stack.setConfig({ "serverless-gpu:account": id });
  await stack.up();
  expect(own.endpoints.list()).toHaveLength(1);
});
