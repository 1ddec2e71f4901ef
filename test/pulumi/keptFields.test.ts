import { readFile } from "node:fs/promises";
import path from "node:path";
import { startEmulator } from "../../emulator";
import { graphql } from "../support/plainClient";
import { createStack } from "./harness";

const WHOLE = `gpuIds: "ADA_24", gpuCount: 2, executionTimeoutMs: 60000, workersPFBTarget: 1, type: "LB", compliance: [GDPR],
  modelReferences: ["https://huggingface.co/a/b:main"], networkVolumeId: "v1",
  networkVolumeIds: [{ networkVolumeId: "v1" }, { networkVolumeId: "v2" }],
  env: [{ key: "HF_TOKEN", value: "secret-of-the-endpoint" }]`;
const SHOWN = `gpuCount executionTimeoutMs workersPFBTarget type compliance modelReferences networkVolumeId
  networkVolumeIds { networkVolumeId } env { key value }`;

test("an adopted endpoint keeps the settings that a program cannot declare, and its secrets never enter state", async () => {
  await using emulator = await startEmulator({ profile: "observed", drainMs: 100 });
  const { body } = await graphql(
    emulator,
    `mutation { saveEndpoint(input: { name: "llama", templateId: "t", workersMax: 3, ${WHOLE} }) { id } }`,
  );
  const { id } = body.data.saveEndpoint;
  const shown = async () =>
    (await graphql(emulator, `{ myself { endpoints { ${SHOWN} } } }`)).body.data.myself.endpoints[0];
  const before = await shown();
  const program = (workersMax: number) => `
const { getEndpointOutput, ServerlessEndpoint } = require("pulumi-serverless-gpu");
const args = { adoptId: "${id}", gpuIds: "ADA_24", templateId: "t", workersMax: ${workersMax} };
const llama = new ServerlessEndpoint("llama", args);
exports.read = getEndpointOutput({ id: llama.id });
`;
  const stack = await createStack({ program: program(2), env: { ...emulator.env, SERVERLESS_GPU_SERVICE: "runpod" } });
  const adopted = await stack.up();
  expect(adopted.output).toContain("changed workersMax 3 → 2");
  expect(await shown()).toEqual(before);
  await stack.writeProgram(program(4));
  const changed = await stack.up("--refresh");
  expect(emulator.endpoints.get(id)).toMatchObject({ workersMax: 4 });
  expect(await shown()).toEqual(before);

  const { read } = await stack.outputs();
  expect(read).toMatchObject({ id, workersMax: 4 });
  const state = await readFile(path.join(stack.scratch, "state/.pulumi/stacks/test/dev.json"), "utf8");
  expect(JSON.stringify(read) + state).not.toMatch(/"kept"|workersPFBTarget|secret-of-the-endpoint/);
  expect(adopted.output + changed.output).not.toContain("secret-of-the-endpoint");

  // Without adoptId, the endpoint is the stack's own.
  await stack.writeProgram(program(4).replace(`adoptId: "${id}", `, ""));
  await stack.up();
  const removed = await stack.destroy();
  expect(removed.output).not.toContain("warning");
  expect(emulator.endpoints.list()).toEqual([]);
});
