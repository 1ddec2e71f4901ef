import { apiProblems, ENDPOINT_INPUTS, notices } from "../../../provider/endpoint/endpointInputs";
import { type Properties, UNKNOWN } from "../../../provider/engine/properties";
import { checkRecordInputs } from "../../../provider/fields/recordInputs";
import { capabilitiesAt } from "../../../sdk/contract/capabilities";
import { FIELDS } from "../../../sdk/endpoints/fields";
import { fixedIn } from "../../../sdk/records/fields";

const GPU = { name: "llama", gpuIds: "AMPERE_24", templateId: "abc123" };
const CPU = { name: "llama", instanceIds: ["cpu3g-4-16"], templateId: "abc123" };
const MODEL = "https://huggingface.co/a/b:main";

const checked = (program: Properties, old: Properties = {}, service?: string) =>
  checkRecordInputs(ENDPOINT_INPUTS, old, program, (name) => (name === "service" ? service : undefined));

/** Returns the checked inputs of a valid program. */
function check(program: Properties, old: Properties = {}): Properties {
  const { inputs, problems } = checked(program, old);
  expect(problems).toEqual([]);
  return inputs;
}

const problems = (program: Properties, old: Properties = {}) =>
  checked(program, old).problems.map(({ property, message }) => `${property}: ${message}`);

test("the normal form sorts sets, and CUDA versions in numeric order", () => {
  const inputs = check({ ...GPU, allowedCudaVersions: ["12.11", " 12.2", "12.2"], networkVolumeIds: "b, a" });
  expect(inputs).toMatchObject({ allowedCudaVersions: "12.2,12.11", networkVolumeIds: "a,b" });
  expect(check({ ...CPU, instanceIds: "cpu3g-4-16,cpu3c-2-4" })).toMatchObject({ instanceIds: "cpu3c-2-4,cpu3g-4-16" });
});

test("a removed setting returns to its default, and an older program gets no new inputs", () => {
  const all = { gpuCount: 2, minCudaVersion: "12.8", executionTimeoutMs: 5000, modelReferences: [MODEL] };
  const defaults = { gpuCount: 1, minCudaVersion: "", executionTimeoutMs: 600_000, modelReferences: "" };
  expect(check(GPU, check({ ...GPU, ...all }))).toEqual({ ...GPU, ...defaults, __provider: undefined });
  expect(check(GPU, check(GPU))).toEqual({ ...GPU, __provider: undefined });
});

describe("a change between GPUs and CPUs", () => {
  test("a change between GPUs and CPUs replaces the endpoint and resets GPU-only settings to their defaults", () => {
    const gpus = check({ ...GPU, gpuCount: 2, minCudaVersion: "12.8" });
    const cpus = check(CPU, gpus);
    expect(cpus).toMatchObject({ gpuIds: "", instanceIds: "cpu3g-4-16", gpuCount: 1, minCudaVersion: "" });
    const outputs = { ...gpus, instanceIds: "" };
    expect(fixedIn(FIELDS, outputs, cpus)).toEqual(["gpuIds", "instanceIds"]);
    expect(fixedIn(FIELDS, cpus, check(GPU, cpus))).toEqual(["gpuIds", "instanceIds"]);
  });

  test("a change between GPUs and CPUs is not detected between GPU pools, between instances, or for a value that is not known yet", () => {
    expect(fixedIn(FIELDS, { gpuIds: "ADA_24" }, { gpuIds: "AMPERE_24" })).toEqual([]);
    expect(fixedIn(FIELDS, { instanceIds: "cpu3g-4-16" }, { instanceIds: "cpu3c-2-4" })).toEqual([]);
    expect(fixedIn(FIELDS, { gpuIds: "ADA_24" }, { gpuIds: UNKNOWN })).toEqual([]);
  });

  test("a change between GPUs and CPUs is never planned from outputs that lack the field, because the endpoint may already be of that kind", () => {
    expect(fixedIn(FIELDS, { gpuIds: "ADA_24" }, { gpuIds: "ADA_24", type: "LOAD_BALANCER" })).toEqual([]);
    expect(fixedIn(FIELDS, { type: "QUEUE" }, { type: "LOAD_BALANCER" })).toEqual(["type"]);
  });

  test("a change between GPUs and CPUs requires one of gpuIds and instanceIds, which may not be known yet", () => {
    expect(problems({ ...GPU, gpuIds: null })).toEqual([
      "gpuIds: is required (or instanceIds, for an endpoint on CPUs)",
    ]);
    expect(problems({ ...GPU, gpuIds: UNKNOWN })).toEqual([]);
    expect(problems({ ...CPU, instanceIds: UNKNOWN })).toEqual([]);
    expect(problems({ ...GPU, ...CPU })).toEqual(["instanceIds: cannot be combined with gpuIds: remove one of them"]);
    expect(problems({ ...CPU, gpuCount: 2 })).toEqual([expect.stringMatching(/^gpuCount: cannot be set for .* CPUs/)]);
  });
});

test("an endpoint with its own container refuses settings that roll out a template", () => {
  const own = { name: "llama", gpuIds: "AMPERE_24", imageName: "me/llama:1" };
  expect(problems({ ...own, recycleWorkers: true, templateRevision: 1 })).toEqual([
    expect.stringMatching(
      /^templateRevision: is for endpoints with a templateId, which this endpoint does not have: remove it/,
    ),
    expect.stringMatching(
      /^recycleWorkers: .* this endpoint does not have: remove it\. The service itself replaces workers when .* changes$/,
    ),
  ]);
  expect(problems({ ...own, recycleWorkers: false })).toEqual([]);
  expect(problems({ ...own, recycleWorkers: UNKNOWN })).toEqual([]);
  expect(problems({ ...GPU, recycleWorkers: true })).toEqual([]);
});

describe("the two forms of network volumes", () => {
  test("the two forms of network volumes count as one setting, and after a switch to the other form only that form is managed", () => {
    const short = check({ ...GPU, networkVolumeId: "v1" });
    const long = check({ ...GPU, networkVolumeIds: ["v1", "v2"] }, short);
    expect(long).not.toHaveProperty("networkVolumeId");
    expect(check({ ...GPU, networkVolumeId: "v1", networkVolumeIds: null }, long)).toMatchObject({
      networkVolumeId: "v1",
    });
    expect(check(GPU, long)).toMatchObject({ networkVolumeIds: "" });
  });

  test("the two forms of network volumes cannot be combined", () => {
    expect(problems({ ...GPU, networkVolumeId: "v1", networkVolumeIds: ["v2"] })).toEqual([
      expect.stringContaining("networkVolumeIds: cannot be combined with networkVolumeId, which is its short form"),
    ]);
  });
});

describe("what an interface does not have", () => {
  const graphql = capabilitiesAt("graphql", undefined);
  const runpod = capabilitiesAt("graphql", "runpod");
  const v2 = capabilitiesAt("v2", undefined);
  const refused = (inputs: Properties, capabilities = graphql, old: Properties = {}) =>
    apiProblems(old, inputs, capabilities).map(({ property }) => property);
  const noticed = (old: Properties, inputs: Properties, capabilities = v2) =>
    notices(old, inputs, { capabilities, readConfig: () => undefined });

  const ALL = {
    gpuCount: 2,
    executionTimeoutMs: 600_000,
    networkVolumeIds: "a,b",
    flashBootType: "PRIORITY_FLASHBOOT",
  };

  test("a setting that an interface does not have is refused in a preview, even for an adoption", () => {
    expect(refused(ALL).sort()).toEqual(Object.keys(ALL).sort());
    expect(refused({ ...ALL, adoptId: "theirs" })).toHaveLength(4);
    expect(refused(ALL, runpod)).toEqual([]);
    expect(refused(ALL, v2)).toEqual([]);
    expect(refused({ modelReferences: MODEL }, v2)).toEqual(["modelReferences"]);
    expect(refused({ modelReferences: UNKNOWN, gpuCount: UNKNOWN }, v2)).toEqual([]);
  });

  test("a setting that an interface does not have causes no problem if the value equals the one that every service uses", () => {
    const nothing = { gpuCount: 1, networkVolumeIds: "a", flashBootType: "FLASHBOOT", type: "QUEUE", instanceIds: "" };
    expect(refused(nothing)).toEqual([]);
  });

  test("a setting that an interface does not have causes only a warning as long as a stack that switched APIs does not change it", () => {
    const inputs = { modelReferences: MODEL, gpuCount: 2 };
    expect(refused(inputs, v2, inputs)).toEqual([]);
    expect(noticed(inputs, inputs)).toEqual([
      expect.stringMatching(/^modelReferences cannot be set over REST v2: .* neither read nor restored/),
    ]);
    expect(noticed({}, inputs)).toEqual([]);
    expect(refused({ modelReferences: "other" }, v2, inputs)).toEqual(["modelReferences"]);
  });

  test("REST v2 refuses two CUDA rules, unless the endpoint already has both", () => {
    const cuda = { minCudaVersion: "12.2", allowedCudaVersions: "12.4" };
    expect(refused(cuda, v2)).toEqual(["minCudaVersion"]);
    expect(refused(cuda, v2, cuda)).toEqual([]);
    expect(refused(cuda, runpod)).toEqual([]);
  });
});

test("a GPU pool that this version does not know causes a single warning, at every service", () => {
  const program = { ...GPU, gpuIds: ["FUTURE_300", "ADA_32_PRO"] };
  expect(checked(program, {}, "runpod").problems).toEqual([]);
  for (const service of ["runpod", undefined]) {
    const readConfig = (name: string) => (name === "service" ? service : undefined);
    const inputs = { gpuIds: "FUTURE_300,ADA_32_PRO" };
    const found = notices({}, inputs, { capabilities: undefined, readConfig });
    expect(found).toEqual([expect.stringMatching(/FUTURE_300, a GPU pool that this version does not know/)]);
    expect(notices(inputs, inputs, { capabilities: undefined, readConfig })).toEqual([]);
  }
});

test("a GPU pool that is nearly a known one is refused with a suggestion", () => {
  const program = { ...GPU, gpuIds: ["HOPPER_142", "ADA_32_PRO"] };
  expect(checked(program, {}, "runpod").problems).toMatchObject([
    { property: "gpuIds", message: expect.stringContaining("Did you mean HOPPER_141?") },
  ]);
});
