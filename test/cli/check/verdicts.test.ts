import { execFileSync } from "node:child_process";
import { parseAllow } from "../../../cli/check/allow";
import { type EmulatorOptions, startEmulator } from "../../../emulator";
import { FORMS, type Form, previewOf, reviewed, step, UNKNOWN, urnOf } from "./previews";

// The verdict from a preview alone, without a key: what must stop a merge, and what must not.

const ONE = { name: "llama", gpuIds: "ADA_24", templateId: "t", workersMin: 0, workersMax: 3, idleTimeout: 5 };
const OLD = { ...ONE, id: "e1" };
const VOLUME = { name: "models", size: 20, dataCenterId: "EU-RO-1" };

type Make = (form: Form) => readonly object[];
const volume = (op: string, form: Form, options: object) =>
  step(op, "models", { kind: "NetworkVolume", form, ...options });
const update =
  (inputs: object, old: object = {}, more: object = {}): Make =>
  (form) => [step("update", "llama", { old: { ...OLD, ...old }, inputs: { ...ONE, ...inputs }, form, ...more })];
const remove = (name: string, form: Form, more: object = {}) => step("delete", name, { old: OLD, form, ...more });
const add = (name: string, form: Form, inputs: object = {}) =>
  step("create", name, { inputs: { ...ONE, ...inputs }, form });
const template = (op: string, name: string, form: Form, values: object) => {
  const both = step(op, name, { form, ...values }) as object;
  return JSON.parse(JSON.stringify(both).replaceAll("ServerlessEndpoint", "ServerlessTemplate"));
};
const IMAGE = { imageName: "me/llama:1", containerDiskInGb: 20 };

const REGRESSIONS: Readonly<Record<string, readonly [make: Make, found: string]>> = {
  "workersMax 3 → 0": [update({ workersMax: 0 }), "zero"],
  "workersMax 3 → 0, as text": [update({ workersMax: "0" }, { workersMax: "3" }), "zero"],
  "both worker counts to 0": [update({ workersMin: 0, workersMax: 0 }, { workersMin: 1 }), "zero"],
  "workersMax 0 together with a new image": [update({ workersMax: 0, templateId: "t2" }), "zero"],
  "workersMax ? → 0": [update({ workersMax: 0 }, { workersMax: "[secret]" }), "zero"],
  "an endpoint removed": [(form) => [remove("llama", form)], "deleted"],
  "one of two endpoints removed": [
    (form) => [remove("llama", form), step("same", "other", { old: { ...OLD, id: "e2" }, inputs: ONE, form })],
    "deleted",
  ],
  "an endpoint removed while another one is created": [
    (form) => [
      remove("llama", form),
      add("bert", form, { gpuIds: "AMPERE_80", templateId: "b", workersMax: 9, idleTimeout: 60, workersMin: 2 }),
    ],
    "deleted",
  ],
  "all endpoints removed": [
    (form) => [remove("llama", form), step("delete", "other", { old: { ...OLD, id: "e2" }, form })],
    "deleted",
  ],
  "an endpoint renamed without an alias": [(form) => [remove("llama", form), add("llama2", form)], "renamed"],
  "an endpoint renamed with a changed setting": [
    (form) => [remove("llama", form), add("llama2", form, { workersMax: 4 })],
    "renamed",
  ],
  "an endpoint whose template is also new": [
    (form) => [remove("llama", form), add("llama2", form, { templateId: UNKNOWN })],
    "renamed",
  ],
  "a template renamed without an alias": [
    (form) => [
      template("delete", "image", form, { old: { ...IMAGE, id: "t1" } }),
      template("create", "picture", form, { inputs: IMAGE }),
    ],
    "renamed",
  ],
  "an endpoint replaced": [
    (form) => [step("replace", "llama", { old: OLD, inputs: { ...ONE, type: "LOAD_BALANCER" }, form })],
    "replaced",
  ],
  "an endpoint replaced in the engine's three steps": [
    (form) =>
      ["create-replacement", "replace", "delete-replaced"].map((op) =>
        step(op, "llama", { old: OLD, ...(op !== "delete-replaced" && { inputs: ONE }), form }),
      ),
    "replaced",
  ],
  "an endpoint replaced and scaled to zero": [
    (form) => [step("replace", "llama", { old: OLD, inputs: { ...ONE, workersMax: 0 }, form })],
    "zero",
  ],
  "a replacement whose old endpoint keeps the name": [
    (form) => [step("replace", "llama", { old: OLD, inputs: ONE, retainOnDelete: true, form })],
    "impossible",
  ],
  "a volume deleted": [(form) => [volume("delete", form, { old: { ...VOLUME, id: "v1" } })], "data"],
  "a volume replaced": [
    (form) => [
      volume("replace", form, { old: { ...VOLUME, id: "v1" }, inputs: { ...VOLUME, dataCenterId: "EU-CZ-1" } }),
    ],
    "data",
  ],
  "a volume renamed without an alias": [
    (form) => [
      volume("delete", form, { old: { ...VOLUME, id: "v1" } }),
      step("create", "data", { kind: "NetworkVolume", inputs: VOLUME, form }),
    ],
    "data",
  ],
  "a release that the last up rejected": [
    (form) => [step("update", "llama", { ...REJECTED, inputs: { ...ROLL_OUT, idleTimeout: 9 }, form })],
    "rejected",
  ],
  "everything destroyed": [
    (form) => [remove("llama", form), volume("delete", form, { old: { ...VOLUME, id: "v1" } })],
    "data",
  ],
};

const ROLL_OUT = { ...ONE, imageName: "me/llama:2", rollOut: { input: { prompt: "2 + 2 =" }, onFailure: "keep" } };
/** The state after a release that stayed in service although its test failed. */
const REJECTED = {
  old: { ...ROLL_OUT, id: "e1" },
  initErrors: ['the new release of endpoint e1 ("llama") failed: its test failed\nIt is still in service'],
};

const HARMLESS: Readonly<Record<string, Make>> = {
  "another image after a release that the last up rejected": (form) => [
    step("update", "llama", { ...REJECTED, inputs: { ...ROLL_OUT, imageName: "me/llama:3" }, form }),
  ],
  "a release after an up that failed for another reason": (form) => [
    step("update", "llama", { old: { ...ROLL_OUT, id: "e1" }, initErrors: ["timed out"], inputs: ROLL_OUT, form }),
  ],
  "nothing changes": (form) => [step("same", "llama", { old: OLD, inputs: ONE, form })],
  "workersMax 3 → 1": update({ workersMax: 1 }),
  "workersMax 3 → 10": update({ workersMax: 10 }),
  "workersMin 1 → 0": update({ workersMin: 0 }, { workersMin: 1 }),
  "workersMax 0 → 3": update({ workersMax: 3 }, { workersMax: 0 }),
  "workersMax stays 0": update({ workersMax: 0, idleTimeout: 9 }, { workersMax: 0 }),
  "workersMax is not known before up": update({ workersMax: UNKNOWN }),
  "workersMax is no longer declared": (form) => {
    const { workersMax: _, ...inputs } = ONE;
    return [step("update", "llama", { old: OLD, inputs, form })];
  },
  "another GPU pool": update({ gpuIds: "AMPERE_80" }),
  "another template": update({ templateId: "t2" }),
  "another name at the service": update({ name: "llama-2" }),
  "another idleTimeout": update({ idleTimeout: 60 }),
  "a new endpoint": (form) => [add("new", form)],
  "a new endpoint without workers": (form) => [add("new", form, { workersMax: 0 })],
  "a new volume": (form) => [volume("create", form, { inputs: VOLUME })],
  "a larger volume": (form) => [
    volume("update", form, { old: { ...VOLUME, id: "v1" }, inputs: { ...VOLUME, size: 40 } }),
  ],
  "an endpoint released": (form) => [step("delete", "llama", { old: { ...OLD, adoptId: "e1" }, form })],
  "an endpoint retained": (form) => [remove("llama", form, { retainOnDelete: true })],
  "an endpoint that another resource takes over": (form) => [
    remove("llama", form),
    add("next", form, { adoptId: "e1" }),
  ],
  "the rest of an earlier replacement": (form) => [
    step("delete-replaced", "llama", { old: { ...OLD, id: "e0" }, form }),
  ],
};

const allowing = (...values: string[]) =>
  values.reduce<ReturnType<typeof parseAllow>>((all, each) => parseAllow(each, all), []);

describe.each(Object.keys(FORMS) as Form[])("in the %s form, from a preview alone", (form) => {
  test.each(Object.entries(REGRESSIONS))("%s is a danger", async (_, [make, found]) => {
    const { code, stdout } = await reviewed(previewOf(make(form)), { json: true });
    const json = JSON.parse(stdout);
    expect(json[found].length).toBeGreaterThan(0);
    expect({ code, ok: json.ok }).toEqual({ code: 4, ok: false });
  });

  test.each(Object.entries(HARMLESS))("%s is no danger", async (_, make) => {
    const { code, stdout } = await reviewed(previewOf(make(form)), {});
    expect({ code, verdict: stdout.split("\n")[0]?.split(":")[0] }).toEqual({ code: 0, verdict: "OK" });
  });
});

describe("workersMax 3 → 0", () => {
  const night = {
    timeZone: "Europe/Berlin",
    rules: [
      { cron: "0 8 * * *", workersMax: 3 },
      { cron: "0 20 * * *", workersMax: 0 },
    ],
  };
  const TEXTS = { ...night, rules: night.rules.map((rule) => ({ ...rule, workersMax: String(rule.workersMax) })) };
  const line = "getSpend: $512.20 from 2026-11-01T00:00:00.000Z (newest bucket 2026-11-28T00:00:00.000Z, 5 h old)";
  const spent = (steps: readonly object[]) =>
    JSON.stringify({
      ...JSON.parse(previewOf(steps)),
      diagnostics: [{ severity: "info", message: `hello\n${line}\n` }],
    });

  test.each<[string, string, string, number]>([
    [
      "by a schedule",
      previewOf(update({ workersMax: 0, schedule: night }, { schedule: night })("plugin")),
      "its schedule",
      0,
    ],
    ["by getSpend", spent(update({ workersMax: 0 })("dynamic")), "getSpend", 0],
    [
      "by a schedule whose counts are texts",
      previewOf(update({ workersMax: "0", schedule: TEXTS }, { workersMax: "3", schedule: TEXTS })("plugin")),
      "its schedule",
      0,
    ],
  ])("%s is a note", async (_, preview, decider, wanted) => {
    const { code, stdout } = await reviewed(preview, { json: true });
    const message = `workersMax 3 → 0, as ${decider} decides: the endpoint's jobs wait until a later run raises it`;
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      code: wanted,
      zero: [],
      decided: [{ resource: "llama", message }],
    });
  });

  test.each([
    [
      "by a schedule that never raises it",
      previewOf(update({ workersMax: 0, schedule: { ...night, rules: night.rules.slice(1) } })("plugin")),
    ],
    [
      "with another change in a program that calls getSpend",
      spent(update({ workersMax: 0, idleTimeout: 9 })("dynamic")),
    ],
  ])("%s is a danger", async (_, preview) => {
    const { code, stdout } = await reviewed(preview, { json: true });
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 4, decided: [], zero: [{ resource: "llama" }] });
  });
});

test("a template of the next version that takes the place of the last one is no danger", async () => {
  const steps = [
    template("delete", "v1", "dynamic", { old: { ...IMAGE, id: "t1" } }),
    template("create", "v2", "dynamic", { inputs: { ...IMAGE, imageName: "me/llama:2" } }),
  ];
  expect((await reviewed(previewOf(steps), {})).code).toBe(0);
});

test("the deleted endpoint that is more like the new one counts as renamed", async () => {
  const other = { ...OLD, id: "e2", idleTimeout: 9, templateId: "other" };
  const steps = [step("delete", "other", { old: other }), remove("llama", "dynamic"), add("llama2", "dynamic")];
  const json = JSON.parse((await reviewed(previewOf(steps), { json: true })).stdout);
  const names = (level: string) => json[level].map(({ resource }: { resource: string }) => resource);
  expect([names("renamed"), names("deleted")]).toEqual([["llama"], ["other"]]);
});

test("the deleted endpoint whose name a new one has under another parent counts as renamed", async () => {
  const moved = add("llama", "dynamic") as { urn: string };
  const urn = moved.urn.replace("pulumi-nodejs", "pulumi:pulumi:Stack$pulumi-nodejs");
  const steps = [step("delete", "other", { old: { ...OLD, id: "e2" } }), remove("llama", "dynamic"), { ...moved, urn }];
  const json = JSON.parse((await reviewed(previewOf(steps), { json: true })).stdout);
  const names = (level: string) => json[level].map(({ resource }: { resource: string }) => resource);
  expect([names("renamed"), names("deleted")]).toEqual([["llama"], ["other"]]);
});

test("there are at least twenty of each", () => {
  for (const each of [REGRESSIONS, HARMLESS]) expect(Object.keys(each).length).toBeGreaterThanOrEqual(20);
});

describe("--allow", () => {
  const zero = previewOf(update({ workersMax: 0 })("dynamic"));

  test.each([
    "zero=llama",
    `zero=${urnOf("llama")}`,
  ])("%s accepts the danger, and the verdict shows it", async (value) => {
    const { code, stdout } = await reviewed(zero, { allow: allowing(value) });
    expect(code).toBe(0);
    expect(stdout.split("\n")[0]).toContain(`Allowed: ${value}`);
    expect(stdout).toContain("ALLOWED  llama: workersMax 3 → 0");
  });

  test("with a whole kind accepts every danger of it, and the verdict says so", async () => {
    const { code, stdout } = await reviewed(zero, { allow: allowing("zero") });
    expect([code, stdout.split("\n")[0]]).toEqual([0, expect.stringContaining("Allowed: every zero")]);
  });

  test.each(["zero=lama", "delete=llama"])("%s accepts nothing here, and a note says so", async (value) => {
    const { code, stdout } = await reviewed(zero, { allow: allowing(value) });
    expect(code).toBe(4);
    expect(stdout).toContain(`--allow ${value} allows nothing here`);
    expect(stdout).toContain("To allow it: --allow zero=llama");
  });

  test("with a name that several resources have accepts none of them", async () => {
    const inputs = { ...ONE, workersMax: 0 };
    const steps = (["dynamic", "plugin"] as const).map((form, at) =>
      step("update", "llama", { old: { ...OLD, id: `e${at}` }, inputs, form }),
    );
    const { code, stdout } = await reviewed(previewOf(steps), { allow: allowing("zero=llama") });
    expect([code, stdout]).toEqual([4, expect.stringContaining("several resources have the name: give the URN")]);
    const urns = (["dynamic", "plugin"] as const).map((form) => `zero=${urnOf("llama", "ServerlessEndpoint", form)}`);
    for (const urn of urns) expect(stdout).toContain(`To allow it: --allow ${urn}\n`);
    expect((await reviewed(previewOf(steps), { allow: allowing(...urns) })).code).toBe(0);
  });

  test("--allow is advised so that a shell reads the name as it is", async () => {
    const name = "it's $(id) `id`";
    const inputs = { ...ONE, workersMax: 0 };
    const { stdout } = await reviewed(previewOf([step("update", name, { old: OLD, inputs })]), {});
    const [, words = ""] = /To allow it: --allow (.*)/.exec(stdout) ?? [];
    expect(execFileSync("sh", ["-c", `printf %s ${words}`], { encoding: "utf8" })).toBe(`zero=${name}`);
  });

  test.each(["nothing", "zero=", "=llama", "unlikely"])("%s is refused", (value) => {
    expect(() => parseAllow(value)).toThrow(
      "The dangers are data, delete, replace, rename, zero, rejected, impossible",
    );
  });
});

test("a danger wins over an exceeded limit, and both are in the verdict before the table", async () => {
  const steps = update({ workersMax: 0 })("dynamic");
  const { code, stdout } = await reviewed(previewOf([...steps, add("new", "dynamic")]), { maxPerHour: 1 });
  expect(code).toBe(4);
  expect(stdout).toMatch(/^DANGER: 1 danger and 1 exceeded limit\nSCALED TO ZERO {2}llama: .*\nLIMIT {2}/);
  expect((await reviewed(previewOf([add("new", "dynamic")]), { maxPerHour: 1 })).code).toBe(3);
});

test("an adoption that scales the existing endpoint to zero is a danger", async () => {
  const options: EmulatorOptions = { seed: { endpoints: [{ ...OLD, workersMax: 5 }] } };
  await using emulator = await startEmulator({ profile: "observed", ...options });
  const inputs = { ...ONE, workersMax: 0, adoptId: "e1" };
  const { code, stdout } = await reviewed(previewOf([step("create", "x", { inputs })]), { emulator });
  expect([code, stdout]).toEqual([4, expect.stringContaining("SCALED TO ZERO  x: workersMax 5 → 0")]);
});

test("a replacement that retains the old endpoint costs as much as both", async () => {
  const steps = [step("replace", "llama", { old: OLD, inputs: { ...ONE, name: "next" }, retainOnDelete: true })];
  const { code, stdout } = await reviewed(previewOf(steps), { json: true });
  const { cost } = JSON.parse(stdout);
  // 3 workers at 0.00031 × 3600 = 1.116, twice.
  expect([code, cost.before.fullScale, cost.after.fullScale]).toEqual([0, 3.348, 6.696]);
});

test("numbers that are texts count and are shown like numbers", async () => {
  const texts = { workersMin: "1", workersMax: "3", gpuCount: "2", idleTimeout: "9" };
  const numbers = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Number(text)]));
  const judged = async (inputs: object) =>
    JSON.parse((await reviewed(previewOf(update(inputs)("plugin")), { json: true })).stdout);
  const json = await judged(texts);
  expect(json).toEqual(await judged(numbers));
  expect(json.cost.after.fullScale).toBeCloseTo(3 * 2 * 0.00031 * 3600);
  expect(json.cost.endpoints[0].changes).toBe("workersMin 0 → 1, idleTimeout 5 → 9, gpuCount unset → 2");
});

test("a preview that was made with --target says so in its verdict", async () => {
  // The engine shows a create that it skips like this.
  const { stdout } = await reviewed(previewOf([step("same", "new", { inputs: ONE })]), {});
  expect(stdout.split("\n")[0]).toContain("The preview was made with --target, so this is not the whole change");
});

test("a preview that leaves out resources says so in its verdict", async () => {
  const { stdout } = await reviewed(previewOf([add("new", "dynamic")], 3), {});
  expect(stdout.split("\n")[0]).toContain(
    "The preview leaves out 3 unchanged resources, so this is not the whole stack",
  );
});
