import { type Emulator, startEmulator } from "../../emulator";
import { type Properties, startDynamicProvider } from "../support/dynamicProvider";

const handlersOf = (name: string) => `exports.handler = () => require("pulumi-serverless-gpu/handlers").${name};`;
const KINDS = {
  endpoint: { name: "llama", gpuIds: "ADA_24", templateId: "template" },
  "network volume": {
    __provider: handlersOf("networkVolumeV1"),
    name: "models",
    size: 20,
    dataCenterId: "EU-RO-1",
  },
} as const;
const CREATES = {
  graphql: { endpoint: "saveEndpoint", "network volume": "createNetworkVolume" },
  v2: { endpoint: "createEndpoint", "network volume": "createNetworkVolume" },
} as const;

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0 });
});
afterEach(() => emulator.stop());

/** The provider process of a stack. */
const startStack = (api: string) => startDynamicProvider({ ...emulator.env, SERVERLESS_GPU_API: api });

async function create(stack: Awaited<ReturnType<typeof startStack>>, args: Properties): Promise<string> {
  const { inputs, failures } = await stack.check({}, args);
  expect(failures).toEqual([]);
  return (await stack.create(inputs)).id;
}

describe.each(["graphql", "v2"] as const)("over %s", (api) => {
  test.each([
    "endpoint",
    "network volume",
  ] as const)("two stacks that create the same %s name at the same moment report both ids and delete nothing", async (kind) => {
    await using one = await startStack(api);
    await using other = await startStack(api);
    // Both have read the list before either creates.
    const match = { operation: CREATES[api][kind] };
    emulator.faults.add({ match, effect: { latencyMs: 2_500, when: "before" } });
    const ids = await Promise.all([create(one, KINDS[kind]), create(other, KINDS[kind])]);
    expect(new Set(ids).size).toBe(2);
    const warned = [one, other].filter((each) => each.output().includes(`two or more ${kind}s are named`));
    expect(warned.length).toBeGreaterThanOrEqual(1);
    for (const each of warned) for (const id of ids) expect(each.output()).toContain(id);
    const left = kind === "endpoint" ? emulator.endpoints.list() : emulator.volumes.list();
    expect(left.map(({ id }) => id).sort()).toEqual([...ids].sort());
  });
});

test("simultaneous creates share one check, and volumes of the same name in two data centers are not duplicates", async () => {
  await using stack = await startStack("graphql");
  const names = Array.from({ length: 20 }, (_, index) => `llama-${index}`);
  await Promise.all(names.map((name) => create(stack, { ...KINDS.endpoint, name })));
  const lists = emulator.journal.operations().filter((operation) => operation === "myself");
  expect(lists.length).toBeLessThanOrEqual(4);
  const volume = KINDS["network volume"];
  await create(stack, volume);
  await create(stack, { ...volume, dataCenterId: "US-KS-2" });
  expect(stack.output()).not.toContain("two or more");
});

test("a failed check for duplicates is reported and does not fail the create", async () => {
  await using stack = await startStack("graphql");
  const made = () => emulator.endpoints.list().length > 0;
  emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { latencyMs: 500, when: "after" } });
  const creating = create(stack, KINDS.endpoint);
  while (!made()) await new Promise((resolve) => setTimeout(resolve, 1));
  emulator.faults.add({ match: { operation: "myself" }, effect: { status: 401 } });
  expect(await creating).toBe(emulator.endpoints.list()[0]?.id);
  expect(stack.output()).toContain("was created, but the search for others with the same name failed");
});
