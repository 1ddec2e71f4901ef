import { MAIN } from "../../cli/command";
import { endpointsIn } from "../../pulumi/harness";
import { HEAD, printed, startPlays, UP } from "./play";

// Records that several resources name, and deletions that must not happen.

const declared = (name: string, args = 'name: "llama"', options = "") =>
  `new ServerlessEndpoint("${name}", { ...right, ${args} }, { ${options} });`;

test("a renamed endpoint keeps its record under another logical name with the adoptId that the error prints", async () => {
  await using account = await startPlays();
  const { emulator, stack } = account;
  await stack.writeProgram(HEAD + declared("a"));
  await stack.up();
  const [{ id = "" } = {}] = emulator.endpoints.list();
  await stack.writeProgram(HEAD + declared("b"));
  const refused = await stack.run(UP);
  const [, adoptId = ""] = printed(refused, /give this resource another logical name, and set adoptId to "(\w+)"/);
  expect(adoptId).toBe(id);
  await stack.writeProgram(HEAD + declared("c", `name: "llama", adoptId: "${adoptId}"`));
  await stack.up();
  expect(emulator.endpoints.list()).toMatchObject([{ id, name: "llama", workersMax: 3 }]);
  await stack.writeProgram(HEAD + declared("c"));
  await stack.up();
  expect(endpointsIn(await stack.exportState())).toHaveLength(1);
  expect(emulator.endpoints.list()).toMatchObject([{ id, workersMax: 3 }]);
});

test("an endpoint whose adopter was left out is kept, and belongs to the adopter after the advised run", async () => {
  await using account = await startPlays();
  const { emulator, stack } = account;
  await stack.writeProgram(HEAD + declared("a"));
  await stack.up();
  const [{ id = "" } = {}] = emulator.endpoints.list();
  await stack.writeProgram(HEAD + declared("b", `name: "llama", adoptId: "${id}"`));
  const urn = endpointsIn(await stack.exportState())[0]?.urn ?? "";
  const refused = await stack.run([...UP, "--target", urn, "--target-dependents"]);
  expect(refused.exitCode).not.toBe(0);
  printed(refused, /has not done so\. Fix the other errors of this run, if any, and run pulumi up without --target/);
  expect(emulator.endpoints.list()).toMatchObject([{ id, workersMax: 3 }]);
  await stack.up();
  expect(emulator.endpoints.list()).toMatchObject([{ id, workersMax: 3 }]);
  expect(endpointsIn(await stack.exportState()).map((each) => each.urn.split("::").at(-1))).toEqual(["b"]);
});

test("one of two resources that adopt a record by ids that are known late is kept, as the error says", async () => {
  await using account = await startPlays();
  const { emulator, stack } = account;
  emulator.endpoints.create({ id: "held", name: "llama", gpuIds: "AMPERE_24", templateId: "template" });
  const late = 'adoptId: pulumi.output("held")';
  await stack.writeProgram(HEAD + declared("a", late) + declared("b", late));
  const refused = await stack.run(UP);
  expect(refused.exitCode).not.toBe(0);
  printed(refused, /another resource also adopts held\. Keep one of them/);
  await stack.writeProgram(HEAD + declared("a", late));
  await stack.up();
  expect(emulator.endpoints.list()).toMatchObject([{ id: "held" }]);
  expect(endpointsIn(await stack.exportState()).map((each) => each.urn.split("::").at(-1))).toEqual(["a"]);
});

test("a preview of an adoption that finds nothing is followed by one that creates, without adoptId", async () => {
  await using account = await startPlays();
  const { emulator, stack } = account;
  emulator.endpoints.create({ id: "theirs", name: "theirs", gpuIds: "AMPERE_24", templateId: "template" });
  await stack.writeProgram(HEAD + declared("a", 'name: "llama", adoptId: "gone"'));
  const shown = await stack.run(["preview"]);
  printed(shown, /Check adoptId and the API key\. If it was deleted, remove adoptId to create a new endpoint/);
  await stack.writeProgram(HEAD + declared("a"));
  await stack.up();
  expect(
    emulator.endpoints
      .list()
      .map(({ name }) => name)
      .sort(),
  ).toEqual(["llama", "theirs"]);
});

test("a volume is adopted with the data center that the error prints", async () => {
  await using account = await startPlays();
  const { emulator, stack } = account;
  emulator.volumes.create({ id: "vol", name: "models", size: 50, dataCenterId: "EU-RO-1" });
  const volume = (place: string) =>
    `${HEAD}new NetworkVolume("models", { name: "models", size: 50, dataCenterId: "${place}", adoptId: "vol" });`;
  await stack.writeProgram(volume("US-KS-2"));
  const refused = await stack.run(UP);
  const [, place = ""] = printed(
    refused,
    /its dataCenterId is "(\S+)" and cannot be changed: set dataCenterId to that value/,
  );
  await stack.writeProgram(volume(place));
  await stack.up();
  expect(emulator.volumes.list()).toMatchObject([{ id: "vol", dataCenterId: "EU-RO-1" }]);
});

test("workers get a secret's new value in the same run with the variable that the message names", async () => {
  await using account = await startPlays();
  const { emulator, stack } = account;
  const program = (value: string, more: string) => `${HEAD}
const secret = new Secret("token", { name: "token", value: "${value}" });
new ServerlessEndpoint("llama", { ...image, name: "llama", env: { TOKEN: secret.reference, ${more} } });`;
  await stack.writeProgram(program("one", ""));
  await stack.up();
  const [{ id = "" } = {}] = emulator.endpoints.list();
  await stack.writeProgram(program("two", ""));
  const { output } = await stack.up();
  printed(
    { output },
    /add a variable that changes with the value to their env, such as SECRET_VERSION with secret\.version as text/,
  );
  const variable = "SECRET_VERSION: secret.version.apply(String)";
  await stack.writeProgram(program("two", variable));
  await stack.up();
  const version = () => JSON.stringify(emulator.endpoints.get(id));
  const before = version();
  await stack.writeProgram(program("three", variable));
  await stack.up();
  expect(emulator.endpoints.list()).toMatchObject([{ id }]);
  expect(version()).not.toBe(before);
});

test("an endpoint that its schedule keeps at zero is put in service as explain --stack says", async () => {
  await using account = await startPlays();
  const { emulator, stack } = account;
  const program = (workersMax: number) => `${HEAD}
const rules = [{ cron: "0 0 * * *", workersMin: 0, workersMax: ${workersMax} }];
new ServerlessEndpoint("llama", { ...right, name: "llama", schedule: { timeZone: "UTC", rules } });`;
  const counts = () => emulator.endpoints.list().map(({ workersMax }) => workersMax);
  const explain = () => stack.exec(process.execPath, [MAIN, "explain", "--stack"]);
  await stack.writeProgram(program(0));
  await stack.up();
  expect(counts()).toEqual([0]);
  printed(await explain(), /Its schedule sets that until \S+\. To change it, change the rule and run pulumi up\./);
  await stack.writeProgram(program(4));
  await stack.up();
  expect(counts()).toEqual([4]);
  const [{ id = "" } = {}] = emulator.endpoints.list();
  emulator.endpoints.change(id, { workersMin: 0, workersMax: 0 });
  printed(await explain(), /Run pulumi up, which sets workersMax 4: its schedule says so since/);
  await stack.up();
  expect(counts()).toEqual([4]);
});
