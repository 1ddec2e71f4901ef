import { type Emulator, manualClock, startEmulator } from "../../../emulator";
import {
  type Answer,
  callControl,
  createEndpoint,
  getPod,
  graphql,
  REQUIRED,
  save,
  send,
} from "../../support/plainClient";

const NAMED = { name: "seeded", gpuIds: "ADA_24", templateId: "t" };

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0 });
});
afterEach(() => emulator.stop());

function control(method: string, path: string, body?: unknown, headers = {}): Promise<Answer> {
  return callControl(emulator, method, path, body, headers);
}

describe("control over HTTP", () => {
  test("control over HTTP shows, filters and clears the journal, and its own requests are not recorded there", async () => {
    const id = await createEndpoint(emulator);
    await graphql(emulator, "{ myself { endpoints { id } } }");
    await getPod(emulator, "nope");
    expect((await control("GET", "journal")).body).toEqual(JSON.parse(JSON.stringify(emulator.journal.requests())));
    expect((await control("GET", "journal?interface=rest&status=404")).body).toMatchObject([{ operation: "getPod" }]);
    expect((await control("GET", `journal?endpointId=${id}`)).body).toMatchObject([{ operation: "saveEndpoint" }]);
    expect((await control("DELETE", "journal")).status).toBe(204);
    expect((await control("GET", "journal")).body).toEqual([]);
  });

  test("control over HTTP adds, lists and removes fault rules", async () => {
    const { status, body } = await control("POST", "faults", { effect: { status: 503 }, times: 1 });
    expect([status, body]).toEqual([
      200,
      { id: 1, name: "status 503", effect: { status: 503 }, times: 1, matched: 0, applied: 0 },
    ]);
    expect((await save(emulator, REQUIRED)).status).toBe(503);
    expect((await control("GET", "faults")).body).toMatchObject([{ id: 1, applied: 1 }]);
    expect((await control("DELETE", "faults/1")).status).toBe(204);
    expect((await control("DELETE", "faults/1")).status).toBe(404);
    await control("POST", "faults", { effect: { hang: true } });
    expect((await control("DELETE", "faults")).status).toBe(204);
    expect(emulator.faults.list()).toEqual([]);
  });

  test("control over HTTP creates, shows, changes and deletes endpoints without going through the client", async () => {
    const created = await control("POST", "endpoints", NAMED);
    const { id } = created.body;
    expect(created.body).toMatchObject({ ...NAMED, workersMax: 3, pods: [] });
    expect((await control("GET", "endpoints")).body).toEqual([created.body]);
    expect((await control("PATCH", `endpoints/${id}`, { workersMax: 9 })).body.workersMax).toBe(9);
    expect((await control("GET", `endpoints/${id}`)).body).toMatchObject({ id, workersMax: 9 });
    expect((await control("DELETE", `endpoints/${id}`)).status).toBe(204);
    for (const method of ["GET", "PATCH", "DELETE"]) {
      expect((await control(method, `endpoints/${id}`, method === "PATCH" ? {} : undefined)).status).toBe(404);
    }
    expect(emulator.journal.requests()).toEqual([]);
  });

  test("adds and removes pods", async () => {
    expect((await control("POST", "pods", { id: "pod-1", name: "trainer" })).body.name).toBe("trainer");
    expect((await getPod(emulator, "pod-1")).body.name).toBe("trainer");
    expect((await control("GET", "pods")).body).toMatchObject([{ id: "pod-1" }]);
    expect((await control("DELETE", "pods/pod-1")).status).toBe(204);
    expect((await getPod(emulator, "pod-1")).status).toBe(404);
  });

  test("control over HTTP seeds endpoints with chosen ids, pods and templates", async () => {
    const seed = { endpoints: [{ id: "mine", ...NAMED }, NAMED], pods: [{ id: "pod-1" }], templates: ["t"] };
    expect((await control("POST", "seed", seed)).status).toBe(204);
    expect(emulator.endpoints.list()).toMatchObject([{ id: "mine" }, NAMED]);
    expect(emulator.pods.get("pod-1")?.id).toBe("pod-1");
    expect((await save(emulator, REQUIRED)).body.errors[0].message).toContain("template");
    expect((await control("POST", "seed", seed)).body.error).toContain("mine");
  });

  test.each([
    ["templates", { name: "t", imageName: "app:1", env: [{ key: "A", value: "1" }] }, { imageName: "app:2" }],
    ["volumes", { name: "v", size: 20, dataCenterId: "EU-RO-1" }, { size: 30 }],
    ["registryAuths", { name: "r", username: "u", password: "canary" }, { name: "other" }],
  ] as const)("control over HTTP creates, lists, changes and deletes %s", async (kind, seed, change) => {
    const { body } = await control("POST", kind, seed);
    expect((await control("GET", kind)).body).toEqual([body]);
    expect(emulator[kind].list()).toEqual([body]);
    expect((await control("PATCH", `${kind}/${body.id}`, change)).body).toEqual({ ...body, ...change });
    expect((await control("GET", `${kind}/${body.id}`)).body).toMatchObject(change);
    expect(JSON.stringify((await control("GET", kind)).body)).not.toContain("canary");
    expect((await control("PATCH", `${kind}/${body.id}`, { color: "red" })).status).toBe(400);
    expect((await control("DELETE", `${kind}/${body.id}`)).status).toBe(204);
    expect((await control("GET", `${kind}/${body.id}`)).status).toBe(404);
    expect((await control("DELETE", `${kind}/${body.id}`)).status).toBe(404);
  });

  test("control over HTTP seeds templates, volumes and credentials before the endpoints that use them", async () => {
    const seed = {
      endpoints: [{ ...NAMED, templateId: "t", networkVolumeId: "v" }],
      templates: [{ id: "t", name: "app", imageName: "app:1", containerRegistryAuthId: "r" }, "named"],
      volumes: [{ id: "v", size: 20, dataCenterId: "EU-RO-1" }],
      registryAuths: [{ id: "r", name: "r", username: "u", password: "p" }],
    };
    expect((await control("POST", "seed", seed)).status).toBe(204);
    expect(emulator.templates.list()).toMatchObject([
      { id: "t", isServerless: true, containerDiskInGb: 20, env: [] },
      { id: "named", name: "named", imageName: "example/image:latest" },
    ]);
    const again = await control("POST", "seed", { templates: ["named", { name: "app", imageName: "i" }] });
    expect(again.body.error).toBe('The seed\'s template "app" cannot be created: Template name must be unique');
  });

  test.each([
    ["faults", { effect: { status: 1 } }, "status"],
    ["templates", { name: "x", imageName: "i", env: { A: 1 } }, "env"],
    ["volumes", { size: 1, dataCenterId: "EU-RO-1" }, "between 10 and 4096"],
    ["registryAuths", { name: "x" }, "password"],
    ["endpoints", { name: "x" }, "gpuIds"],
    ["endpoints", { ...NAMED, gpuIds: "NONE" }, "NONE"],
    ["endpoints", { ...NAMED, color: "red" }, "color"],
    ["pods", {}, "id"],
    ["seed", { endpoint: [] }, "endpoint"],
    ["seed", null, "The seed is not well formed"],
    ["clock/advance", { ms: 1 }, "manual"],
  ])("control over HTTP refuses malformed input: %s %j", async (path, body, named) => {
    const answer = await control("POST", path, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(named);
  });

  test("control over HTTP refuses unknown operations and names them, but can filter by operation names that a client made up", async () => {
    const unknown = 'There is no operation "saveEndpont". The operations are: ';
    const journal = await control("GET", "journal?operation=saveEndpont");
    expect([journal.status, journal.body.error]).toEqual([400, expect.stringContaining(unknown)]);
    expect(journal.body.error).toContain("saveEndpoint, deleteEndpoint");
    const rule = { match: { operation: "saveEndpont" }, effect: { status: 503 } };
    expect((await control("POST", "faults", rule)).body.error).toContain(unknown);
    expect(() => emulator.faults.add(rule)).toThrow(unknown);
    const elsewhere = { match: { interface: "rest", operation: "run" }, effect: { status: 503 } };
    expect((await control("POST", "faults", elsewhere)).body.error).toContain(
      '"run". The operations are: getPod, unknown.',
    );
    expect((await control("GET", "journal?operation=runsync")).body).toEqual([]);
    await graphql(emulator, "{ saveEndpont }");
    expect((await control("GET", "journal?operation=saveEndpont")).body).toMatchObject([{ status: 400 }]);
  });

  test("control over HTTP refuses unknown paths, web pages of other sites, and bodies that are not JSON", async () => {
    expect((await control("GET", "nope")).status).toBe(404);
    expect((await control("POST", "journal", {})).status).toBe(404);
    expect((await control("POST", "reset", undefined, { origin: "https://example.com" })).status).toBe(403);
    expect((await send(`${emulator.url}/_emulator/faults`, { method: "POST", body: "{" })).status).toBe(400);
  });

  test("control over HTTP refuses a body that is too large", async () => {
    expect((await control("POST", "seed", { templates: ["x".repeat(20_000_000)] })).status).toBe(413);
  });

  test("control over HTTP moves a manual clock", async () => {
    await emulator.stop();
    emulator = await startEmulator({ profile: "contract", clock: manualClock(0), drainMs: 5000 });
    const id = await createEndpoint(emulator, "workersMin: 1");
    await save(emulator, `id: "${id}", ${REQUIRED}, workersMin: 0, workersMax: 0`);
    expect((await control("GET", "clock")).body).toEqual({ now: 0, manual: true });
    expect((await control("POST", "clock/advance", { ms: 4999 })).body).toEqual({ now: 4999 });
    expect(emulator.endpoints.get(id)?.pods).toHaveLength(1);
    expect((await control("POST", "clock/advance", { ms: 1 })).body).toEqual({ now: 5000 });
    expect(emulator.endpoints.get(id)?.pods).toHaveLength(0);
    expect((await control("POST", "clock/run-until-idle")).body.now).toBeGreaterThanOrEqual(5000);
    expect((await control("POST", "clock/advance", { ms: 8.64e15 })).status).toBe(400);
  });

  test("control over HTTP shows the fidelity table", async () => {
    expect((await control("GET", "fidelity")).body["graphql.wrong-key"]).toMatchObject({ level: "documented" });
  });
});

describe("reset", () => {
  test("reset restores the initial state: the seed, no requests and no fault rules", async () => {
    await emulator.stop();
    const seed = { endpoints: [{ id: "mine", ...NAMED, workersMin: 1 }], pods: [{ id: "pod-1" }] };
    emulator = await startEmulator({ profile: "contract", seed, templates: ["t", "template-1"], randomSeed: 5 });
    const first = await createEndpoint(emulator);
    emulator.endpoints.change("mine", { workersMax: 9 });
    emulator.pods.remove("pod-1");
    emulator.faults.add({ effect: { hang: true }, match: { operation: "myself" } });
    emulator.reset();
    expect(emulator.endpoints.list()).toMatchObject([{ id: "mine", workersMax: 3, pods: [{}] }]);
    expect(emulator.pods.list()).toHaveLength(1);
    expect([emulator.faults.list(), emulator.journal.requests()]).toEqual([[], []]);
    expect((await save(emulator, 'name: "x", gpuIds: "ADA_24", templateId: "none"')).body.errors).toHaveLength(1);
    expect(await createEndpoint(emulator)).toBe(first);
  });

  test("reset responds to waiting requests", async () => {
    const clock = manualClock();
    await emulator.stop();
    emulator = await startEmulator({ profile: "contract", clock });
    const id = await createEndpoint(emulator);
    const waiting = send(`${emulator.url}/v2/${id}/runsync`, {
      method: "POST",
      headers: { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" },
      body: '{"input":{"n":1}}',
    });
    while (emulator.journal.requests({ operation: "runsync" }).length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect((await control("POST", "reset")).status).toBe(204);
    expect((await waiting).status).toBe(404);
  });
});
