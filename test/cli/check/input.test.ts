import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { check } from "../../../cli/check/check";
import { startEmulator } from "../../../emulator";
import { previewOf, reviewed, step, urnOf } from "./previews";

const ONE = { gpuIds: "ADA_24", templateId: "t", workersMax: 2 };
const one = (name: string) => step("create", name, { inputs: ONE });

test.each<[string, string, string]>([
  ["a stream of events", '{"sequence":0,"preludeEvent":{}}\n{"sequence":1}', "PULUMI_ENABLE_STREAMING_JSON_PREVIEW"],
  ["a step of null", '{"steps":[null],"changeSummary":{}}', "the JSON is not a preview"],
  ["an empty list of steps", '{"steps":[]}', "the JSON has no step for a stack, so it is not a whole preview"],
  [
    "another tool's JSON",
    '{"steps":[{"op":"create","urn":"web"}],"changeSummary":{"create":1}}',
    "the JSON has no step for a stack",
  ],
  [
    "the JSON of a refresh",
    previewOf([]).replace('"op":"same"', '"op":"refresh"'),
    "the JSON is from pulumi refresh, which does not run the program",
  ],
  ["a step without a URN", '{"steps":[{"op":"create"}]}', "the JSON is not a preview"],
])("%s is refused, and the message says what to do", async (_, text, message) => {
  await expect(reviewed(text, { maxPerHour: 1 })).rejects.toThrow(message);
});

test.each<[string, (text: string) => Buffer]>([
  ["UTF-8 with a byte order mark", (text) => Buffer.from(`\uFEFF${text}`)],
  ["UTF-16", (text) => Buffer.from(`\uFEFF${text}`, "utf16le")],
  ["UTF-16, the high byte first", (text) => Buffer.from(`\uFEFF${text}`, "utf16le").swap16()],
])("a file in %s is read", async (_, encoded) => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), "check-")), "preview.json");
  writeFileSync(file, encoded(previewOf([])));
  const write = jest.spyOn(process.stdout, "write").mockReturnValue(true);
  expect(await check(file, {}, "1.2.3")).toBe(0);
  write.mockRestore();
});

test("--stack requests a single object from the engine, regardless of the environment", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "check-"));
  const script = '#!/bin/sh\n[ "$PULUMI_ENABLE_STREAMING_JSON_PREVIEW" = false ] && cat "$0.json"\n';
  writeFileSync(path.join(folder, "pulumi"), script, { mode: 0o755 });
  writeFileSync(path.join(folder, "pulumi.json"), previewOf([]));
  const write = jest.spyOn(process.stdout, "write").mockReturnValue(true);
  const { PATH } = process.env;
  try {
    process.env.PATH = `${folder}:${PATH}`;
    process.env.PULUMI_ENABLE_STREAMING_JSON_PREVIEW = "true";
    expect(await check(undefined, { stack: true }, "1.2.3")).toBe(0);
  } finally {
    process.env.PATH = PATH;
    delete process.env.PULUMI_ENABLE_STREAMING_JSON_PREVIEW;
    write.mockRestore();
  }
});

test("a create that --target excludes is reported, costs nothing and exceeds no cap", async () => {
  const state = { type: "pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint" };
  const skipped = { op: "same", urn: urnOf("new"), oldState: state, newState: state };
  const { code, stdout } = await reviewed(previewOf([one("x"), skipped]), { maxPerHour: 10 });
  expect(code).toBe(0);
  expect(stdout).toContain("Endpoints and network volumes: 1 to create, 1 not targeted");
});

test("the default provider is recognized by its own name, not by the project's name", async () => {
  await using emulator = await startEmulator({ workerQuota: 1, profile: "observed" });
  const inProject = (preview: string) => preview.replaceAll("dev::test::", "dev::default::");
  const staging = step("create", "x", { inputs: ONE, provider: "staging" });
  expect((await reviewed(inProject(previewOf([staging])), { emulator })).code).toBe(0);
  expect((await reviewed(inProject(previewOf([one("x")])), { emulator })).code).toBe(4);
});

test("names are shown in full, and cannot imitate a line of the report", async () => {
  const { stdout } = await reviewed(previewOf([one("a::x"), one("b\u001b[31m\nIMPOSSIBLE  c\u202e")]), {});
  expect(stdout).toContain("\na::x ");
  expect(stdout).toContain("b\\u{1b}[31m\\u{a}IMPOSSIBLE  c\\u{202e}");
  expect(stdout).not.toMatch(/^IMPOSSIBLE/m);
});

test("totals of a preview that leaves out resources are shown as lower bounds", async () => {
  expect((await reviewed(previewOf([one("x")], 3), {})).stdout).toMatch(/in all +≥ \$0\.00 → ≥ \$2\.23/);
  expect((await reviewed(previewOf([one("x")]), {})).stdout).not.toContain("≥");
});

test("the Markdown for thousands of endpoints fits into one comment, and says what was left out", async () => {
  const names = Array.from({ length: 2000 }, (_, at) => `endpoint-with-a-long-name-${at}`);
  const pools = (at: number) => ({ ...ONE, gpuIds: `NEW_POOL_${at}` });
  const steps = [
    ...names.map((name, at) => step("create", name, { inputs: pools(at) })),
    step("same", "old", { old: { ...ONE, id: "e" }, inputs: ONE }),
  ];
  const { stdout } = await reviewed(previewOf(steps), { markdown: true });
  expect(stdout.length).toBeLessThan(65_536);
  expect(stdout).not.toContain("| old |");
  expect(stdout).toMatch(/not in the table: \d+ more that change, 1 that does not change\./);
});

test("a name in the Markdown mentions nobody, links no issue, and is no HTML", async () => {
  const name = "@org/team #1 <img src=x> [a](b)";
  const { stdout } = await reviewed(previewOf([step("create", name, { inputs: ONE })]), { markdown: true });
  // GitHub also finds mentions and numbers after a backslash.
  expect(stdout).toContain("@<!-- -->org/team #<!-- -->1 &lt;img src=x&gt; \\[a\\](b)");
  expect(stdout.replaceAll("<!-- -->", " ")).not.toMatch(/@\w|#\d|<img/);
});

describe("a pool", () => {
  test("a pool has no price if all its GPU types are excluded", async () => {
    await using emulator = await startEmulator({ profile: "observed" });
    const inputs = { ...ONE, gpuIds: "AMPERE_24,ADA_24,-NVIDIA GeForce RTX 4090", workersMax: 1 };
    const { stdout } = await reviewed(previewOf([step("create", "x", { inputs })]), { emulator });
    expect(stdout).toContain("(AMPERE_24)");
    expect(stdout).not.toContain("(ADA_24)");
  });

  test("a pool is unlikely to start workers if neither this version nor the catalog knows it", async () => {
    await using emulator = await startEmulator({ profile: "observed" });
    const inputs = { ...ONE, gpuIds: "NEW_1" };
    const result = await reviewed(previewOf([step("create", "x", { inputs })]), { emulator });
    expect(result.code).toBe(0);
    expect(result.stdout).toMatch(/^UNLIKELY {2}x: the catalog has no GPU pool NEW_1/m);
    expect(result.stdout).not.toContain("IMPOSSIBLE");
  });
});
