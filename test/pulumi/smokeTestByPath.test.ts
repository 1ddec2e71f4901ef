import { type Emulator, type HttpHandler, startEmulator } from "../../emulator";
import { createStack } from "./harness";
import { createPluginStack } from "./pluginStack";

/** The app of the endpoint: it is healthy at the second health check, and repeats what it gets. */
function startApp() {
  let pings = 0;
  const app: HttpHandler = {
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/ping") return new Response(null, { status: ++pings > 1 ? 200 : 204 });
      if (pathname === "/missing") return new Response("no such route", { status: 404 });
      return Response.json({ path: pathname, method: request.method, body: await request.text() });
    },
  };
  const endpoint = { id: "app1", name: "app", gpuIds: "AMPERE_24", templateId: "t", type: "LB" };
  return startEmulator({
    drainMs: 0,
    coldStartMs: 0,
    profile: "observed",
    handlers: { app },
    seed: { endpoints: [{ ...endpoint, scalerType: "REQUEST_COUNT", workersMax: 1 }] },
  });
}

const program = (args: string) => `
const pulumi = require("@pulumi/pulumi");
const { SmokeTest } = require("pulumi-serverless-gpu");
const test = new SmokeTest("responds", { endpointId: "app1", ${args} });
exports.status = test.status;
`;

let emulator: Emulator;

beforeEach(async () => {
  emulator = await startApp();
});

afterEach(() => emulator.stop());

const sent = () => emulator.journal.requests({ interface: "lb" }).map(({ method, path }) => `${method} ${path}`);

test("a SmokeTest with a path sends one request during a cold start, and another only after a change", async () => {
  const stack = await createStack({
    program: program('path: "/v1/models", expectedBody: "/v1/models"'),
    env: emulator.env,
  });
  await stack.up();
  expect(await stack.outputs()).toEqual({ status: "200" });
  expect(sent()).toEqual(["GET /lb/app1/v1/models"]);
  await stack.preview("--expect-no-changes");

  await stack.writeProgram(program('path: "/missing", expectedStatus: 404'));
  await stack.up();
  expect(await stack.outputs()).toEqual({ status: "404" });

  await stack.writeProgram(program('path: "/generate", body: pulumi.secret({ prompt: "smoke-secret-42" })'));
  await stack.up();
  expect(sent().at(-1)).toBe("POST /lb/app1/generate");
  expect(JSON.stringify(await stack.exportState())).not.toContain("smoke-secret-42");

  await stack.writeProgram(program('path: "/missing?token=query-secret-42"'));
  const wrongStatus = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(wrongStatus.exitCode).not.toBe(0);
  expect(wrongStatus.output).toContain("the response to GET /missing at endpoint app1 has the status 404, not 200");
  expect(wrongStatus.output).toContain("body: no such route");
  expect(wrongStatus.output).not.toContain("query-secret-42");

  await stack.writeProgram(program('path: "/x", body: pulumi.secret("smoke-secret-43"), expectedBody: "other"'));
  const wrongBody = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(wrongBody.output).toContain("does not contain expectedBody");
  expect(wrongBody.output).not.toContain("smoke-secret-43");

  emulator.endpoints.change("app1", { workersMax: 0, workersMin: 0 });
  await stack.writeProgram(program('path: "/x", timeout: 1'));
  const late = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(late.output).toContain("there was no response to GET /x at endpoint app1 within 1 s");
});

test("a SmokeTest with both a job and a path, or with invalid values, is refused", async () => {
  const args = 'path: "//evil", input: { prompt: "x" }, expectedStatus: 20, expectedBody: 3';
  const stack = await createStack({ program: program(args), env: emulator.env });
  const { output } = await stack.run(["preview"]);
  for (const part of [
    "path must be a path",
    "input cannot be combined",
    "expectedStatus must be",
    "expectedBody must be",
  ]) {
    expect(output).toContain(part);
  }
});

test("the plugin's SmokeTest also supports a path", async () => {
  const test = 'new plugin.SmokeTest("responds", { endpointId: "app1", path: "/v1/models", expectedStatus: 200 })';
  const stack = await createPluginStack(`const test = ${test}; exports.status = test.status;`, emulator.env);
  await stack.up();
  expect(await stack.outputs()).toEqual({ status: "200" });
  expect(sent()).toEqual(["GET /lb/app1/v1/models"]);
});
