import { type Emulator, manualClock, startEmulator } from "../../emulator";
import { pairwise } from "../support/combinations";
import { createStack, type PulumiStack } from "./harness";

type Inputs = Readonly<Record<string, unknown>>;

/** The possible values of each group of fields in a program. JSON leaves out `undefined`. */
const FACTORS: Inputs[][] = [
  [
    { gpuIds: "AMPERE_16" },
    { gpuIds: ["ADA_24", "AMPERE_24"] },
    { gpuIds: "AMPERE_24 ,ADA_24, -NVIDIA L4" },
    { gpuIds: ["AMPERE_80", "-NVIDIA A100 80GB PCIe", "AMPERE_80"] },
  ],
  [{}, { idleTimeout: null }, { idleTimeout: 0 }, { idleTimeout: 30 }],
  [
    {},
    { locations: null },
    { locations: "" },
    { locations: [] },
    { locations: "CZ" },
    { locations: " RO,CZ ,RO" },
    { locations: ["US", "EU-RO-1"] },
  ],
  [{}, { flashBootType: null }, { flashBootType: "OFF" }, { flashBootType: "FLASHBOOT" }],
  [
    {},
    { scalerType: null },
    { scalerType: "QUEUE_DELAY" },
    { scalerType: "REQUEST_COUNT" },
    { scalerType: "QUEUE_DELAY", scalerValue: 0.5 },
    { scalerType: "REQUEST_COUNT", scalerValue: null },
    { scalerType: null, scalerValue: 7 },
  ],
  [
    {},
    { workersMin: null },
    { workersMin: 1 },
    { workersMax: 0 },
    { workersMin: 2, workersMax: 2 },
    { workersMin: 0, workersMax: null },
    { workersMin: 3, workersMax: null },
  ],
  [{}, { networkVolumeId: null }, { networkVolumeId: "" }, { networkVolumeId: "volume" }],
  [
    {},
    { name: 'explicit "名前"\n' },
    { drainTimeout: 5, awaitReadyTimeout: 9 },
    { drainTimeout: null, awaitReady: false },
  ],
];

const COMBINATIONS: Inputs[] = pairwise(FACTORS).map((parts) => Object.assign({}, ...parts));

/** The service's values if nothing was ever set, in the emulator's notation. */
const DEFAULTS: Inputs = {
  idleTimeout: 10,
  locations: "",
  flashBootType: null,
  scalerType: "QUEUE_DELAY",
  scalerValue: 4,
  workersMin: 0,
  workersMax: 3,
  networkVolumeId: null,
};

const COMPARED = [...Object.keys(DEFAULTS), "name", "gpuIds", "templateId"];

/** Returns a resource for each combination, with unique names. */
function program(combinations: readonly Inputs[]): string {
  const resources = combinations.map((inputs, index) => ({
    templateId: `template-${index}`,
    ...inputs,
    ...(inputs.name === undefined ? {} : { name: `${inputs.name}${index}` }),
  }));
  return `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
${JSON.stringify(resources)}.forEach((args, index) => new ServerlessEndpoint("r" + index, args));
`;
}

/** Returns the expected values at the service for the endpoint of a combination. */
function expected(inputs: Inputs, index: number): unknown {
  const set = Object.entries(inputs).filter(([field, value]) => field in DEFAULTS && value !== null && value !== "");
  const sortedList = (value: unknown) => (typeof value === "string" ? [value] : (value as string[])).join();
  const words = (text: string) => [...new Set(text.split(",").map((word) => word.trim()))];
  const gpus = words(sortedList(inputs.gpuIds));
  const locations = words(sortedList(inputs.locations ?? "")).sort();
  return {
    ...DEFAULTS,
    ...Object.fromEntries(set),
    templateId: `template-${index}`,
    gpuIds: [
      ...gpus.filter((word) => !word.startsWith("-")),
      ...gpus.filter((word) => word.startsWith("-")).sort(),
    ].join(),
    locations: locations.join(),
    flashBootType: inputs.flashBootType === "FLASHBOOT" ? "FLASHBOOT" : null,
    name: inputs.name === undefined ? expect.stringMatching(/^r\d+-[0-9a-f]{7}$/) : `${inputs.name}${index}`,
  };
}

function endpoints(emulator: Emulator): unknown[] {
  const index = ({ templateId }: { templateId: string }) => Number(templateId.split("-")[1]);
  return [...emulator.endpoints.list()]
    .sort((one, other) => index(one) - index(other))
    .map((endpoint) => Object.fromEntries(Object.entries(endpoint).filter(([field]) => COMPARED.includes(field))));
}

describe.each(["contract", "observed"] as const)("in the %s profile, every pair of inputs", (profile) => {
  // The service of the observed profile accepts only whole numbers.
  const combinations = COMBINATIONS.map((inputs) =>
    profile === "observed" && inputs.scalerValue === 0.5 ? { ...inputs, scalerValue: 2 } : inputs,
  );
  let emulator: Emulator;
  let stack: PulumiStack;

  beforeAll(async () => {
    emulator = await startEmulator({ profile, drainMs: 0 });
    stack = await createStack({ program: program(combinations), env: emulator.env });
  });

  afterAll(() => emulator.stop());

  test("every pair of inputs is stored by the service as declared and causes no drift", async () => {
    await stack.up();
    expect(endpoints(emulator)).toEqual(combinations.map(expected));
    await stack.preview("--refresh", "--expect-no-changes");
  });

  test("every pair of inputs can be changed to any other pair, and fields that are removed or set to null return to their defaults", async () => {
    const [first = {}, ...others] = combinations;
    const shifted = [...others, first];
    await stack.writeProgram(program(shifted));
    await stack.up();
    expect(endpoints(emulator)).toEqual(shifted.map(expected));
    await stack.preview("--refresh", "--expect-no-changes");
  });
});

describe("a difference at the service", () => {
  const clock = manualClock();
  let emulator: Emulator;
  let stack: PulumiStack;
  const source = (gpuIds: string) => `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
new ServerlessEndpoint("one", { templateId: "one", gpuIds: "${gpuIds}", locations: ["CZ", "RO"], workersMax: 5 });
new ServerlessEndpoint("two", { templateId: "two", gpuIds: "${gpuIds}" });
`;
  const idOf = (templateId: string) =>
    emulator.endpoints.list().find((each) => each.templateId === templateId)?.id ?? "";

  beforeAll(async () => {
    emulator = await startEmulator({ profile: "contract", clock });
    stack = await createStack({ program: source("ADA_24,AMPERE_24"), env: emulator.env });
    await stack.up();
  });

  afterAll(() => emulator.stop());

  test("in order, spaces or the suffix of the name is not drift", async () => {
    const { name } = emulator.endpoints.get(idOf("one")) ?? {};
    emulator.endpoints.change(idOf("one"), {
      locations: "RO, CZ ,RO",
      gpuIds: " ADA_24, AMPERE_24 ",
      name: `${name} -fb`,
      networkVolumeId: "",
    });
    await stack.preview("--refresh", "--expect-no-changes");
  });

  test("caused by scale-down after idle days counts as drift and is repaired if the program manages the field", async () => {
    await clock.advance(3 * 86_400_000);
    expect(emulator.endpoints.list().map(({ workersMax }) => workersMax)).toEqual([2, 2]);
    const drift = await stack.run(["refresh", "--preview-only", "--expect-no-changes", "--diff"]);
    expect(drift.exitCode).toBe(7);
    expect(drift.output).toMatch(/~ workersMax *: 5 => 2/);

    await stack.up("--refresh");
    expect(emulator.endpoints.get(idOf("one"))).toMatchObject({ workersMax: 5 });
    // This one does not manage workersMax.
    expect(emulator.endpoints.get(idOf("two"))).toMatchObject({ workersMax: 2 });
    await stack.preview("--refresh", "--expect-no-changes");
  });

  test("in fields that the program never set is sent back unchanged when other fields change", async () => {
    const theirs = {
      // An automatic name that was changed elsewhere is not a name that the program set.
      name: "renamed",
      idleTimeout: 99,
      locations: "US",
      flashBootType: "FLASHBOOT",
      scalerType: "REQUEST_COUNT",
      scalerValue: 9,
      workersMin: 1,
      workersMax: 4,
      networkVolumeId: "volume",
    } as const;
    emulator.endpoints.change(idOf("two"), theirs);
    await stack.refresh();
    emulator.journal.clear();
    await stack.writeProgram(source("AMPERE_80"));
    await stack.up();
    const saved = emulator.journal.requests({ operation: "saveEndpoint", endpointId: idOf("two") });
    expect(saved.map((request) => request.arguments.input)).toEqual([
      { id: idOf("two"), templateId: "two", gpuIds: "AMPERE_80", ...theirs },
    ]);
    await stack.preview("--refresh", "--expect-no-changes");
  });
});
