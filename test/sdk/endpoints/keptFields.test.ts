import { inspect } from "node:util";
import type { FaultRule } from "../../../emulator";
import { BusinessRuleError, InvalidInputError } from "../../../sdk/errors";
import { type Emulated, startEmulated } from "../../support/emulated";
import { graphql } from "../../support/plainClient";

const warnings: string[] = [];
beforeEach(() => {
  warnings.length = 0;
});

const start = () =>
  startEmulated({
    emulator: { profile: "observed" },
    client: { service: "runpod", onWarning: (message) => warnings.push(message) },
  });

/** All that the client does not manage. */
const SHOWN = `gpuIds gpuCount minCudaVersion allowedCudaVersions instanceIds type executionTimeoutMs modelReferences
  compliance workersPFBTarget workersStandby networkVolumeId networkVolumeIds { networkVolumeId } env { key value }`;

/** Makes an endpoint as the service's console or another tool does. */
async function make({ emulator }: Emulated, more: string): Promise<string> {
  const { body } = await graphql(
    emulator,
    `mutation { saveEndpoint(input: { name: "llama", templateId: "t", workersMax: 3, ${more} }) { id } }`,
  );
  return body.data.saveEndpoint.id;
}

/** Returns an endpoint as the service shows it, without the client. */
async function shown({ emulator }: Emulated, id: string) {
  const { body } = await graphql(emulator, `{ myself { endpoints { id ${SHOWN} } } }`);
  return body.data.myself.endpoints.find((each: { readonly id: string }) => each.id === id);
}

const sentBy = ({ emulator }: Emulated, operation: string) =>
  emulator.journal.requests({ operation }).map(({ body }) => JSON.stringify(body));
const lastSave = (it: Emulated) => sentBy(it, "saveEndpoint").at(-1) ?? "";

const WHOLE = `gpuIds: "ADA_24", gpuCount: 2, minCudaVersion: "12.4", type: "LB", executionTimeoutMs: 60000,
  modelReferences: ["https://huggingface.co/a/b:main"], compliance: [GDPR, HIPAA], workersPFBTarget: 1,
  networkVolumeId: "v1", networkVolumeIds: [{ networkVolumeId: "v1" }, { networkVolumeId: "v2" }],
  env: [{ key: "HF_TOKEN", value: "secret-of-the-endpoint" }]`;

describe("a change at the service runpod", () => {
  test("keeps every field that the client does not manage, whatever changes the endpoint", async () => {
    await using it = await start();
    const id = await make(it, WHOLE);
    const { workersStandby: _, ...before } = await shown(it, id);
    expect(before).toMatchObject({ gpuCount: 2, workersPFBTarget: 1, executionTimeoutMs: 60_000, type: "LB" });
    const { endpoints } = it.client;
    await it.run(endpoints.update(id, { workersMax: 2 }));
    expect(await shown(it, id)).toMatchObject(before);
    await it.run(endpoints.update(id, { workersMax: 4 }));
    await it.run(endpoints.recycleWorkers(id, { workersMin: 0, workersMax: 2 }));
    await it.run(endpoints.scaleToZero(id));
    expect(await shown(it, id)).toMatchObject(before);
    expect(it.emulator.endpoints.get(id)).toMatchObject({ workersMin: 0, workersMax: 0, networkVolumeId: "v1" });
    await it.run(endpoints.delete(id));
    expect(it.emulator.endpoints.list()).toEqual([]);
    expect(warnings).toEqual([]);
  });

  test("leaves out what reads null, the data centers of volumes and a template, and sends one volume as the setting", async () => {
    await using it = await start();
    const two = await make(it, WHOLE);
    await it.run(it.client.endpoints.update(two, { workersMax: 2 }));
    expect(lastSave(it)).toMatch(/networkVolumeIds: \[\{networkVolumeId: [^,{}]+\}, \{networkVolumeId: [^,{}]+\}\]/);
    expect(lastSave(it)).not.toMatch(/networkVolumeId: [^,{}]+, (?!.*networkVolumeIds)|dataCenterId|template:|allowedCudaVersions/);
    await it.run(it.client.endpoints.update(two, { networkVolumeId: "v3" }));
    expect(lastSave(it)).not.toContain("networkVolumeIds");
    expect(await shown(it, two)).toMatchObject({ networkVolumeId: "v3" });
    const one = await make(it, 'gpuIds: "ADA_24", networkVolumeId: "v1", networkVolumeIds: [{ networkVolumeId: "v1" }]');
    await it.run(it.client.endpoints.update(one, { workersMax: 2 }));
    expect(lastSave(it)).toContain('networkVolumeId: \\"v1\\"');
    expect(lastSave(it)).not.toContain("networkVolumeIds");
  });

  test("keeps the processors of an endpoint on CPUs, and gives it no GPUs", async () => {
    await using it = await start();
    const id = await make(it, 'gpuIds: "", instanceIds: ["cpu3g-4-16"]');
    await it.run(it.client.endpoints.update(id, { workersMax: 2 }));
    expect(lastSave(it)).toContain('gpuIds: \\"\\"');
    expect(lastSave(it)).not.toMatch(/gpuCount|CudaVersion/);
    expect(await shown(it, id)).toMatchObject({ instanceIds: ["cpu3g-4-16"], gpuIds: "" });
    const saves = sentBy(it, "saveEndpoint").length;
    const refusal = await it.failure(it.client.endpoints.update(id, { gpuIds: "ADA_24" }));
    expect(refusal).toBeInstanceOf(InvalidInputError);
    expect(refusal.message).toContain("gpuIds cannot be set: the endpoint runs on CPUs (cpu3g-4-16)");
    expect(sentBy(it, "saveEndpoint")).toHaveLength(saves);
    await it.run(it.client.endpoints.delete(id));
    expect(it.emulator.endpoints.list()).toEqual([]);
  });

  test("lets the standby workers follow workersMin where they did, and caps them at workersMax", async () => {
    await using it = await start();
    const follows = await make(it, 'gpuIds: "ADA_24", workersMin: 2');
    await it.run(it.client.endpoints.update(follows, { workersMin: 1 }));
    expect(await shown(it, follows)).toMatchObject({ workersStandby: 1 });
    const own = await make(it, 'gpuIds: "ADA_24", workersStandby: 2');
    await it.run(it.client.endpoints.update(own, { workersMax: 4 }));
    expect(await shown(it, own)).toMatchObject({ workersStandby: 2 });
    await it.run(it.client.endpoints.update(own, { workersMax: 1 }));
    expect(await shown(it, own)).toMatchObject({ workersStandby: 1 });
  });

  test("builds on what somebody else has changed since this client's last save", async () => {
    await using it = await start();
    const id = await make(it, 'gpuIds: "ADA_24", gpuCount: 2');
    await it.run(it.client.endpoints.update(id, { workersMax: 2 }));
    await make(it, `id: "${id}", gpuIds: "ADA_24", gpuCount: 4`);
    await it.run(it.client.endpoints.update(id, { workersMax: 2 }));
    await it.clock.advance(3_000);
    await it.run(it.client.endpoints.update(id, { workersMax: 5 }));
    expect(await shown(it, id)).toMatchObject({ gpuCount: 4 });
  });
});

describe("secrets of an endpoint", () => {
  test("its variables are read only for a save, are in no result, and its key is never read", async () => {
    await using it = await start();
    const id = await make(it, WHOLE);
    const list = await it.run(it.client.endpoints.list());
    const saved = await it.run(it.client.endpoints.update(id, { workersMax: 2 }));
    expect(inspect([list, saved, await it.run(it.client.endpoints.get(id))], { depth: 20 })).not.toContain("secret-of");
    const reads = sentBy(it, "myself").filter((document) => document.includes("env {"));
    expect(reads.every((document) => !document.includes("workersMax"))).toBe(true);
    const own = it.emulator.journal.requests().map(({ body }) => JSON.stringify(body));
    expect(own.join()).not.toContain("aiKey");
  });
});

/** Refuses a document that has the field, as a service does whose schema has it no longer. */
const refusal = (field: string, operation: string, message: string): FaultRule => ({
  ...{ operation, when: { bodyIncludes: field }, status: 400 },
  body: { errors: [{ message, extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }] },
});
