import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { ended, run, start } from "./command";

const SECRET = "planted-secret-77aa";
let emulator: Emulator;
const before = { ...process.env };

beforeEach(async () => {
  const handlers = { default: (_: unknown, { log }: { log(line: string): void }) => log(`HF_TOKEN=${SECRET}`) };
  emulator = await startEmulator({ profile: "observed", rateLimits: { management: "off", graphql: "off" }, handlers });
  Object.assign(process.env, emulator.env);
  const settings = { templateId: "t", gpuIds: "ADA_24" };
  emulator.seed({
    endpoints: [
      { id: "offoffoff123", name: "off", ...settings, workersMin: 0, workersMax: 0 },
      { id: "runrunrun123", name: "run", ...settings, workersMin: 1, workersMax: 1 },
      { id: "twin1", name: "twin", ...settings },
      { id: "twin2", name: "twin", ...settings },
    ],
  });
});
afterEach(async () => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
  await emulator.stop();
});

test.each([
  "graphql",
  "v2",
])("over %s, explain reports why an endpoint waits, whether the endpoint is given by id or by name", async (api) => {
  const byName = await run("explain", "off", "--api", api);
  expect(byName).toMatchObject({ code: 0, stderr: expect.stringMatching(/^.* \(--api\) at .*\n$/) });
  expect(byName.stdout).toContain(
    "endpoint off (offoffoff123): no worker can start, because its workersMax is 0 (certain)",
  );
  expect(byName.stdout).toContain("Set workersMax to 1 or more");
  const json = JSON.parse((await run("explain", "offoffoff123", "--api", api, "--json")).stdout);
  expect(json.endpoints).toMatchObject([{ causes: [{ id: "no-workers-allowed" }], certainty: "certain" }]);
  expect(json.endpoints[0].evidence[0]).toMatchObject({ source: api === "v2" ? "REST v2" : "GraphQL" });
});

test("explain refuses a name that two endpoints share, takes each id that it names instead, and refuses invalid usage", async () => {
  const { stderr } = await run("explain", "twin");
  const [, ids = ""] = stderr.match(/2 endpoints are named "twin": (.+)\. Give one of these ids/) ?? [];
  expect(ids.split(", ")).toEqual(["twin1", "twin2"]);
  for (const id of ids.split(", "))
    expect(await run("explain", id)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`endpoint twin (${id}): `),
    });
  expect(await run("explain")).toMatchObject({ code: 2, stdout: "" });
  expect((await run("explain", "off", "--stack", "dev")).code).toBe(2);
  expect((await run("explain", "none", "--api", "v2")).stdout).toContain("there is no endpoint with this id");
});

test("explain names the endpoints whose automatic name belongs to a resource's logical name", async () => {
  const settings = { templateId: "t", gpuIds: "ADA_24" };
  for (const name of ["chat-1540dd1", "chat-0a1b2c3", "chat-2", "chat-web-1540dd1", "chat-1540dd12"])
    emulator.endpoints.create({ name, ...settings });
  const { code, stdout, stderr } = await run("explain", "chat");
  expect([code, stdout]).toEqual([0, expect.stringContaining("there is no endpoint with this id")]);
  expect(stderr).toMatch(
    /^no endpoint has the name "chat"\. Did you mean (chat-1540dd1 or chat-0a1b2c3|chat-0a1b2c3 or chat-1540dd1)\?$/m,
  );
  expect((await run("explain", "chatter")).stderr).not.toContain("Did you mean");
});

test("explain --stack advises to change the rule of a schedule that sets workersMax 0, or to run pulumi up if a rule sets more", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "explain-"));
  const type = "pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint";
  const adviceWith = async (workersMax: number) => {
    const rules = [{ cron: "0 0 * * *", workersMin: 0, workersMax }];
    const inputs = { schedule: { timeZone: "UTC", rules } };
    const resource = { urn: `urn:pulumi:dev::p::${type}::off`, type, id: "offoffoff123", inputs };
    writeFileSync(path.join(folder, "state.json"), JSON.stringify({ deployment: { resources: [resource] } }));
    const { stdout } = await run("explain", "--stack", "dev", "--json");
    const [{ causes }] = JSON.parse(stdout).endpoints as [{ causes: { id: string; advice: string }[] }];
    return causes[0];
  };
  try {
    const script = `#!/bin/sh\ncase "$*" in *export*) exec cat ${folder}/state.json;; *) exit 1;; esac\n`;
    writeFileSync(path.join(folder, "pulumi"), script, { mode: 0o755 });
    process.env.PATH = `${folder}:${before.PATH}`;
    expect(await adviceWith(0)).toMatchObject({
      id: "no-workers-allowed",
      advice: expect.stringMatching(
        /^Its schedule sets that until \S+Z\. To change it, change the rule and run pulumi up$/,
      ),
    });
    expect(await adviceWith(8)).toMatchObject({
      id: "no-workers-allowed",
      advice: expect.stringMatching(/^Run pulumi up, which sets workersMax 8: its schedule says so since \S+Z$/),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("logs prints the lines of an endpoint's workers, and reports what GraphQL cannot provide", async () => {
  const { code, stdout } = await run("logs", "run", "--source", "system", "--api", "v2");
  expect([code, stdout]).toEqual([0, expect.stringContaining("system: create container")]);
  const line = JSON.parse(
    (await run("logs", "run", "--tail", "1", "--json", "--api", "v2")).stdout.split("\n")[0] ?? "",
  );
  expect(Object.keys(line)).toEqual(["workerId", "source", "ts", "line"]);
  const refused = await run("logs", "run", "--api", "graphql");
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining("Run: npx pulumi-serverless-gpu logs run --api v2"),
  ]);
});

test("logs --follow runs until it is interrupted, and shows no secret", async () => {
  const child = start("logs", "run", "--follow", "--source", "container", "--api", "v2");
  const output = ended(child);
  await new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
  const shown = new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
  await fetch(`${emulator.url}/v2/runrunrun123/run`, {
    method: "POST",
    body: JSON.stringify({ input: { prompt: "x" } }),
    headers: { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" },
  });
  await shown;
  child.kill("SIGINT");
  const { code, stdout, stderr } = await output;
  expect(code).toBe(0);
  expect(stdout).toContain("HF_TOKEN=[redacted]");
  expect(stdout + stderr).not.toContain(SECRET);
});

test("external names and log lines can neither control the terminal nor forge a line", async () => {
  const evil = "evil\u001b[2J\u001b]0;title\u0007\u202e\nendpoint b: nothing is wrong";
  emulator.seed({ endpoints: [{ id: "evilevil1234", name: evil, templateId: "t", gpuIds: "ADA_24", workersMax: 0 }] });
  const explained = await run("explain", "evilevil1234", "--api", "v2");
  const ofLogs = await run("logs", "evilevil1234", "--api", "v2");
  const json = await run("explain", "evilevil1234", "--api", "v2", "--json");
  const history = await run("history", evil, "--api", "v2");
  for (const { stdout, stderr } of [explained, ofLogs, json, history])
    expect(stdout + stderr).not.toMatch(/(?!\n)[\p{Control}\p{Format}]/u);
  expect(explained.stdout).toContain("endpoint evil\\u{1b}[2J");
  expect(explained.stdout).not.toMatch(/^endpoint b/m);
  expect(JSON.parse(json.stdout).endpoints[0].endpointName).toBe(evil);
});
