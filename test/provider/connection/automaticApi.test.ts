import { type Emulator, type FaultEffect, startEmulator } from "../../../emulator";
import { RECORD_TYPES } from "../../../provider/engine/resourceTypes";
import { type Properties, startDynamicProvider } from "../../support/dynamicProvider";
import { until } from "../../support/loadBalanced";

/** The ways in which a service may answer after it has ended GraphQL. */
const GONE: FaultEffect = { status: 410 };
const MISSING: readonly [string, FaultEffect][] = [
  ["404", { status: 404 }],
  ["405", { status: 405 }],
  ["a redirect", { status: 301, headers: { location: "https://example.com/" } }],
];
const PASSING: readonly [string, FaultEffect][] = [
  ["401", { status: 401 }],
  ["403", { status: 403 }],
  ["429", { status: 429, headers: { "retry-after": "600" } }],
];

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 0 });
});
afterEach(() => emulator.stop());

const INPUTS = { name: "llama", gpuIds: "ADA_24", imageName: "me/llama:1", workersMax: 1 };

const end = (effect: FaultEffect) => void emulator.faults.add({ match: { interface: "graphql" }, effect });

async function create(inputs: Properties, env: Record<string, string> = {}) {
  await using one = await startDynamicProvider({ ...emulator.env, ...env });
  const checked = await one.check({}, inputs);
  expect(checked.failures).toEqual([]);
  return await one.create(checked.inputs);
}

/** Changes a resource in a run of its own. Returns what the run printed. */
async function update(
  { id, outputs }: { readonly id: string; readonly outputs: Properties },
  inputs: Properties,
  env: Record<string, string> = {},
) {
  await using one = await startDynamicProvider({ ...emulator.env, ...env });
  const checked = await one.check(outputs, inputs);
  const outcome = await one.update(id, outputs, checked.inputs).then(
    () => "done",
    (error: Error) => error.message,
  );
  return { outcome, printed: one.output() };
}

const requestsTo = (api: "graphql" | "v2") => emulator.journal.requests({ interface: api });

test("without a setting, a run uses REST v2 once GraphQL answers with 410, and says so with the line to write", async () => {
  const made = await create(INPUTS);
  expect(requestsTo("v2")).toEqual([]);
  end(GONE);
  const { outcome, printed } = await update(made, { ...INPUTS, workersMax: 2 });
  expect(outcome).toBe("done");
  expect(emulator.endpoints.list()).toMatchObject([{ id: made.id, workersMax: 2 }]);
  expect(printed).toContain("no longer serves GraphQL (status 410 Gone)");
  expect(printed).toContain("60 requests a minute, not 180");
  expect(printed).toContain("pulumi config set serverless-gpu:api v2");
});

test("a first run without any endpoint switches on 410", async () => {
  end(GONE);
  const { id } = await create(INPUTS);
  expect(emulator.endpoints.list()).toMatchObject([{ id, workersMax: 1 }]);
});

test.each(MISSING)(
  "GraphQL that answers with %s is gone if REST v2 lists the endpoint",
  async (_, effect) => {
    const made = await create(INPUTS);
    end(effect);
    const { outcome, printed } = await update(made, { ...INPUTS, workersMax: 2 });
    expect(outcome).toBe("done");
    expect(printed).toMatch(/no longer serves GraphQL \(status \d+ twice\)/);
    expect(emulator.endpoints.get(made.id)).toMatchObject({ workersMax: 2 });
  },
  30_000,
);

test.each(MISSING)(
  "a run without an endpoint does not switch when GraphQL answers with %s",
  async (_, effect) => {
    end(effect);
    await expect(create(INPUTS)).rejects.toThrow(
      /not certain that REST v2 shows the same account. Nothing was changed/,
    );
    expect(emulator.endpoints.list()).toEqual([]);
  },
  30_000,
);

test("GraphQL that answers with 404 only once is not gone", async () => {
  const made = await create(INPUTS);
  emulator.faults.add({ match: { interface: "graphql" }, effect: { status: 404 }, times: 2 });
  const { outcome } = await update(made, { ...INPUTS, workersMax: 2 });
  expect(outcome).toContain("404");
  expect(requestsTo("v2")).toEqual([]);
  expect(emulator.endpoints.get(made.id)).toMatchObject({ workersMax: 1 });
}, 30_000);

test.each(PASSING)(
  "a run never switches because of %s",
  async (_, effect) => {
    const made = await create(INPUTS);
    end(effect);
    const { outcome } = await update(made, { ...INPUTS, workersMax: 2 });
    expect(outcome).not.toBe("done");
    expect(requestsTo("v2")).toEqual([]);
  },
  30_000,
);

test("a run that has written over GraphQL does not switch", async () => {
  const made = await create(INPUTS);
  await using one = await startDynamicProvider(emulator.env);
  const first = await one.check(made.outputs, { ...INPUTS, workersMax: 2 });
  const outputs = await one.update(made.id, made.outputs, first.inputs);
  end(GONE);
  const second = await one.check(outputs, { ...INPUTS, workersMax: 3 });
  await expect(one.update(made.id, outputs, second.inputs)).rejects.toThrow("status 410");
  expect(requestsTo("v2")).toEqual([]);
});

test("a deletion that has scaled its endpoint to zero over GraphQL does not continue over REST v2", async () => {
  const made = await create(INPUTS);
  await using one = await startDynamicProvider(emulator.env);
  emulator.journal.clear();
  emulator.faults.add({ match: { operation: "deleteEndpoint" }, effect: { latencyMs: 1_500, status: 410 } });
  const deletion = one.delete(made.id, made.outputs);
  await until(() => requestsTo("graphql").some(({ operation }) => operation === "saveEndpoint"));
  end(GONE);
  await expect(deletion).rejects.toThrow("status 410");
  expect(requestsTo("v2")).toEqual([]);
  expect(emulator.endpoints.list()).toMatchObject([{ id: made.id }]);
}, 30_000);

/** Inputs that only one API accepts, with the field that the other API refuses. */
const ONLY_V2 = [
  ["drain", { drain: false }],
  ["scalerValue", { scalerType: "QUEUE_DELAY", scalerValue: 0.5 }],
] as const;
const ONLY_GRAPHQL = [
  ["workersStandby", { workersStandby: 1 }],
  ["idleTimeout", { idleTimeout: 3_601 }],
] as const;

test.each(
  ONLY_V2,
)("a check without a setting accepts %s that only REST v2 accepts, and the first write over GraphQL refuses it", async (field, more) => {
  const refusal = await create({ ...INPUTS, ...more }).catch((error: Error) => error.message);
  expect(refusal).toMatch(new RegExp(`${field}: .*REST v2`));
  expect(emulator.endpoints.list()).toEqual([]);
  end(GONE);
  await create({ ...INPUTS, ...more });
  expect(emulator.endpoints.list()).toHaveLength(1);
});

test.each(
  ONLY_GRAPHQL,
)("a check without a setting accepts %s that only GraphQL accepts, and the first write over REST v2 refuses it", async (field, more) => {
  end(GONE);
  const refusal = await create({ ...INPUTS, ...more }).catch((error: Error) => error.message);
  expect(refusal).toMatch(new RegExp(`${field}: .*REST v2`));
  expect(emulator.endpoints.list()).toEqual([]);
});

test("a move from a template to a container is refused by the first write over GraphQL, and made over REST v2", async () => {
  emulator.templates.create({ id: "shared", name: "shared", imageName: "me/llama:1", isServerless: true });
  const { imageName: _, ...others } = INPUTS;
  const made = await create({ ...others, templateId: "shared" });
  const refused = await update(made, { ...INPUTS, workersMax: 2 });
  expect(refused.outcome).toContain("imageName: cannot replace templateId over GraphQL");
  expect(refused.printed).toContain("warning: imageName cannot replace templateId over GraphQL");
  expect(emulator.endpoints.get(made.id)).toMatchObject({ workersMax: 1, templateId: "shared" });
  end(GONE);
  const moved = await update(made, { ...INPUTS, workersMax: 2, imageName: "me/llama:2" });
  expect(moved.outcome).toBe("done");
  expect(emulator.endpoints.get(made.id)).toMatchObject({ workersMax: 2, container: { imageName: "me/llama:2" } });
});

test("a check with a setting refuses what its API cannot do", async () => {
  const failed = async (api: string, inputs: Properties) => {
    await using one = await startDynamicProvider({ ...emulator.env, SERVERLESS_GPU_API: api });
    return (await one.check({}, { ...INPUTS, ...inputs })).failures.map(({ reason }) => /^\w+/.exec(reason)?.[0]);
  };
  expect(await failed("graphql", { drain: false })).toEqual(["drain"]);
  expect(await failed("v2", { workersStandby: 1, idleTimeout: 3_601 })).toEqual(["workersStandby", "idleTimeout"]);
});

test.each(["graphql", "v2"])("the setting api: %s stays as it is", async (api) => {
  const made = await create(INPUTS);
  end(GONE);
  emulator.journal.clear();
  const { outcome } = await update(made, { ...INPUTS, workersMax: 2 }, { SERVERLESS_GPU_API: api });
  expect(outcome === "done").toBe(api === "v2");
  expect(requestsTo(api === "v2" ? "graphql" : "v2")).toEqual([]);
});

test("a template's change that REST v2 would not bring to its endpoints is refused after a switch", async () => {
  const template = { __provider: RECORD_TYPES.ServerlessTemplate.provider, name: "t", imageName: "me/t:1" };
  const made = await create(template);
  end(GONE);
  const { outcome } = await update(made, { ...template, imageName: "me/t:2" });
  expect(outcome).toMatch(/template "t" was not changed \(imageName\).*templateRevision: template.revision/);
  expect(emulator.templates.get(made.id)).toMatchObject({ imageName: "me/t:1" });
  const described = await update(made, { ...template, readme: "new" });
  expect(described.outcome).toBe("done");
});
