import { parseAllow } from "../../../cli/check/allow";
import { type EmulatorOptions, startEmulator } from "../../../emulator";
import { previewOf, reviewed, step, UNKNOWN } from "./previews";

const BIG = { gpuIds: "AMPERE_80", templateId: "t" };

/** Starts a service with the endpoint `big`: 20 workers with 4 GPUs each. */
const start = (options: EmulatorOptions = {}) => {
  const big = { ...BIG, id: "big", name: "bigone", workersMin: 2, workersMax: 20, gpuCount: 4 };
  const cpus = { gpuIds: "", instanceIds: ["cpu3g-4-16"], templateId: "t", id: "cpus", name: "cpus", workersMax: 5 };
  const old = { ...BIG, id: "e", name: "old", workersMax: 0 };
  return startEmulator({ profile: "observed", seed: { endpoints: [big, cpus, old] }, workerQuota: 40, ...options });
};

type Options = Parameters<typeof step>[2];

/** Each way to take `big` over, with a step that names its record. */
const WAYS: [string, string, Options][] = [
  ["an adoption", "create", { inputs: { ...BIG, adoptId: "big" } }],
  ["a replacement that adopts", "replace", { old: { ...BIG, id: "e" }, inputs: { ...BIG, adoptId: "big" } }],
  ["an import", "import", { inputs: { ...BIG, name: "bigone" }, form: "plugin", importID: "big" }],
  ["an import without its id", "import", { inputs: { ...BIG, name: "bigone" }, form: "plugin" }],
];

describe.each(WAYS)("%s", (_, op, options) => {
  test("the taken-over endpoint costs as much as the settings of the existing record, and counts toward caps", async () => {
    await using emulator = await start();
    const preview = previewOf([step(op, "x", options)]);
    const { code, stdout } = await reviewed(preview, {
      emulator,
      maxPerHour: 50,
      maxAtRest: 5,
      allow: parseAllow("replace"),
    });
    expect(code).toBe(3);
    // 4 GPUs × 2.74 = 10.96 a worker: 20 workers, and 2 at rest.
    expect(stdout).toContain("LIMIT  the program's maximum cost is $219.20 an hour, above --max-per-hour $50.00");
    expect(stdout).toContain("LIMIT  the program's minimum cost is $21.92 an hour, above --max-at-rest $5.00");
  });

  test("the taken-over endpoint costs as much as the program's settings for every field that the program sets", async () => {
    await using emulator = await start();
    const inputs = { ...options.inputs, workersMax: 3, workersMin: 0, gpuCount: 1 };
    const { stdout } = await reviewed(previewOf([step(op, "x", { ...options, inputs })]), { emulator, json: true });
    expect(JSON.parse(stdout).cost.after).toEqual({ fullScale: 8.22, atRest: 0, unknown: [] });
  });

  test("the taken-over endpoint adds no workers to the account's total", async () => {
    await using emulator = await start({ workerQuota: 25 });
    const preview = previewOf([step(op, "x", options)]);
    const { code, stdout } = await reviewed(preview, { emulator, allow: parseAllow("replace") });
    expect({ code, found: stdout.match(/quota of/) }).toEqual({ code: 0, found: null });
  });
});

test.each<[string, string, Options, string]>([
  [
    "an id that the account lacks",
    "create",
    { inputs: { ...BIG, adoptId: "gone" } },
    "the account has no endpoint gone",
  ],
  ["an id that is not known", "create", { inputs: { ...BIG, adoptId: UNKNOWN } }, "its id is not known before up"],
  ["a name that is not known", "import", { inputs: BIG, form: "plugin" }, "its id is not known before up"],
  [
    "a name that no endpoint has",
    "import",
    { inputs: { ...BIG, name: "x" }, form: "plugin" },
    "the account has no endpoint with the name x",
  ],
  [
    "an explicit provider",
    "create",
    { inputs: { ...BIG, adoptId: "big" }, provider: "staging" },
    "its provider uses another account",
  ],
])("the report does not guess the cost of an adopted endpoint if it is identified by %s", async (_, op, options, why) => {
  await using emulator = await start({ workerQuota: 25 });
  const { code, stdout } = await reviewed(previewOf([step(op, "x", options)]), { emulator, maxPerHour: 1000 });
  expect(code).toBe(3);
  expect(stdout).toContain(`NOT LOOKED UP  the endpoint that x takes over: ${why}`);
  expect(stdout).toContain("LIMIT  --max-per-hour cannot be checked, because the cost of x is not known");
  expect(stdout).not.toMatch(/IMPOSSIBLE|UNLIKELY/);
});

describe("a record that moves to another resource", () => {
  const old = { ...BIG, id: "big", workersMin: 2, workersMax: 20, gpuCount: 4 };
  const move = (inputs: object, more: Options = {}) => [
    step("create", "new", { inputs: { ...BIG, adoptId: "big", ...inputs } }),
    step("delete", "old", { old, ...more }),
  ];

  test.each<[string, Options]>([
    ["is deleted", {}],
    ["is retained", { retainOnDelete: true }],
  ])("a record that moves to another resource counts once if its previous resource %s", async (_, more) => {
    await using emulator = await start({ workerQuota: 30 });
    const moved = await reviewed(previewOf(move({ workersMax: 21 }, more)), { emulator, json: true });
    const { impossible, unlikely, cost } = JSON.parse(moved.stdout);
    expect({ impossible, unlikely }).toEqual({ impossible: [], unlikely: [] });
    expect(cost.after.fullScale).toBe(230.16);
    const raised = await reviewed(previewOf(move({ workersMax: 26 }, more)), { emulator });
    expect(raised.stdout).toContain("would be 31, above its quota of 30: 26 by this program, 5 by");
  });

  const volume = { name: "models", size: 20, dataCenterId: "EU-RO-1" };
  const kind = "NetworkVolume";
  const gone = step("delete", "gone", { kind, old: { ...volume, id: "v1" } });

  test.each<[string, object[], number]>([
    ["another resource adopts", [gone, step("create", "new", { kind, inputs: { ...volume, adoptId: "v1" } })], 0],
    ["another resource imports", [gone, step("import", "new", { kind, inputs: volume, importID: "v1" })], 0],
    ["another resource has", [gone, step("same", "new", { kind, old: { ...volume, id: "v1" }, inputs: volume })], 0],
    [
      "its own replacement adopts",
      [step("replace", "v", { kind, old: { ...volume, id: "v1" }, inputs: { ...volume, adoptId: "v1" } })],
      0,
    ],
    ["nothing adopts", [gone, step("create", "new", { kind, inputs: { ...volume, adoptId: "v2" } })], 1],
    [
      "an earlier replacement left",
      [
        step("same", "v", { kind, old: { ...volume, id: "v2" }, inputs: volume }),
        step("delete-replaced", "v", { kind, old: { ...volume, id: "v1" } }),
      ],
      1,
    ],
  ])("a record that moves to another resource is reported with its data if the change deletes it: a volume that %s", async (_, steps, count) => {
    const { stdout } = await reviewed(previewOf(steps), {});
    expect(stdout.match(/DATA LOSS .*v1/g) ?? []).toHaveLength(count);
    expect(stdout).not.toContain("DATA LOSS  v: the change deletes the network volume v2");
  });
});

test("the cost of an adoption is unknown without a key", async () => {
  const preview = previewOf([step("create", "x", { inputs: { ...BIG, adoptId: "big" } })]);
  const { code, stdout } = await reviewed(preview, { maxPerHour: 1000 });
  expect(code).toBe(3);
  expect(stdout).toContain("the endpoint that x takes over: the endpoints of the account are not known");
});

test("an adopted CPU endpoint is shown with its own price", async () => {
  await using emulator = await start();
  const inputs = { instanceIds: "cpu3g-4-16", templateId: "t", adoptId: "cpus" };
  const { stdout } = await reviewed(previewOf([step("create", "x", { inputs })]), { emulator, json: true });
  expect(JSON.parse(stdout).cost.after.fullScale).toBe(0.8);
});
