import path from "node:path";
import { startEmulator } from "../../../emulator";
import { createClient } from "../../../sdk";
import { createStack, endpointsIn } from "../../pulumi/harness";
import { startScriptedServer } from "../../support/scriptedServer";
import { doctor, fixOf, MAIN, shell, shellSucceeds } from "./commands";
import { HEAD, printed, startPlays, UP } from "./play";

// What the commands print is run in a shell as it is printed, or done in the program.

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
