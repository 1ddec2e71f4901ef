import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

const REPOSITORY = path.resolve(__dirname, "../..");

/**
 * A user's unit test with the mocks of Pulumi's documentation, and without a key, service or
 * organization.
 */
const TEST = `
await pulumi.runtime.setMocks({
  newResource: (args) => ({ id: args.name + "_id", state: args.inputs }),
  call: (args) => ({
    "serverless-gpu:index:getEndpoint": { id: args.inputs.id, name: "found" },
    "serverless-gpu:index:getEndpoints": { endpoints: [{ id: "a" }, { id: "b" }] },
    "serverless-gpu:index:getPod": { id: args.inputs.podId, env: { TOKEN: "x" } },
  })[args.token] ?? args.inputs,
}, "project", "stack", false);
const valueOf = (output) => new Promise((resolve) => output.apply(resolve));
const messageOf = (make) => { try { make(); return "made"; } catch (error) { return error.message; } };

const sgpu = await load();
const account = new sgpu.ServerlessGpuProvider("account", { apiKey: "key", service: "runpod" });
const llama = new sgpu.ServerlessEndpoint("llama", { gpuIds: "AMPERE_24", templateId: "template" }, { provider: account });
const listed = new sgpu.ServerlessEndpoint("listed", {
  gpuIds: ["ADA_48_PRO", llama.endpointId.apply(() => "AMPERE_48")],
  locations: ["RO", "CZ"],
  imageName: "me/llama:1",
  ports: ["8000/http", "22/tcp"],
}, { provider: account });
const smoke = new sgpu.SmokeTest("smoke", { endpointId: llama.endpointId, input: {} });
const found = sgpu.getEndpointOutput({ id: llama.endpointId });
console.log(JSON.stringify({
  id: await valueOf(llama.endpointId),
  lists: [await valueOf(listed.gpuIds), await valueOf(listed.locations), await valueOf(listed.ports)],
  smoke: await valueOf(smoke.urn),
  found: [await valueOf(found.id), await valueOf(found.name)],
  endpoint: (await sgpu.getEndpoint({ id: "one" })).name,
  count: (await sgpu.getEndpoints()).length,
  health: await sgpu.getEndpointHealth({ endpointId: "one" }),
  discount: await sgpu.getServerlessDiscount(),
  env: await valueOf((await sgpu.getPod({ podId: "pod" })).env),
  laterEnv: await valueOf(sgpu.getPodOutput({ podId: llama.endpointId }).env),
  wrong: messageOf(() => new sgpu.ServerlessEndpoint("wrong", { gpuIds: "AMPER_24", templateId: "template" })),
}));
`;

const COMMONJS = `const pulumi = require("@pulumi/pulumi");
const load = async () => require("pulumi-serverless-gpu");
(async () => {${TEST}})();`;

const ESM = `import * as pulumi from "@pulumi/pulumi";
const load = () => import("pulumi-serverless-gpu");
${TEST}`;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(REPOSITORY, ".scratch-mocks-"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test.each([
  ["test.cjs", COMMONJS],
  ["test.mjs", ESM],
])("a unit test with Pulumi's mocks runs: %s", async (name, text) => {
  await writeFile(path.join(folder, name), text);
  const { stdout } = await promisify(execFile)(process.execPath, [name], {
    cwd: folder,
    env: { PATH: process.env.PATH },
  });
  expect(JSON.parse(stdout)).toEqual({
    id: "llama_id",
    // As their types say, and as they are after an `up`.
    lists: ["ADA_48_PRO,AMPERE_48", "CZ,RO", "22/tcp,8000/http"],
    smoke: expect.stringContaining("SmokeTest::smoke"),
    found: ["llama_id", "found"],
    endpoint: "found",
    count: 2,
    health: { endpointId: "one" },
    discount: null,
    env: { TOKEN: "x" },
    laterEnv: { TOKEN: "x" },
    wrong: expect.stringMatching(/^the arguments of "wrong" are invalid: gpuIds "AMPER_24" is not a known GPU pool/),
  });
});
