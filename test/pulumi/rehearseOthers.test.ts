import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import * as grpc from "@grpc/grpc-js";
import { type Emulator, startEmulator } from "../../emulator";
import { REHEARSE_COMPILED } from "../support/compiledCode";
import { IS_EVERYWHERE } from "../support/everywhere";
import { createStack, type PulumiStack } from "./harness";

const { ResourceProviderService } = require("@pulumi/pulumi/proto/provider_grpc_pb.js");
const messages = require("@pulumi/pulumi/proto/provider_pb.js");
const plugin = require("@pulumi/pulumi/proto/plugin_pb.js");
const { Empty } = require("google-protobuf/google/protobuf/empty_pb.js");

const COMMAND = path.resolve(__dirname, "../../dist/cli/main.js");

const program = ({ size = 1, max = 2, name = '"llama"', more = "" }) => `
const pulumi = require("@pulumi/pulumi");
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
class Bucket extends pulumi.CustomResource {
  constructor(name, args, options) { super("other:index:Bucket", name, { arn: undefined, ...args }, options); }
}
const bucket = new Bucket("data", { size: ${size} });
${more}
const endpoint = new ServerlessEndpoint("llama", { templateId: "t", gpuIds: ["ADA_24"], name: ${name}, workersMax: ${max} });
new Bucket("log", { url: endpoint.queueUrl });
`;

/** The second provider: it notes each call. */
const calls: string[] = [];
let server: grpc.Server;
let emulator: Emulator;
let stack: PulumiStack;

type Done = (error: null, response: unknown) => void;
const noted =
  (name: string, make: (request: Record<string, () => unknown>) => unknown) =>
  (call: { request: Record<string, () => unknown> }, done: Done) => {
    calls.push(name);
    done(null, make(call.request));
  };

beforeAll(async () => {
  server = new grpc.Server();
  const inputs = (request: Record<string, () => unknown>) =>
    new messages.CheckResponse().setInputs(request.getNews?.());
  server.addService(ResourceProviderService, {
    getPluginInfo: noted("getPluginInfo", () => new plugin.PluginInfo().setVersion("1.0.0")),
    checkConfig: noted("checkConfig", inputs),
    diffConfig: noted("diffConfig", () => new messages.DiffResponse()),
    configure: noted("configure", () => new messages.ConfigureResponse().setAcceptsecrets(true)),
    check: noted("check", inputs),
    diff: noted("diff", () => new messages.DiffResponse()),
    create: noted("create", (request) =>
      new messages.CreateResponse().setId("b-1").setProperties(request.getProperties?.()),
    ),
    delete: noted("delete", () => new Empty()),
    cancel: noted("cancel", () => new Empty()),
    attach: noted("attach", () => new Empty()),
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  emulator = await startEmulator({ profile: "contract", drainMs: 0, coldStartMs: 0 });
  // The rehearsal must not pass the variable on.
  stack = await createStack({
    program: program({}),
    env: { ...emulator.env, PULUMI_DEBUG_PROVIDERS: `other:${port}` },
  });
  await stack.up();
  expect(calls).toContain("create");
});

afterAll(async () => {
  server.forceShutdown();
  await emulator.stop();
});

const rehearse = async (mode = "--from-state") => {
  calls.length = 0;
  const words = [COMMAND, "check", "--rehearse", "--stack", "dev", mode, "--json", ...REHEARSE_COMPILED];
  const ended = await stack.exec(process.execPath, words);
  // Nothing of it is ever called.
  expect(calls).toEqual([]);
  return { ...ended, json: ended.stdout.startsWith("{") ? JSON.parse(ended.stdout) : undefined };
};

test("A program in which an endpoint depends on a changed resource of another provider is refused, and the error names the resource", async () => {
  await stack.writeProgram(program({ size: 2, name: 'bucket.arn.apply((arn) => "llama-" + arn)' }));
  const { exitCode, stderr } = await rehearse();
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/ServerlessEndpoint::llama depends on urn:pulumi:dev::test::other:index:Bucket::data/);
});

test("A function of another provider is refused, and the error names it", async () => {
  const more = 'const zones = pulumi.output(pulumi.runtime.invoke("other:index:getZones", {}));';
  await stack.writeProgram(program({ more }));
  const { exitCode, output } = await rehearse();
  expect(exitCode).toBe(1);
  expect(output).toContain("other:index:getZones belongs to another provider");
});

test.each(
  [
    ["--from-state", "updated"],
    ["--creation", "created"],
    // `npm run test:everywhere` also rehearses the creation. Otherwise, rehearse.test.ts does.
  ].slice(0, IS_EVERYWHERE ? 2 : 1),
)("With %s, a second provider receives no calls, and the resources of a package that is not in the state are left out, and a note names it", async (mode, what) => {
  const more = `
class Thing extends pulumi.CustomResource {
  constructor(name) { super("extra:index:Thing", name, { size: 1 }); }
}
new Thing("thing");
const audit = new pulumi.ResourceHook("audit", () => {});
class Hooked extends pulumi.ComponentResource {
  constructor() { super("x:index:Hooked", "hooked", {}, { hooks: { afterUpdate: [audit], afterCreate: [audit], beforeDelete: [audit] } }); }
}
new Hooked();`;
  // A resource of theirs changes, too, and none of ours depends on it.
  await stack.writeProgram(program({ more, max: 3, size: 2 }));
  const { exitCode, json, stderr } = await rehearse(mode);
  expect({ exitCode, stderr: exitCode === 0 ? "" : stderr }).toEqual({ exitCode: 0, stderr: "" });
  const { notes, applied } = json;
  expect(notes).toContainEqual(
    expect.stringMatching(/^Not in the state, so their resources are left out: .*\bextra\b/),
  );
  expect(applied).toMatchObject({ changes: [{ resource: "llama", what }], left: [] });
  expect(notes).toContainEqual(
    expect.stringMatching(/^These resource hooks run for real in a rehearsal: audit \(hooked, /),
  );
});

test("Other dynamic resources receive no calls, whether they are in state or new, and the outputs of other stacks are the ones recorded in state", async () => {
  await stack.writeFile("Pulumi.infra.yaml", "");
  await stack.succeed(["stack", "init", "infra"]);
  await stack.writeProgram('exports.max = 2; exports.key = require("@pulumi/pulumi").secret("infra-secret");');
  await stack.up("--stack", "infra");
  await stack.succeed(["stack", "select", "dev"]);
  const infra = `
const infra = new pulumi.StackReference("organization/test/infra");
exports.max = infra.requireOutput("max");
exports.key = infra.requireOutput("key");`;
  const file = path.join(stack.scratch, "dynamic-calls");
  const dynamic = (more: string) =>
    program({
      more: `${infra}
const fs = require("node:fs");
const noted = (call) => fs.appendFileSync(${JSON.stringify(file)}, call + "\\n");
const provider = {
  check: async (_, inputs) => { noted("check"); return { inputs }; },
  diff: async () => { noted("diff"); return {}; },
  create: async (inputs) => { noted("create"); return { id: "d-1", outs: inputs }; },
  delete: async () => noted("delete"),
};
class Note extends pulumi.dynamic.Resource {
  constructor(name) { super(provider, name, { text: "a" }); }
}
${more}`,
    });
  await stack.writeProgram(dynamic('new Note("old");'));
  await stack.up();
  expect(await readFile(file, "utf8")).toContain("create");
  await rm(file);
  // One of them is new.
  await stack.writeProgram(dynamic('new Note("old"); new Note("new");'));
  const { exitCode, json, output } = await rehearse();
  expect({ exitCode, output: exitCode === 0 ? "" : output }).toEqual({ exitCode: 0, output: "" });
  expect(json.applied).toMatchObject({ changes: [], left: [] });
  expect(existsSync(file)).toBe(false);
  expect(json.notes).toContain("The outputs of organization/test/infra are those of the last update.");
  expect(output).not.toContain("infra-secret");

  await stack.writeProgram(program({ more: infra.replace("test/infra", "test/later") }));
  const added = await rehearse();
  expect(added.exitCode).toBe(1);
  expect(added.output).toContain(
    'unknown stack "organization/test/later". The rehearsal only has the stacks that the state',
  );
});
