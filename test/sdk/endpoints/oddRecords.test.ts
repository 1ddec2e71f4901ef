import { manualClock } from "../../../emulator/time/virtualClock";
import type { Client } from "../../../sdk/client/client";
import { CreateUncertainError, NameTakenError, UnexpectedResponseError } from "../../../sdk/errors/errors";
import { withoutCanary } from "../../support/emulated";
import { clientOf } from "../../support/rawServer";
import { startScriptedServer } from "../../support/scriptedServer";

const INPUT = { name: "llama", gpuIds: "AMPERE_24", templateId: "t" } as const;
const HEALTHY = { id: "ep-1", ...INPUT, idleTimeout: 5, scalerValue: 4, workersMin: 0, workersMax: 0 };

/** Records of other people's endpoints, as services were seen to return them. */
const ODD: readonly (readonly [string, unknown])[] = [
  ["name: null", { ...HEALTHY, id: "odd", name: null }],
  ["a number as a string", { ...HEALTHY, id: "odd", name: "other", scalerValue: "4" }],
  ["pods: [null]", { ...HEALTHY, id: "odd", name: "other", pods: [null] }],
  ["gpuIds: 7", { ...HEALTHY, id: "odd", name: "other", gpuIds: 7 }],
];
const WITHOUT_ID: readonly (readonly [string, unknown])[] = [
  ["null", null],
  ["no id", { ...HEALTHY, id: undefined, name: "other" }],
  ["an id of another type", { ...HEALTHY, id: 7, name: "other" }],
  ["a string", "odd"],
];

/** A service with these records, on a clock that needs no real waiting. */
async function startService(records: unknown[], onSave: (records: unknown[]) => unknown = () => undefined) {
  const saves: string[] = [];
  const server = await startScriptedServer(({ body }) => {
    if (body.includes("deleteEndpoint")) {
      records.splice(0, 1);
      return { body: { data: { deleteEndpoint: null } } };
    }
    if (!body.includes("saveEndpoint")) return { body: { data: { myself: { endpoints: records } } } };
    saves.push(body);
    const saved = onSave(records);
    return saved === undefined ? { status: 503, body: {} } : { body: { data: { saveEndpoint: saved } } };
  });
  const clock = manualClock();
  const client = clientOf(server, { clock });
  async function run<T>(call: (client: Client) => Promise<T>): Promise<T> {
    let isOver = false;
    const result = call(client).finally(() => {
      isOver = true;
    });
    result.catch(() => {});
    while (!isOver) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      await clock.advance(500);
    }
    return result;
  }
  const failure = (call: (client: Client) => Promise<unknown>) =>
    run((service) =>
      call(service).then(
        () => undefined,
        (reason: unknown) => reason,
      ),
    ).then(withoutCanary);
  return {
    run,
    failure,
    saves,
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe.each(ODD)("an odd record of another endpoint (%s)", (_what, odd) => {
  test("an odd record of another endpoint does not affect an endpoint whose own record is valid", async () => {
    await using service = await startService([HEALTHY, odd], () => HEALTHY);
    expect(await service.run(({ endpoints }) => endpoints.get("ep-1"))).toMatchObject(HEALTHY);
    expect(await service.run(({ endpoints }) => endpoints.update("ep-1", { workersMax: 2 }))).toMatchObject(HEALTHY);
    await service.run(({ endpoints }) => endpoints.create(INPUT));
    await service.run(({ endpoints }) => endpoints.delete("ep-1"));
    expect(await service.run(({ endpoints }) => endpoints.find("ep-1"))).toBeUndefined();
  });

  test("an odd record of another endpoint causes an error that names the record in calls that need it, and never counts as a deleted endpoint", async () => {
    await using service = await startService([HEALTHY, odd]);
    const calls: ((client: Client) => Promise<unknown>)[] = [
      ({ endpoints }) => endpoints.find("odd"),
      ({ endpoints }) => endpoints.get("odd"),
      ({ endpoints }) => endpoints.update("odd", { workersMax: 1 }),
      ({ endpoints }) => endpoints.delete("odd"),
      ({ endpoints }) => endpoints.list(),
    ];
    for (const call of calls) {
      const error = await service.failure(call);
      expect(error).toBeInstanceOf(UnexpectedResponseError);
      expect(error.message).toMatch(/the record of odd\b.*(name|scalerValue|pods|gpuIds)/);
    }
    expect(service.saves).toEqual([]);
  });

  test("an odd record of another endpoint is listed separately", async () => {
    await using service = await startService([odd, HEALTHY]);
    const { records: endpoints, unreadable } = await service.run((client) => client.endpoints.listReadable());
    expect(endpoints).toMatchObject([HEALTHY]);
    expect(unreadable).toMatchObject([{ id: "odd", problem: expect.any(String) }]);
  });
});

describe.each(WITHOUT_ID)("a record without an id (%s)", (_what, odd) => {
  test("a record without an id prevents proof that an endpoint does not exist, and has no other effect", async () => {
    await using service = await startService([HEALTHY, odd], () => HEALTHY);
    expect(await service.run(({ endpoints }) => endpoints.get("ep-1"))).toMatchObject(HEALTHY);
    for (const call of ["find", "get", "delete"] as const) {
      const error = await service.failure(({ endpoints }) => endpoints[call]("ep-2"));
      expect(error).toBeInstanceOf(UnexpectedResponseError);
      expect(error.message).toMatch(
        /cannot tell whether endpoint ep-2 exists, because a record in the list has no id.*a record without an id/,
      );
    }
    const error = await service.failure(({ endpoints }) => endpoints.delete("ep-1"));
    expect(error.message).toContain("cannot tell whether endpoint ep-1 exists");
  });
});

describe("a create", () => {
  const odd = { ...HEALTHY, id: "odd", scalerValue: "4" };
  const refuse = () => {
    throw new Error("taken");
  };

  test("a create is refused if a malformed record uses its name and names must be unique", async () => {
    await using service = await startService([odd]);
    const error = await service.failure(({ endpoints }) => endpoints.create(INPUT, { onNameTaken: refuse }));
    expect(error).toBeInstanceOf(NameTakenError);
    expect(error).toMatchObject({
      ids: ["odd"],
      message: expect.stringMatching(/"llama".*\(odd\).*scalerValue/),
    });
    expect(service.saves).toEqual([]);
  });

  test("a create whose response was lost is not sent again if a malformed record may be its endpoint", async () => {
    await using service = await startService([HEALTHY], (records) => void records.push({ ...odd, id: "ep-new" }));
    const error = await service.failure(({ endpoints }) => endpoints.create(INPUT));
    expect(error).toBeInstanceOf(CreateUncertainError);
    expect(error.message).toContain("ep-new");
    expect(service.saves).toHaveLength(1);
  });

  test("a create whose response was lost does not mistake a previously unreadable endpoint for the new one", async () => {
    const records: unknown[] = [odd];
    await using service = await startService(records, () => {
      const isFirst = records[0] === odd;
      records[0] = { ...HEALTHY, id: "odd" };
      return isFirst ? undefined : { ...HEALTHY, id: "ep-new" };
    });
    const made = await service.run(({ endpoints }) => endpoints.create(INPUT));
    expect(made.id).toBe("ep-new");
    expect(service.saves).toHaveLength(2);
  });

  test("a create whose response was lost finds its endpoint even if a malformed record existed before", async () => {
    await using service = await startService([{ ...odd, name: "other" }], (all) => void all.push(HEALTHY));
    expect(await service.run(({ endpoints }) => endpoints.create(INPUT))).toMatchObject(HEALTHY);
    expect(service.saves).toHaveLength(1);
  });
});

test("a list with a record without an id fails only the calls that began before it was read", async () => {
  const records: unknown[] = [{ name: "of nobody" }];
  await using service = await startService(records);
  const find = (client: Client) => client.endpoints.find("gone", { maxAgeMs: 600_000 });
  expect(await service.failure(find)).toMatchObject({
    message: expect.stringContaining("a record in the list has no id"),
  });
  records[0] = { id: "other", name: "of someone" };
  expect(await service.run(find)).toBeUndefined();
});
