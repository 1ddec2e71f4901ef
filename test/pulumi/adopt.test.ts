import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "./harness";

const COMMAND = path.resolve(__dirname, "../../dist/cli/main.js");

const NAMES = [
  "plain",
  "plain",
  'quote " and \\ backslash',
  "line\nbreak and `tick` and $" + "{}",
  "*/ comment // end",
  "3d model",
  "推論 エンドポイント",
  "Größe \u202e\u2028 invisible",
  "  spaces  ",
  "__proto__",
];

let emulator: Emulator;
let stack: PulumiStack;

beforeAll(async () => {
  emulator = await startEmulator({
    profile: "contract",
    seed: {
      endpoints: [
        ...NAMES.map((name, index) => ({
          id: `id-${index}`,
          name,
          gpuIds: "AMPERE_16",
          templateId: `template-${index}`,
        })),
        {
          id: "full",
          name: "everything set",
          gpuIds: "ADA_24, AMPERE_24,-NVIDIA L4",
          templateId: "template",
          idleTimeout: 30,
          locations: "RO,CZ",
          flashBootType: "FLASHBOOT",
          scalerType: "REQUEST_COUNT",
          scalerValue: 2,
          workersMin: 1,
          workersMax: 5,
          networkVolumeId: "volume",
        },
        { id: "delay", name: "only a delay", gpuIds: "ADA_24", templateId: "template", scalerValue: 0.5 },
      ],
    },
    drainMs: 100,
  });
  stack = await createStack({ typescript: true, env: emulator.env });
});

afterAll(() => emulator.stop());

/** Skips a program's type check, which takes seconds, when an earlier command has done it. */
const TYPES_KNOWN = { PULUMI_NODEJS_TRANSPILE_ONLY: "true" };

const adopt = (args: readonly string[] = [], env: Record<string, string> = {}) =>
  stack.exec(process.execPath, [COMMAND, "adopt", ...args], { env });

function fields() {
  return emulator.endpoints.list().map(({ pods, ...record }) => record);
}

test("a filter selects endpoints by part of their names", async () => {
  const { exitCode, stdout } = await adopt(["--filter", "EVERYTHING"]);
  expect(exitCode).toBe(0);
  expect(stdout.split("\n\n")[1]).toBe(`new ServerlessEndpoint("everything-set", {
  adoptId: "full",
  name: "everything set",
  gpuIds: ["ADA_24", "AMPERE_24", "-NVIDIA L4"],
  templateId: "template",
  idleTimeout: 30,
  scalerValue: 2,
  workersMax: 5,
  workersMin: 1,
  locations: ["CZ", "RO"],
  flashBootType: "FLASHBOOT",
  scalerType: "REQUEST_COUNT",
  networkVolumeId: "volume",
});
`);
});

test("the program that adopt writes adopts every endpoint without changing anything at the service", async () => {
  const before = fields();
  const { exitCode, stdout, stderr } = await adopt();
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: expect.stringMatching(/^GraphQL \(the default\) at .*\n$/),
  });
  await stack.writeProgram(stdout, "index.ts");
  emulator.journal.clear();

  // The program is type-checked before it runs.
  const { output } = await stack.up();
  expect(output).toContain(`+ ${before.length + 1} created`);
  // The engine prints each line twice.
  expect(new Set(output.match(/adopted endpoint .*; nothing changed/g)).size).toBe(before.length);
  expect(new Set(emulator.journal.operations())).toEqual(new Set(["myself"]));
  expect(fields()).toEqual(before);
  await stack.succeed(["preview", "--refresh", "--expect-no-changes"], TYPES_KNOWN);

  // Removing adoptId makes the records the stack's own, without a request.
  await stack.writeProgram(stdout.replaceAll(/^ {2}adoptId: .*\n/gm, ""), "index.ts");
  await stack.succeed(["up", "--yes", "--skip-preview"], TYPES_KNOWN);
  expect(fields()).toEqual(before);
  expect(emulator.journal.requests({ operation: "saveEndpoint" })).toEqual([]);
  await stack.succeed(["preview", "--expect-no-changes"], TYPES_KNOWN);
});

test("records that any stack of this project manages are named and left out", async () => {
  await stack.succeed(["stack", "init", "other"]);
  const nothing = await adopt(["--all"]);
  expect(nothing).toMatchObject({ exitCode: 1, stdout: "" });
  expect(nothing.stderr).toContain('left out full "everything set": this project\'s stack dev manages it\n');
  expect(nothing.stderr).toContain("there is nothing to adopt: this project's stacks manage the records already");

  emulator.endpoints.create({ id: "new", name: "new one", gpuIds: "ADA_24", templateId: "template" });
  emulator.templates.create({ id: "shared", name: "shared", imageName: "app:1", isServerless: true });
  const { exitCode, stdout } = await adopt(["--all"]);
  expect(exitCode).toBe(0);
  expect(stdout).toContain("// Adopts 1 endpoint and 1 other record as they were");
  expect(stdout.match(/^(import|new) .*/gm)).toEqual([
    'import { ServerlessEndpoint, ServerlessTemplate } from "pulumi-serverless-gpu";',
    'new ServerlessEndpoint("new-one", {',
    'new ServerlessTemplate("shared", {',
  ]);
  emulator.endpoints.delete("new");
  // A program that only reads an endpoint does not manage it.
  const reading = `import { ServerlessEndpoint } from "pulumi-serverless-gpu";
    ServerlessEndpoint.get("read", "full");`;
  await stack.writeProgram(reading, "index.ts");
  await stack.succeed(["up", "--yes", "--skip-preview"], TYPES_KNOWN);
  await stack.succeed(["stack", "rm", "dev", "--yes", "--force"]);
  expect((await adopt(["--filter", "everything"])).stdout).toContain('adoptId: "full"');
});

test("without an endpoint or a valid key, adopt explains the problem and writes no program", async () => {
  const failures = [
    [await adopt(["--filter", "nothing like it"]), '12 endpoints, none with "nothing like it" in its name'],
    [await adopt([], { SERVERLESS_GPU_API_KEY: "" }), "there is no API key: set SERVERLESS_GPU_API_KEY"],
    [await adopt([], { SERVERLESS_GPU_API_KEY: "wrong-canary-key" }), "Check that the API key is right"],
    [await adopt([], { SERVERLESS_GPU_GRAPHQL_URL: "" }), "there is no graphqlUrl: set SERVERLESS_GPU_GRAPHQL_URL"],
  ] as const;
  for (const [{ exitCode, stdout, stderr }, message] of failures) {
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("wrong-canary-key");
  }
  expect((await adopt(["--filtre", "x"])).exitCode).toBe(2);
  // Nobody knows what the stacks of an unreachable backend manage.
  const unreadable = await adopt([], { PULUMI_BACKEND_URL: "file:///does/not/exist" });
  expect(unreadable.exitCode).toBe(0);
  expect(unreadable.stderr).toMatch(
    /warning: the states of this project's stacks cannot be read \(.+\), so the program may/,
  );
  expect(unreadable.stderr).toContain("Remove those from the program");
});

test("over REST v2, which returns no templates, adopt declares containers in a program that changes nothing", async () => {
  const templates = ["one", "two"].map((id) => ({ id, name: id, imageName: `me/${id}:1` }));
  const endpoint = { gpuIds: "ADA_24", locations: "CZ", idleTimeout: 30 };
  await using service = await startEmulator({
    profile: "contract",
    seed: {
      templates,
      endpoints: ["one", "two"].map((id) => ({ ...endpoint, id: `e-${id}`, name: id, templateId: id })),
    },
  });
  const env = { ...service.env, SERVERLESS_GPU_API: "v2" };
  const overV2 = await createStack({ typescript: true, env });
  const records = () =>
    service.endpoints.list().map(({ gpuIds, templateId, container }) => [gpuIds, templateId, container?.imageName]);
  const before = records();
  const { exitCode, stdout } = await overV2.exec(process.execPath, [COMMAND, "adopt", "--api", "v2"]);
  expect(exitCode).toBe(0);
  await overV2.writeProgram(stdout, "index.ts");
  const preview = await overV2.preview();
  expect(preview.output.match(/is adopted; no endpoint is created\. Nothing changes/g)?.length).toBeGreaterThan(1);
  service.journal.clear();
  const { output } = await overV2.succeed(["up", "--yes", "--skip-preview"], TYPES_KNOWN);
  expect(output).toMatch(/adopted endpoint e-one; nothing changed$/m);
  expect(service.journal.requests().filter(({ method }) => method !== "GET")).toEqual([]);
  expect(records()).toEqual(before);
  await overV2.succeed(["preview", "--refresh", "--expect-no-changes"], TYPES_KNOWN);
});
