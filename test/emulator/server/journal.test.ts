import { inspect } from "node:util";
import { type Emulator, startEmulator } from "../../../emulator";
import { createJournal } from "../../../emulator/server/journal";
import { manualClock } from "../../../emulator/time/virtualClock";
import { createEndpoint, getPod, graphql, mutate, REQUIRED, send } from "../../support/plainClient";

const KEY = "canary/key+1";
const SECRET = "canary-secret";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0, apiKey: KEY });
});
afterEach(() => emulator.stop());

const list = () => graphql(emulator, "{ myself { endpoints { id } } }");

describe("journal", () => {
  test("journal is readable if the key is a single letter", async () => {
    await using account = await startEmulator({ profile: "contract", apiKey: "a" });
    await createEndpoint(account);
    expect(account.journal.requests()[0]?.arguments).toMatchObject({ input: { name: "a", gpuIds: "AMPERE_16" } });
  });

  test("journal contains every request in order, with its arguments and outcome", async () => {
    const id = await createEndpoint(emulator, "workersMax: 1, flashBootType: FLASHBOOT");
    await list();
    await graphql(emulator, `mutation { deleteEndpoint(id: "${id}") }`);
    await getPod(emulator, "nope?includeMachine=true");

    expect(emulator.journal.operations()).toEqual(["saveEndpoint", "myself", "deleteEndpoint", "getPod"]);
    const [save, , remove, pod] = emulator.journal.requests();
    expect(save).toMatchObject({
      number: 1,
      interface: "graphql",
      method: "POST",
      operation: "saveEndpoint",
      arguments: {
        input: { name: "a", gpuIds: "AMPERE_16", templateId: "template-1", workersMax: 1, flashBootType: "FLASHBOOT" },
      },
      status: 200,
      outcome: "ok",
    });
    expect(remove).toMatchObject({ endpointId: id, arguments: { id }, status: 200, outcome: "error" });
    expect(remove?.error).toContain("workersMax");
    expect(pod).toMatchObject({
      interface: "rest",
      method: "GET",
      path: "/v1/pods/nope?includeMachine=true",
      arguments: { podId: "nope", includeMachine: "true" },
      status: 404,
      outcome: "error",
    });
  });

  test("journal records the arguments as sent, without the defaults that the service adds", async () => {
    await createEndpoint(emulator);
    expect(emulator.journal.requests()[0]?.arguments.input).toEqual({
      name: "a",
      gpuIds: "AMPERE_16",
      templateId: "template-1",
    });
  });

  test("journal filters by interface, operation, endpoint and outcome", async () => {
    const id = await createEndpoint(emulator);
    await graphql(emulator, `mutation { saveEndpoint(input: { id: "${id}", ${REQUIRED} }) { id } }`);
    await list();
    await getPod(emulator, "nope");
    const { journal } = emulator;
    expect(journal.operations({ interface: "graphql" })).toEqual(["saveEndpoint", "saveEndpoint", "myself"]);
    expect(journal.requests({ operation: "saveEndpoint" })).toHaveLength(2);
    expect(journal.operations({ endpointId: id })).toEqual(["saveEndpoint", "saveEndpoint"]);
    expect(journal.requests({ endpointId: "other" })).toEqual([]);
    expect(journal.operations({ outcome: "error" })).toEqual(["getPod"]);
  });

  test("journal is empty after it is cleared", async () => {
    await list();
    emulator.journal.clear();
    expect(emulator.journal.requests()).toEqual([]);
    await list();
    expect(emulator.journal.requests()[0]?.number).toBe(1);
  });

  test("journal is not affected when a caller changes an entry that it returned", async () => {
    await list();
    Object.assign(emulator.journal.requests()[0] ?? {}, { operation: "changed" });
    expect(emulator.journal.operations()).toEqual(["myself"]);
  });

  test("journal records an unparsable document as unknown", async () => {
    await graphql(emulator, "{ nonsense");
    expect(emulator.journal.requests()[0]).toMatchObject({ operation: "unknown", status: 400, outcome: "error" });
  });

  test("journal never contains a password or the value of a variable, however it is sent", async () => {
    const template = (env: string, more = "") =>
      `saveTemplate(input: { name: "t", dockerArgs: "", containerDiskInGb: 1, volumeInGb: 0, env: ${env} ${more} }) { id }`;
    await mutate(emulator, template(`[{ key: "TOKEN", value: "${SECRET}" }]`, ', imageName: "i"'));
    await mutate(emulator, template(`[{ key: "TOKEN", value: "${SECRET}" }]`));
    await mutate(emulator, template(`{ TOKEN: "${SECRET}" }`));
    await mutate(emulator, template(`["${SECRET}"]`));
    await mutate(emulator, template(`"${SECRET}"`));
    await mutate(emulator, template("[{ key: 1, value: 987654321 }]"));
    await mutate(emulator, `saveRegistryAuth(input: { name: "r", username: "me", password: "${SECRET}" }) { id }`);
    await mutate(emulator, `updateRegistryAuth(input: { id: "r", username: "me", password: ["${SECRET}"] }) { id }`);
    const body = {
      query: "mutation ($input: SaveTemplateInput) { saveTemplate(input: $input) { id } }",
      variables: { input: { name: "v", imageName: "i", env: [{ key: "TOKEN", value: SECRET }] } },
    };
    await send(`${emulator.url}/graphql?api_key=${encodeURIComponent(KEY)}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const entries = emulator.journal.requests();
    const shown = JSON.stringify(entries);
    expect(shown).not.toContain("canary");
    expect(shown).not.toContain("987654321");
    expect(entries.map(({ status }) => status)).toEqual([200, 200, 400, 400, 400, 400, 200, 400, 400]);
    expect(entries[0]?.arguments).toEqual({
      input: {
        name: "t",
        dockerArgs: "",
        containerDiskInGb: 1,
        volumeInGb: 0,
        env: [{ key: "TOKEN", value: "[redacted]" }],
        imageName: "i",
      },
    });
    expect(entries[6]?.arguments).toEqual({ input: { name: "r", username: "me", password: "[redacted]" } });
    expect(entries[8]).toMatchObject({ operation: "saveTemplate", outcome: "error" });
  });

  test("journal never contains a key, a job's input or a storage secret", async () => {
    await list();
    await graphql(emulator, "{ myself { endpoints { id } } }", "canary-wrong-key");
    await graphql(emulator, `mutation { deleteEndpoint(id: "${KEY}") }`);
    await getPod(emulator, `${encodeURIComponent(KEY)}?api_key=${encodeURIComponent(KEY)}`);
    const id = await createEndpoint(emulator);
    await send(`${emulator.url}/v2/${id}/run`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify({
        input: { token: SECRET },
        webhook: `http://127.0.0.1:9/hook?token=${SECRET}`,
        s3Config: { accessId: "id", accessSecret: SECRET, bucketName: "b", endpointUrl: "http://127.0.0.1:9" },
        policy: { ttl: 20_000 },
      }),
    });
    const entries = emulator.journal.requests();
    const shown = JSON.stringify(entries) + inspect(entries, { depth: null });
    expect(shown).not.toContain(KEY);
    expect(shown).not.toContain(encodeURIComponent(KEY));
    expect(shown).not.toContain("canary");
    expect(entries.at(-1)).toMatchObject({
      interface: "queue",
      operation: "run",
      endpointId: id,
      arguments: { policy: { ttl: 20_000 }, s3Config: { bucketName: "b", accessSecret: "[redacted]" } },
    });
  });
});

test("an entry that cannot be redacted is listed in the journal without its arguments and error", () => {
  const { journal, open } = createJournal(manualClock(0), { apiKey: KEY, restrictedApiKey: undefined }, {});
  const request = {
    method: "POST",
    path: "/graphql",
    query: new URLSearchParams({ key: KEY }),
    headers: {},
    body: Buffer.alloc(0),
    signal: () => new AbortController().signal,
  };
  for (const value of [1, 1n, 2]) {
    const call = { interface: "graphql", operation: "myself", arguments: { value, input: { value: SECRET } } } as const;
    const entry = open(request, { ...call, run: () => ({ status: 200, headers: {}, body: "" }) }, undefined);
    entry.end({ status: 200, headers: {}, body: "", error: `not ${SECRET}` });
  }
  const entries = journal.requests();
  expect(entries.map((entry) => entry.arguments)).toEqual([
    { value: 1, input: { value: "[redacted]" } },
    { unreadable: "they cannot be shown" },
    { value: 2, input: { value: "[redacted]" } },
  ]);
  expect(entries.map((entry) => entry.error)).toEqual(["not [redacted]", "[redacted]", "not [redacted]"]);
  expect(JSON.stringify(entries)).not.toContain("canary");
});
