import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseAllow } from "../../../cli/check/allow";
import { type Emulator, type EmulatorOptions, type FaultRule, startEmulator } from "../../../emulator";
import { FORMS, type Form, previewOf, reviewed, step, UNKNOWN, urnOf } from "./previews";

const start = (options: EmulatorOptions = {}) =>
  startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 0, ...options });

const ONE = { gpuIds: "ADA_24", templateId: "t", workersMax: 2 };

/** Returns what the review of one new endpoint finds, as JSON. */
async function findings(emulator: Emulator, inputs: object, form: Form = "dynamic", more: object[] = []) {
  const preview = previewOf([...more, step("create", "one", { inputs: { ...ONE, ...inputs }, form })]);
  const { code, stdout } = await reviewed(preview, { emulator, json: true });
  const { impossible, unlikely, data, notLookedUp, cost } = JSON.parse(stdout);
  return { code, impossible, unlikely, data, notLookedUp, cost };
}

const absent = (match: FaultRule["match"]): FaultRule => ({ match, effect: { stock: "Absent" } });

describe.each(Object.keys(FORMS) as Form[])("a change of the %s form", (form) => {
  test.each<[string, object, string, FaultRule[]]>([
    [
      "exclusions that leave no type",
      { gpuIds: "ADA_24,-NVIDIA GeForce RTX 4090" },
      "gpuIds excludes every GPU type of ADA_24: NVIDIA GeForce RTX 4090",
      [],
    ],
    [
      "a pool that no allowed data center has",
      { locations: "EU-RO-1,EU-CZ-1" },
      "with a GPU of ADA_24. GPUs of ADA_24 are in AP-JP-1",
      ["EU-RO-1", "EU-CZ-1"].map((dataCenterId) => absent({ pool: "ADA_24", dataCenterId })),
    ],
    ["a CUDA rule that no host offers", { minCudaVersion: "13.0" }, "no host offers minCudaVersion 13.0", []],
    [
      "a set of CUDA versions without a host",
      { allowedCudaVersions: "13.0,13.1" },
      "allowedCudaVersions 13.0,13.1",
      [],
    ],
    [
      "a volume whose data center has no such GPU",
      { networkVolumeId: "vol" },
      "no data center of its network volumes (EU-RO-1) has a GPU of ADA_24",
      [absent({ pool: "ADA_24", dataCenterId: "EU-RO-1" })],
    ],
  ])("a change reports %s as impossible", async (_, inputs, message, faults) => {
    await using emulator = await start({
      seed: { volumes: [{ id: "vol", name: "v", size: 10, dataCenterId: "EU-RO-1" }] },
    });
    for (const fault of faults) emulator.faults.add(fault);
    const { code, impossible, unlikely } = await findings(emulator, inputs, form);
    expect({ code, unlikely }).toEqual({ code: 4, unlikely: [] });
    expect(impossible).toEqual([
      { kind: expect.any(String), resource: "one", message: expect.stringContaining(message) },
    ]);
  });

  test("a change reports a new volume as impossible in a data center without volumes, and also an endpoint that depends on it", async () => {
    await using emulator = await start({ volumeDataCenters: ["EU-RO-1"] });
    emulator.faults.add(absent({ pool: "ADA_24", dataCenterId: "US-KS-2" }));
    const kind = "NetworkVolume";
    const volume = step("create", "models", { kind, inputs: { name: "m", size: 20, dataCenterId: "US-KS-2" }, form });
    const endpoint = step("create", "one", {
      inputs: { ...ONE, networkVolumeId: UNKNOWN },
      form,
      dependencies: { networkVolumeId: [urnOf("models", kind, form)] },
    });
    const { code, stdout } = await reviewed(previewOf([volume, endpoint]), { emulator });
    expect(code).toBe(4);
    expect(stdout).toContain(
      "IMPOSSIBLE  models: the data center US-KS-2 has no network volumes. Data centers with network volumes: EU-RO-1",
    );
    expect(stdout).toContain("IMPOSSIBLE  one: no data center of its network volumes (US-KS-2) has a GPU of ADA_24");
  });

  test("a change names each volume that the change deletes or replaces, but not volumes that the service keeps", async () => {
    await using emulator = await start();
    const old = { id: "v1", name: "models", size: 20, dataCenterId: "EU-RO-1" };
    const volume = { kind: "NetworkVolume", form } as const;
    const steps = [
      step("delete", "gone", { ...volume, old }),
      step("replace", "moved", { ...volume, old: { ...old, id: "v2" }, inputs: { ...old, dataCenterId: "EU-CZ-1" } }),
      step("delete", "kept", { ...volume, old: { ...old, id: "v3" }, retainOnDelete: true }),
    ];
    const { code, stdout } = await reviewed(previewOf(steps), { emulator });
    expect(code).toBe(4);
    expect(stdout).toContain(
      "DATA LOSS  gone: the change deletes the network volume v1 (models, 20 GB in EU-RO-1), and all data",
    );
    expect(stdout).toContain("DATA LOSS  moved: the change replaces the network volume v2");
    expect(stdout.match(/DATA LOSS/g)).toHaveLength(2);
  });
});

describe("stock", () => {
  test("stock is reported as unlikely where it is low, with better alternatives, and fails only with --strict", async () => {
    await using emulator = await start();
    emulator.faults.add({ match: { pool: "ADA_24", dataCenterId: "EU-RO-1" }, effect: { stock: "Low" } });
    emulator.faults.add({ match: { pool: "AMPERE_24" }, effect: { soldOut: true } });
    const preview = previewOf([step("create", "one", { inputs: { ...ONE, locations: "EU-RO-1" } })]);
    const { code, stdout } = await reviewed(preview, { emulator });
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /UNLIKELY {2}one: the stock of ADA_24 in EU-RO-1 is Low \(REST v2, read at \S+; an estimate, no reservation\)\. Better there: AMPERE_48 \(High, \$1\.22\/h\), ADA_32_PRO/,
    );
    expect((await reviewed(preview, { emulator, strict: true })).code).toBe(4);
    expect(await findings(emulator, { locations: "EU-CZ-1" })).toMatchObject({ unlikely: [], impossible: [] });
    expect((await findings(emulator, { gpuIds: "AMPERE_24" })).unlikely).toMatchObject([
      { kind: "stock", message: expect.stringContaining("AMPERE_24 is None") },
    ]);
  });

  test("stock is not checked for an endpoint that does not change or that has no workers", async () => {
    await using emulator = await start();
    emulator.faults.add({ effect: { soldOut: true } });
    const old = { ...ONE, id: "e", gpuIds: "ADA_42" };
    const steps = [
      step("same", "old", { old, inputs: ONE }),
      step("create", "off", { inputs: { ...ONE, workersMax: 0 } }),
    ];
    const { code, stdout } = await reviewed(previewOf(steps), { emulator });
    expect({ code, findings: stdout.match(/IMPOSSIBLE|UNLIKELY/) }).toEqual({ code: 0, findings: null });
  });
});

/** Excludes every GPU type of its pool. */
const NO_GPU = "ADA_24,-NVIDIA GeForce RTX 4090";

describe("an endpoint that exists", () => {
  const OLD = { ...ONE, id: "e", gpuIds: NO_GPU, minCudaVersion: "13.9", workersMin: 0 };

  test.each<[string, object, object, string[]]>([
    ["another setting changes", OLD, { idleTimeout: 11 }, []],
    ["fewer workers", OLD, { workersMax: 1 }, []],
    ["more workers of a pool that is gone", OLD, { workersMax: 3 }, []],
    ["another order of its pools", { ...OLD, gpuIds: "AMPERE_24,ADA_24" }, { gpuIds: "ADA_24,AMPERE_24" }, []],
    [
      "exclusions that leave no type",
      { ...OLD, gpuIds: "ADA_24", minCudaVersion: "" },
      { gpuIds: NO_GPU },
      ["exclusions"],
    ],
    ["a place, with a rule that no host offers", { ...OLD, gpuIds: "ADA_24" }, { locations: "EU-RO-1" }, []],
    ["its first workers", { ...OLD, workersMax: 0 }, { workersMax: 1 }, ["exclusions"]],
  ])("an endpoint that exists is reported as impossible only if the change causes it: %s", async (_, old, inputs, kinds) => {
    await using emulator = await start();
    const { id: _id, ...before } = old as typeof OLD;
    const update = step("update", "one", { old: { id: "e", ...before }, inputs: { ...before, ...inputs } });
    const { code, stdout } = await reviewed(previewOf([update]), { emulator, json: true });
    expect(JSON.parse(stdout).impossible.map(({ kind }: { kind: string }) => kind)).toEqual(kinds);
    expect(code).toBe(kinds.length > 0 ? 4 : 0);
  });

  test("an endpoint that exists is reported for low stock if the change requests other GPUs or more workers", async () => {
    await using emulator = await start();
    emulator.faults.add({ effect: { soldOut: true } });
    const old = { ...ONE, id: "e", workersMin: 0 };
    const { id: _, ...before } = old;
    const unlikely = async (inputs: object) => {
      const update = step("update", "one", { old, inputs: { ...before, ...inputs } });
      const { stdout } = await reviewed(previewOf([update]), { emulator, json: true });
      return JSON.parse(stdout).unlikely.length;
    };
    expect(await unlikely({ idleTimeout: 3, workersMax: 1 })).toBe(0);
    expect(await unlikely({ workersMax: 3 })).toBe(1);
    expect(await unlikely({ gpuIds: "AMPERE_24" })).toBe(1);
  });
});

describe("the account", () => {
  /**
   * An account with `one` and `two` of the program, and another endpoint, with 4, 1 and 3 workers
   * at most.
   */
  const withThree = (workerQuota: number) => {
    const seed = (id: string, workersMax: number) => ({ id, name: id, gpuIds: "ADA_24", templateId: "t", workersMax });
    return start({ workerQuota, seed: { endpoints: [seed("one", 4), seed("two", 1), seed("other", 3)] } });
  };
  const change = (name: string, from: number, to: number) =>
    step("update", name, { old: { ...ONE, id: name, workersMax: from }, inputs: { ...ONE, workersMax: to } });

  test("a workersMax total above the quota is impossible, and the report shows this program's share", async () => {
    await using emulator = await withThree(10);
    const { code, stdout } = await reviewed(previewOf([change("one", 4, 8), change("two", 1, 1)]), { emulator });
    expect(code).toBe(4);
    expect(stdout).toContain(
      "IMPOSSIBLE  the account's workersMax would be 12, above its quota of 10: 9 by this program, 3 by the account's other " +
        "endpoints. The service rejects the change",
    );
  });

  test("lowering one endpoint while raising another fits once both are done, but may exceed the quota in between", async () => {
    await using emulator = await withThree(10);
    const steps = [change("one", 4, 1), change("two", 1, 4)];
    const { code, stdout } = await reviewed(previewOf(steps), { emulator });
    expect(code).toBe(0);
    expect(stdout).toContain(
      "UNLIKELY  the account's workersMax is 8 after the change, within its quota of 10 (5 by this program, 3 by the account's " +
        "other endpoints), but can reach 11 on the way",
    );
    await using larger = await withThree(11);
    expect((await reviewed(previewOf(steps), { emulator: larger })).stdout).not.toContain("UNLIKELY");
  });

  test("a change that only lowers or deletes is accepted above the quota, and so is an adoption that changes nothing", async () => {
    await using emulator = await withThree(8);
    emulator.setWorkerQuota(5);
    const gone = step("delete", "two", { old: { ...ONE, id: "two", workersMax: 1 } });
    const adopted = step("create", "other", { inputs: { gpuIds: "ADA_24", templateId: "t", adoptId: "other" } });
    const preview = previewOf([change("one", 4, 3), gone, adopted]);
    const { code, stdout } = await reviewed(preview, { emulator, allow: parseAllow("delete") });
    expect({ code, found: stdout.match(/IMPOSSIBLE|on the way/) }).toEqual({ code: 0, found: null });
  });

  test("a maximum cost above the spend limit is reported as unlikely", async () => {
    await using emulator = await start({ spendLimit: 2 });
    expect((await findings(emulator, {})).unlikely).toEqual([
      {
        kind: "spend-limit",
        message:
          "the program's maximum cost is $2.24 an hour, above the account's spend limit of $2.00: workers above it do not " +
          "start, and jobs wait without an error. The account's other endpoints are not included. The account spends $0.00 an hour now.",
      },
    ]);
  });

  test("an endpoint with an explicit provider does not count toward the environment's account, and the report says so", async () => {
    await using emulator = await start({ workerQuota: 1 });
    const steps = [step("create", "one", { inputs: ONE, provider: "staging" })];
    const { code, stdout } = await reviewed(previewOf(steps), { emulator });
    expect(code).toBe(0);
    expect(stdout).toContain("NOT LOOKED UP  quota and spend limit for one: their provider uses another account");
  });
});

test("a change that cannot be checked against the catalog is reported, and nothing is guessed", async () => {
  await using emulator = await start();
  const { impossible, notLookedUp, cost } = await findings(emulator, { gpuIds: UNKNOWN, workersMax: "[secret]" });
  expect(impossible).toEqual([]);
  expect(notLookedUp).toContainEqual({ what: "GPUs of one", why: "gpuIds not known before up" });
  expect(cost.after.unknown).toEqual(["one"]);
});

test("the review of a hundred endpoints takes four requests", async () => {
  await using emulator = await start({ workerQuota: 200 });
  const steps = Array.from({ length: 100 }, (_, at) => step("create", `e${at}`, { inputs: ONE }));
  const { code } = await reviewed(previewOf(steps), { emulator });
  expect(code).toBe(0);
  expect(emulator.journal.operations().sort()).toEqual([
    "getAccountLimits",
    "listDataCenters",
    "listEndpoints",
    "listGpus",
  ]);
});

/** The rows of a table, without its spaces. */
const table = (stdout: string) =>
  stdout
    .split("\n")
    .filter((line) => /\$/.test(line) && !/ from | NOT |LIMIT/.test(line))
    .map((line) => line.trim().split(/ {2,}/));

describe("cost", () => {
  test("the totals before and after a change are correct for one GPU, two GPUs, CPUs and several pools", async () => {
    await using emulator = await start();
    const old = { ...ONE, id: "e", workersMin: 1, workersMax: 2 };
    const { stdout, code } = await reviewed(
      previewOf([
        // 2 × 1.12 = 2.24 and 1 × 1.12 before; 3 × 1.12 = 3.36 after.
        step("update", "one", { old, inputs: { ...ONE, workersMin: 1, workersMax: 3 } }),
        // 4 × 2 × 2.74 = 21.92; the dearer pool of the two counts.
        step("create", "two", {
          inputs: { gpuIds: "AMPERE_24,AMPERE_80", gpuCount: 2, templateId: "t", workersMax: 4 },
        }),
        // 5 × 4 vCPUs × 0.04 = 0.80; 2 × 0.16 = 0.32.
        step("create", "cpus", {
          inputs: { instanceIds: "cpu3g-4-16", templateId: "t", workersMin: 2, workersMax: 5 },
        }),
        // 3 × 0.58 = 1.74, which goes.
        step("delete", "gone", { old: { ...ONE, id: "g", gpuIds: "AMPERE_16", workersMax: 3 } }),
        // 1 × 0.58, which stays at the service.
        step("delete", "left", {
          old: { ...ONE, id: "l", gpuIds: "AMPERE_16", workersMax: 1 },
          retainOnDelete: true,
        }),
      ]),
      { emulator },
    );
    expect(code).toBe(4);
    expect(table(stdout)).toEqual([
      ["one", "workersMax 2 → 3", "$2.24 → $3.36", "$1.12", "$1.12 (ADA_24)"],
      ["two", "created", "- → $21.92", "- → $0.00", "$5.48 (AMPERE_80, 2 GPUs)"],
      ["cpus", "created", "- → $0.80", "- → $0.32", "$0.16 (cpu3g-4-16)"],
      ["gone", "deleted", "$1.74 → -", "$0.00 → -", "$0.58 (AMPERE_16)"],
      ["left", "released", "$0.58", "$0.00", "$0.58 (AMPERE_16)"],
      ["in all", "$4.56 → $26.66", "$1.12 → $1.44"],
    ]);
    expect(stdout).toMatch(/ADA_24: \$1\.12 an hour, from the service's catalog \(REST v2\), read at 20\d\d-/);
  });

  test("an endpoint left over from an earlier replacement is billed until its deletion, and is not reported as a replacement", async () => {
    await using emulator = await start();
    const steps = [
      step("same", "one", { old: { ...ONE, id: "new" }, inputs: ONE }),
      step("delete-replaced", "one", { old: { ...ONE, id: "old", workersMax: 3 } }),
    ];
    const { stdout } = await reviewed(previewOf(steps), { emulator });
    expect(stdout).toContain("Endpoints and network volumes: 1 unchanged");
    // 2 and 3 workers before, 2 after.
    expect(table(stdout).at(-1)?.slice(0, 2)).toEqual(["in all", "$5.60 → $2.24"]);
  });

  test("without a catalog, prices come from the public table with its date, and default settings are included", async () => {
    const old = { id: "e", gpuIds: "AMPERE_48", templateId: "t", workersMin: 0, workersMax: 3 };
    const { stdout } = await reviewed(
      previewOf([
        // The default of workersMax is 3: 3 × 0.00034 × 3600 = 3.672.
        step("create", "one", { inputs: { gpuIds: "AMPERE_48", templateId: "t" } }),
        // It keeps workersMax 3: 3 × 1.224; at rest 1.224.
        step("update", "two", { old, inputs: { gpuIds: "AMPERE_48", templateId: "t", workersMin: 1 } }),
        // A replacement starts from the defaults.
        step("replace", "three", { old: { ...old, workersMax: 9 }, inputs: { gpuIds: "AMPERE_48", templateId: "t" } }),
      ]),
      {},
    );
    expect(table(stdout).map((row) => row.slice(0, 4))).toEqual([
      ["one", "created", "- → $3.67", "- → $0.00"],
      ["two", "workersMin 0 → 1", "$3.67", "$0.00 → $1.22"],
      ["three", "replaced", "$11.02 → $3.67", "$0.00"],
      ["in all", "$14.69 → $11.02", "$0.00 → $1.22"],
    ]);
    expect(stdout).toContain("AMPERE_48: $1.22 an hour, from the public price table of 2026-06-08");
    expect(stdout).toContain("NOT LOOKED UP  everything at the service: no service is set");
  });

  test("a price file replaces all other prices, and the cost includes unchanged endpoints", async () => {
    await using emulator = await start();
    const file = path.join(mkdtempSync(path.join(tmpdir(), "prices-")), "prices.json");
    writeFileSync(file, JSON.stringify({ date: "2026-11-01", perSecond: { ADA_24: 0.001, "cpu3g-4-16": 0.0001 } }));
    const old = { ...ONE, id: "e", workersMin: 1, workersMax: 2 };
    const steps = [
      // 2 × 3.60 = 7.20.
      step("same", "one", { old, inputs: ONE }),
      // 10 × 0.36 = 3.60.
      step("create", "two", { inputs: { instanceIds: "cpu3g-4-16", templateId: "t", workersMax: 10 } }),
    ];
    const { stdout } = await reviewed(previewOf(steps), { emulator, prices: file });
    expect(table(stdout).at(-1)).toEqual(["in all", "$7.20 → $10.80", "$3.60"]);
    expect(stdout).toContain(`ADA_24: $3.60 an hour, from ${file} of 2026-11-01`);
  });

  test("a cap that is exceeded or cannot be checked causes exit code 3", async () => {
    await using emulator = await start();
    const steps = [step("create", "one", { inputs: { ...ONE, workersMin: 1 } })];
    const capped = (preview: string, caps: object) => reviewed(preview, { emulator, ...caps });
    expect((await capped(previewOf(steps), { maxPerHour: 2.24, maxAtRest: 1.12 })).code).toBe(0);
    const over = await capped(previewOf(steps), { maxPerHour: 2, maxAtRest: 1 });
    expect(over.code).toBe(3);
    expect(over.stdout).toContain("LIMIT  the program's maximum cost is $2.24 an hour, above --max-per-hour $2.00");
    expect(over.stdout).toContain("LIMIT  the program's minimum cost is $1.12 an hour, above --max-at-rest $1.00");
    const unpriced = previewOf([step("create", "one", { inputs: { ...ONE, gpuIds: "NEW_POOL" } })]);
    expect((await capped(unpriced, { maxPerHour: 100 })).stdout).toContain(
      "LIMIT  --max-per-hour cannot be checked, because the cost of one is not known",
    );
    const hidden = await capped(previewOf(steps, 3), { maxPerHour: 100 });
    expect(hidden).toMatchObject({ code: 3, stdout: expect.stringContaining("leaves out 3 unchanged resources") });
    expect((await capped(previewOf(steps, 3), {})).code).toBe(0);
  });
});

describe("a catalog that", () => {
  const preview = previewOf([
    step("create", "one", { inputs: { ...ONE, locations: "EU-RO-1", minCudaVersion: "99.0" } }),
  ]);

  test.each<[string, FaultRule["effect"], string]>([
    ["does not answer", { hang: true }, "no complete response within 5 s"],
    ["answers with a web page", { html: true }, "502"],
    ["answers with half of its JSON", { truncated: true }, "REST v2: the catalog of GPU types"],
    ["is empty", { status: 200, body: { gpus: [], dataCenters: [], gpuTypes: [], data: { gpuTypes: [] } } }, "gpus"],
    ["has other fields", { status: 200, body: { gpus: [{ name: 1 }], dataCenters: "none", data: {} } }, "gpus.0.id"],
    ["refuses the key", { status: 403 }, "permission"],
    ["has too many requests", { status: 429 }, "429"],
  ])("%s proves nothing, and the report says so", async (_, effect, why) => {
    await using emulator = await start({ workerQuota: 1 });
    for (const operation of ["listGpus", "listDataCenters", "gpuTypes", "dataCenters", "serverlessGpuPools"])
      emulator.faults.add({ match: { operation }, effect });
    const { code, stdout } = await reviewed(preview, { emulator, json: true });
    const { impossible, notLookedUp, cost } = JSON.parse(stdout);
    // The quota still is.
    expect(code).toBe(4);
    expect(impossible).toMatchObject([{ kind: "quota" }]);
    expect(notLookedUp.map(({ what }: { what: string }) => what)).toEqual(
      expect.arrayContaining(["GPU types, stock and pools", "data centers"]),
    );
    expect(JSON.stringify(notLookedUp)).toContain(why);
    expect(cost.after.fullScale).toBe(2.232);
  });

  test("a catalog that arrives late is still used", async () => {
    await using emulator = await start();
    emulator.faults.add({ effect: { latencyMs: 2000 } });
    expect(await findings(emulator, { gpuIds: NO_GPU })).toMatchObject({
      code: 4,
      impossible: [{ kind: "exclusions" }],
    });
  });

  test("a catalog that is available only over GraphQL is requested over GraphQL", async () => {
    await using emulator = await start();
    emulator.faults.add({ match: { interface: "v2" }, effect: { status: 404 } });
    const { code, stdout } = await reviewed(preview, { emulator });
    expect(code).toBe(4);
    expect(stdout).toContain("no host offers minCudaVersion 99.0");
    expect(stdout).toContain("from the public price table of 2026-06-08");
  });

  test("a catalog that needs a key is not requested without one, and the report says so", async () => {
    await using emulator = await start({ volumeDataCenters: ["EU-RO-1"] });
    const { SERVERLESS_GPU_API_KEY: _, ...env } = emulator.env;
    const volume = step("create", "v", {
      kind: "NetworkVolume",
      inputs: { name: "v", size: 10, dataCenterId: "US-KS-2" },
    });
    const { code, stdout } = await reviewed(previewOf([volume, step("create", "one", { inputs: ONE })]), { env });
    expect(code).toBe(4);
    expect(stdout).toContain("IMPOSSIBLE  v: the data center US-KS-2 has no network volumes");
    expect(stdout).toContain("NOT LOOKED UP  GPU types, stock and pools: there is no API key");
    expect(stdout).toContain("NOT LOOKED UP  worker quota and spend limit: there is no API key");
    expect(emulator.journal.operations()).toEqual(["dataCenters"]);
    expect(JSON.stringify(emulator.journal.requests())).not.toContain("api_key");
  });
});

describe("the input", () => {
  test.each([
    ["not JSON", "the preview is not JSON: make it with pulumi preview --json --show-sames"],
    ["[]", "the JSON is not a preview"],
    ['{"steps":[],"diagnostics":[{"severity":"error","message":"boom"}]}', "the preview failed, so it does not show"],
  ])("%s is refused", async (text, message) => {
    await expect(reviewed(text, {})).rejects.toThrow(message);
  });

  test("a change without endpoints and volumes sends no requests, and the report says so in each format", async () => {
    await using emulator = await start();
    expect((await reviewed(previewOf([]), { emulator })).stdout).toBe(
      "OK: nothing was found\n\nEndpoints and network volumes: none\n",
    );
    expect((await reviewed(previewOf([]), { emulator, markdown: true })).stdout).toContain("volumes: none");
    expect(emulator.journal.operations()).toEqual([]);
  });
});

test("Markdown contains a table and lists, and shows names literally", async () => {
  await using emulator = await start();
  const steps = [step("create", "a|b<i>*", { inputs: { ...ONE, gpuIds: NO_GPU } })];
  const { stdout, code } = await reviewed(previewOf(steps), { emulator, markdown: true, maxPerHour: 1 });
  expect(code).toBe(4);
  expect(stdout).toContain("#### DANGER: 1 danger and 1 exceeded limit");
  expect(stdout).toContain("- impossible: a\\|b&lt;i&gt;\\*: gpuIds excludes every GPU type of ADA\\_24");
  expect(stdout).toContain("**Exceeded limits**");
  expect(stdout).toMatch(/\| a\\\|b&lt;i&gt;\\\* \| created \| - → \$2\.23 \| - → \$0\.00 \|/);
});
