import { type Emulator, type Profile, startEmulator } from "../../../emulator";
import { CANARY } from "../../support/emulated";

const NEW = 'gpuIds: "AMPERE_24", templateId: "abc123", workersMax: 0';

type Named = { readonly id: string; readonly name: string };

/** The parts of responses that these tests read. */
interface Data {
  readonly myself?: { readonly endpoints: Named[]; readonly podTemplates: Named[] };
  readonly saveEndpoint?: Named;
  readonly a400?: Named;
}

async function query(emulator: Emulator, document: string) {
  const response = await fetch(`${emulator.url}/graphql?api_key=${CANARY}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: document }),
  });
  return { status: response.status, ...((await response.json()) as { data?: Data; errors?: { message: string }[] }) };
}

async function withEndpoints(profile: Profile, count: number): Promise<Emulator> {
  const emulator = await startEmulator({ apiKey: CANARY, profile });
  for (let index = 0; index < count; index += 100) {
    const many = Array.from({ length: Math.min(100, count - index) }, (_, each) => index + each);
    const saves = many.map((each) => `a${each}: saveEndpoint(input: { name: "e${each}", ${NEW} }) { id }`);
    expect((await query(emulator, `mutation { ${saves.join(" ")} }`)).errors).toBeUndefined();
  }
  return emulator;
}

test("[myself.list-cap] [myself.endpoint] the observed list shows the 400 oldest endpoints, and a read by id shows any endpoint", async () => {
  await using emulator = await withEndpoints("observed", 402);
  const names = emulator.endpoints.list().map(({ name }) => name);
  const { data } = await query(emulator, "{ myself { endpoints { id name } } }");
  expect(data?.myself?.endpoints.map(({ name }) => name)).toEqual(names.slice(0, 400));
  const { id } = emulator.endpoints.list()[401] as { id: string };
  const single = await query(
    emulator,
    `{ myself { a0: endpoint(id: "${id}") { id name } a1: endpoint(id: "x") { id } } }`,
  );
  expect(single.data).toEqual({ myself: { a0: { id, name: "e401" }, a1: null } });
});

test("the contract profile lists all endpoints, and no query reads a single endpoint", async () => {
  await using emulator = await withEndpoints("contract", 402);
  const { data } = await query(emulator, "{ myself { endpoints { id } } }");
  expect(data?.myself?.endpoints).toHaveLength(402);
  expect(await query(emulator, '{ myself { endpoint(id: "x") { id } } }')).toMatchObject({ status: 400 });
});

test("[template.list-cap] the observed list shows the 400 oldest templates", async () => {
  await using emulator = await startEmulator({ apiKey: CANARY, profile: "observed" });
  const fields = 'imageName: "i", dockerArgs: "", containerDiskInGb: 5, volumeInGb: 0, env: [], isServerless: true';
  const saves = Array.from(
    { length: 401 },
    (_, each) => `a${each}: saveTemplate(input: { name: "t${each}", ${fields} }) { id }`,
  );
  const saved = await query(emulator, `mutation { ${saves.join(" ")} }`);
  expect(saved.errors).toBeUndefined();
  const { data } = await query(emulator, "{ myself { podTemplates { id } } }");
  expect(data?.myself?.podTemplates).toHaveLength(400);
  const id = saved.data?.a400?.id;
  expect((await query(emulator, `{ podTemplate(id: "${id}") { id } }`)).data).toEqual({ podTemplate: { id } });
});

test("[myself.endpoint-lag] a read of one endpoint lags by at most 2.5 s while the list lags by 10 s", async () => {
  await using emulator = await withEndpoints("observed", 0);
  emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs: 10_000 } });
  const { data } = await query(emulator, `mutation { saveEndpoint(input: { name: "new", ${NEW} }) { id } }`);
  const id = data?.saveEndpoint?.id;
  const read = `{ myself { endpoints { id } endpoint(id: "${id}") { id } } }`;
  expect((await query(emulator, read)).data?.myself).toEqual({ endpoints: [], endpoint: null });
  await new Promise((resolve) => setTimeout(resolve, 2_600));
  expect((await query(emulator, read)).data?.myself).toEqual({ endpoints: [], endpoint: { id } });
});

test("[v2.newest-first] REST v2 lists the newest endpoint first", async () => {
  await using emulator = await withEndpoints("observed", 3);
  const response = await fetch(`${emulator.url}/v2/serverless`, { headers: { authorization: `Bearer ${CANARY}` } });
  const { endpoints } = (await response.json()) as { endpoints: { name: string }[] };
  expect(endpoints.map(({ name }) => name)).toEqual(["e2", "e1", "e0"]);
});
