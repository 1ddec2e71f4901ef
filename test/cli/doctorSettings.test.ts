import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { checkOtherServices } from "../../cli/doctor/state";
import { type Emulator, startEmulator } from "../../emulator";
import { accountRecord } from "../../provider/connection/account";
import { run } from "./command";

const before = { ...process.env };
let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract" });
});
afterAll(() => emulator.stop());
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
});

interface Check {
  readonly check: string;
  readonly status: string;
  readonly found: string;
  readonly fix?: string;
}

async function doctor(env: Readonly<Record<string, string>>): Promise<Record<string, Check>> {
  Object.assign(process.env, emulator.env, env);
  const { stdout, stderr } = await run("doctor", "--json");
  expect(stderr).not.toContain("Run");
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly Check[] };
  return Object.fromEntries(checks.map((each) => [each.check, each]));
}

test("doctor names the setting that selects an unknown API, and does not blame the key", async () => {
  const checks = await doctor({ SERVERLESS_GPU_API: "rest" });
  expect(checks.api).toMatchObject({ status: "failed", found: expect.stringContaining('"rest" is unknown') });
  expect(checks.api?.fix).toBe("It is SERVERLESS_GPU_API: change it to graphql or v2, or remove it.");
  expect(checks.key).toMatchObject({ status: "skipped", found: expect.stringContaining("a setting is not valid") });
});

test("doctor names an unknown service, and does not blame the URLs, which are valid", async () => {
  const checks = await doctor({ SERVERLESS_GPU_SERVICE: "runpods" });
  expect(checks.config).toMatchObject({
    status: "failed",
    found: expect.stringContaining('the service "runpods" is unknown'),
  });
  expect(checks.addresses?.status).toBe("ok");
});

test("doctor reports where a key with a space comes from, without showing the key", async () => {
  const checks = await doctor({ SERVERLESS_GPU_API_KEY: "canary key" });
  expect(checks.config).toMatchObject({ status: "failed", found: expect.stringContaining("spaces or line breaks") });
  expect(checks.config?.fix).toContain("SERVERLESS_GPU_API_KEY");
  expect(JSON.stringify(checks)).not.toContain("canary");
});

test("doctor does not suggest retrying a retired API", async () => {
  const server = createServer((_, response) => response.writeHead(410).end("{}"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const checks = await doctor({ SERVERLESS_GPU_GRAPHQL_URL: url });
    expect(checks.key).toMatchObject({ status: "failed", found: expect.stringContaining("status 410") });
    expect(checks.key?.fix).toBe("Switch to REST v2. Trying again does not help.");
  } finally {
    server.close();
  }
});

test.each([
  ["a page", "text/html", "<html><title>Log in</title></html>"],
  ["another program's JSON", "application/json", '{"message":"Unauthorized"}'],
])("doctor does not blame the key for a gateway's 401 with %s", async (_, type, body) => {
  const server = createServer((_, response) => response.writeHead(401, { "content-type": type }).end(body));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    for (const api of ["graphql", "v2"]) {
      const { key } = await doctor({ SERVERLESS_GPU_GRAPHQL_URL: url, SERVERLESS_GPU_API: api });
      expect(key).toMatchObject({ status: "failed", fix: expect.stringContaining(`check ${url}, and any proxies`) });
      expect(key?.fix).not.toContain("Copy it again");
    }
    const { key } = await doctor({ SERVERLESS_GPU_API_KEY: "wrong-key-1", SERVERLESS_GPU_API: "graphql" });
    expect(key?.fix).toContain("Copy it again");
  } finally {
    server.close();
  }
});

test.each([
  "graphql",
  "v2",
])("doctor reports over %s that the account contains none of the records in state", async (api) => {
  const folder = mkdtempSync(path.join(tmpdir(), "doctor-"));
  const file = path.join(folder, "state.json");
  writeFileSync(
    path.join(folder, "pulumi"),
    `#!/bin/sh\ncase "$*" in *export*) exec cat ${file};; version*) echo v3.230.0;; *) exit 1;; esac\n`,
    { mode: 0o755 },
  );
  emulator.seed({ endpoints: [{ id: `here${api}`, name: `here-${api}`, templateId: "t", gpuIds: "ADA_24" }] });
  const stateOf = async (...resources: readonly object[]) => {
    const type = "pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint";
    const all = resources.map((each, at) => ({ urn: `urn:pulumi:dev::p::${type}::e${at}`, type, ...each }));
    writeFileSync(file, JSON.stringify({ deployment: { resources: all } }));
    const { state } = await doctor({ PATH: `${folder}:${before.PATH}`, SERVERLESS_GPU_API: api });
    return state;
  };
  try {
    const state = await stateOf({ id: "elsewhere1" }, { id: "elsewhere2" });
    expect(state?.found).toContain("none of the 2 endpoints, templates and volumes in the state is in this account");
    expect(state?.fix).toContain("they probably belong to another account");
    expect((await stateOf({ id: "elsewhere1" }, { id: `here${api}` }))?.found).not.toContain("is in this account");
    const own = { id: "elsewhere1", provider: "urn:pulumi:dev::p::pulumi:providers:pulumi-nodejs::team::1" };
    expect((await stateOf(own))?.found).not.toContain("is in this account");
  } finally {
    process.env.PATH = before.PATH;
    rmSync(folder, { recursive: true });
  }
});

describe("resources in state at another URL", () => {
  const resources = (service: string) => ({
    value: ["llama", "whisper"].map((name) => ({
      urn: `urn:pulumi:dev::test::pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint::${name}`,
      type: "pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint",
      outputs: { __account: accountRecord({ apiKey: "key", service, provider: "" }, "id") },
    })),
  });

  test("resources in state at another URL are listed, and doctor does not advise removing them from state while their service responds", async () => {
    const [finding] = await checkOtherServices(resources(emulator.url), "http://127.0.0.1:9");
    expect(finding).toMatchObject({ status: "warning", found: expect.stringContaining("llama, whisper") });
    expect(finding?.found).toContain("That service responds, so they may still exist");
    expect(finding?.fix).not.toMatch(/delete|refresh/);
  });

  test("resources in state at another URL are listed one by one in the advice to remove them from state if their service does not respond", async () => {
    const [finding] = await checkOtherServices(resources("http://127.0.0.1:9"), emulator.url);
    expect(finding?.found).toContain("does not respond now");
    expect(finding?.fix?.match(/pulumi state delete '[^']+'/g)).toHaveLength(2);
    expect(finding?.fix).not.toContain("ALLOW_ACCOUNT_CHANGE");
  });

  test("resources in state at another URL are not reported if their URL is the one in use", async () => {
    expect(await checkOtherServices(resources(emulator.url), emulator.url)).toEqual([]);
  });
});

describe("the check of the account", () => {
  let observed: Emulator;
  beforeAll(async () => {
    observed = await startEmulator({ profile: "observed" });
  });
  afterAll(() => observed.stop());

  const idOf = async () => {
    const response = await fetch(`${observed.url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${observed.apiKey}` },
      body: JSON.stringify({ query: "{ myself { id } }" }),
    });
    return ((await response.json()) as { data: { myself: { id: string } } }).data.myself.id;
  };

  test.each([
    "graphql",
    "v2",
  ])("the check of the account shows the line to add over %s, accepts the key's account and no other", async (api) => {
    const env = { ...observed.env, SERVERLESS_GPU_API: api };
    const id = await idOf();
    expect((await doctor(env)).account).toMatchObject({
      status: "ok",
      found: expect.stringMatching(new RegExp(`${id}.* add this line: serverless-gpu:account: ${id}$`)),
    });
    expect((await doctor({ ...env, SERVERLESS_GPU_ACCOUNT: id })).account).toMatchObject({ status: "ok" });
    expect((await doctor({ ...env, SERVERLESS_GPU_ACCOUNT: "user_other" })).account).toMatchObject({
      status: "failed",
      found: `the key belongs to account ${id}, but the settings name account user_other, so pulumi up refuses to write`,
    });
  });

  test("the check of the account warns if the settings name an account and the service does not show the key's account", async () => {
    expect((await doctor({ SERVERLESS_GPU_ACCOUNT: "user_other" })).account).toMatchObject({
      status: "warning",
      found: expect.stringContaining("pulumi up may refuse to write"),
    });
    expect((await doctor({ SERVERLESS_GPU_ACCOUNT: "" })).account?.status).toBe("skipped");
  });

  test("npm run new shows the line to add, if the environment has a key and the service shows the account", async () => {
    const ask = (env: Readonly<Record<string, string>>) => {
      const script = 'require("./tools/newProject/account.js").accountLine().then((line) => console.log(line))';
      return promisify(execFile)(process.execPath, ["-e", script], { env: { ...before, ...env } });
    };
    expect((await ask(observed.env)).stdout).toContain(`Pulumi.yaml: serverless-gpu:account: ${await idOf()}\n`);
    expect((await ask(emulator.env)).stdout).toBe("undefined\n");
    expect((await ask({})).stdout).toBe("undefined\n");
  });
});
