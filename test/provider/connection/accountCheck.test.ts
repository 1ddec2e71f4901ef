import { type Emulator, startEmulator } from "../../../emulator";
import { startDynamicProvider } from "../../support/dynamicProvider";

let emulator: Emulator;
let account: string;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 0 });
  account = await accountId();
  emulator.faults.add({ match: { interface: "graphql" }, effect: { status: 410 } });
});
afterEach(() => emulator.stop());

async function accountId(): Promise<string> {
  const { SERVERLESS_GPU_GRAPHQL_URL = "", SERVERLESS_GPU_API_KEY = "" } = emulator.env;
  const response = await fetch(`${SERVERLESS_GPU_GRAPHQL_URL}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${SERVERLESS_GPU_API_KEY}` },
    body: JSON.stringify({ query: "{ myself { id } }" }),
  });
  const { data } = (await response.json()) as { data: { myself: { id: string } } };
  return data.myself.id;
}

const INPUTS = { name: "llama", gpuIds: "ADA_24", imageName: "me/llama:1", workersMax: 1 };
const settings = () => ({ ...emulator.env, SERVERLESS_GPU_API: "v2", SERVERLESS_GPU_ACCOUNT: account });

test("after the end of GraphQL, the first write of a new stack warns that the account is unverified", async () => {
  await using run = await startDynamicProvider(settings());
  const { inputs } = await run.check({}, INPUTS);
  await run.create(inputs);
  expect(run.output()).toContain(`unverified that this key belongs to account ${account}`);
});

test("after the end of GraphQL, a resource of state that was seen with the key proves the account", async () => {
  await using first = await startDynamicProvider(settings());
  const made = await first.create((await first.check({}, INPUTS)).inputs);
  await using run = await startDynamicProvider(settings());
  const { inputs } = await run.check(made.outputs, { ...INPUTS, workersMax: 2 });
  await run.diff(made.id, made.outputs, inputs);
  await run.update(made.id, made.outputs, inputs);
  expect(run.output()).not.toContain("unverified");
  expect(emulator.endpoints.list()).toMatchObject([{ workersMax: 2 }]);
});

test("after the end of GraphQL, a resource that another key of the account can read proves the account", async () => {
  await using first = await startDynamicProvider(settings());
  const made = await first.create((await first.check({}, INPUTS)).inputs);
  const outputs = {
    ...made.outputs,
    __account: String(made.outputs.__account).replace(/ [0-9a-f]{12}/, " 000000000000"),
  };
  await using run = await startDynamicProvider(settings());
  const { inputs } = await run.check(outputs, { ...INPUTS, workersMax: 2 });
  await run.diff(made.id, outputs, inputs);
  await run.update(made.id, outputs, inputs);
  expect(run.output()).not.toContain("unverified");
});
