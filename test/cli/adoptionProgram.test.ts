import { adoptionProgram } from "../../cli/adopt/adoptionProgram";
import { recordProgram } from "../../cli/adopt/recordProgram";
import { ENDPOINT_DEFAULTS } from "../../sdk/endpoints/fields";
import type { Endpoint } from "../../sdk/endpoints/record";

function endpoint(fields: Partial<Endpoint>): Endpoint {
  return { id: "id", name: "name", pods: [], ...ENDPOINT_DEFAULTS, templateId: "t", gpuIds: "ADA_24", ...fields };
}

/** Returns the resources of the program, without its header. */
function resources(...endpoints: Partial<Endpoint>[]): string {
  return adoptionProgram(endpoints.map(endpoint)).source.split("\n\n").slice(1).join("\n\n");
}

function logicalNames(...names: string[]): (string | undefined)[] {
  const source = resources(...names.map((name) => ({ name })));
  return [...source.matchAll(/^new ServerlessEndpoint\("(.*)", \{$/gm)].map(([, name]) => name);
}

test("logical names contain only words, and each name is unique", () => {
  expect(logicalNames("a", "a", "a-2", "a", "3d", "Größe", "模型", "--", "x::y z")).toEqual([
    "a",
    "a-2",
    "a-2-2",
    "a-3",
    "3d",
    "Gro-e",
    "endpoint",
    "endpoint-2",
    "x-y-z",
  ]);
});

test("defaults are left out, except for a scalerType that the scalerValue requires", () => {
  expect(resources({ scalerValue: 9, workersMax: 7 })).toBe(`new ServerlessEndpoint("name", {
  adoptId: "id",
  name: "name",
  gpuIds: "ADA_24",
  templateId: "t",
  scalerValue: 9,
  workersMax: 7,
  scalerType: "QUEUE_DELAY",
});
`);
});

test("settings whose values this version does not accept are left unmanaged, and the reason is given", () => {
  const source = resources({ scalerType: "MAGIC\u2028()", scalerValue: 9, flashBootType: "TURBO", workersMin: 5 });
  expect(source).toMatch(/^ {2}templateId: "t",\n {2}\/\/ not managed: /m);
  expect(source).toMatch(/^ {2}\/\/ not managed: scalerType "MAGIC \(\)" is not known/m);
  expect(source).toMatch(/^ {2}\/\/ not managed: flashBootType "TURBO" is not known/m);
  expect(source).toMatch(/^ {2}\/\/ not managed: scalerValue requires scalerType/m);
  expect(source).toMatch(/^ {2}\/\/ not managed: workersMin is 5, more than workersMax \(3\)/m);
  expect(source).not.toContain("\u2028");
});

test("the program shows the command that accepts GPU pools whose names look like typos", () => {
  const { source, skipped } = adoptionProgram([
    endpoint({ gpuIds: "HOPPER_142,FUTURE_300,ADA_24" }),
    endpoint({ id: "evil", gpuIds: "$(rm)" }),
  ]);
  expect(source).toContain("//    pulumi config set serverless-gpu:acceptWords HOPPER_142\n");
  const accepted = { acceptWords: ["HOPPER_142"] };
  expect(adoptionProgram([endpoint({ gpuIds: "HOPPER_142,ADA_24" })], accepted).source).not.toContain(
    "pulumi config set",
  );
  expect(source).toContain('gpuIds: ["HOPPER_142", "FUTURE_300", "ADA_24"]');
  expect(source).not.toContain("$(rm)");
  expect(skipped).toEqual([{ id: "evil", reason: expect.stringContaining('"$(rm)" is not a known GPU pool') }]);
});

test("with templates and volumes, the program has one import, above all resources, of the classes that it uses", () => {
  const volume = { id: "v1", name: "models", size: 50, dataCenterId: "EU-RO-1", storageType: "" };
  const imports = (...endpoints: Endpoint[]) =>
    adoptionProgram(endpoints, {}, "graphql", recordProgram([], [volume])).source.match(/^(import|new) .*/gm);
  expect(imports(endpoint({}))).toEqual([
    'import { NetworkVolume, ServerlessEndpoint } from "pulumi-serverless-gpu";',
    'new ServerlessEndpoint("name", {',
    'new NetworkVolume("models", {',
  ]);
  expect(imports()).toEqual([
    'import { NetworkVolume } from "pulumi-serverless-gpu";',
    'new NetworkVolume("models", {',
  ]);
});

test("an endpoint without a template is left out and reported", () => {
  const { source, skipped } = adoptionProgram([endpoint({ templateId: "" })]);
  expect(source).toBe("");
  expect(skipped).toEqual([{ id: "id", reason: expect.stringContaining("templateId") }]);
});

test("over REST v2, which does not return templates, the container is declared and only the names of its variables are listed", () => {
  const container = { imageName: "app:1", containerDiskInGb: 30, ports: "8000/http", env: { TOKEN: "canary-value" } };
  const { source, skipped } = adoptionProgram([endpoint({ templateId: "", ...container })], {}, "v2");
  expect(skipped).toEqual([]);
  expect(source).toContain("Apply\n//    the program over REST v2, as it was written: serverless-gpu:api: v2");
  expect(source).toContain('  imageName: "app:1",\n');
  expect(source).toContain("  containerDiskInGb: 30,\n");
  expect(source).toContain("// not managed: its variables TOKEN stay as they are");
  expect(source).not.toMatch(/templateId|canary-value/);
});

test("every setting that the service returns is declared, and volumes are declared in a single form", () => {
  const gpu = { gpuCount: 2, executionTimeoutMs: 0, allowedCudaVersions: "12.2,12.11", type: "LOAD_BALANCER" };
  const several = { networkVolumeId: "a,b", networkVolumeIds: "a,b" };
  expect(resources({ ...gpu, ...several, scalerType: "REQUEST_COUNT" })).toBe(`new ServerlessEndpoint("name", {
  adoptId: "id",
  name: "name",
  gpuIds: "ADA_24",
  templateId: "t",
  scalerType: "REQUEST_COUNT",
  gpuCount: 2,
  allowedCudaVersions: ["12.2", "12.11"],
  networkVolumeIds: ["a", "b"],
  type: "LOAD_BALANCER",
});
`);
  const cpu = { gpuIds: "", instanceIds: "cpu3g-4-16", networkVolumeId: "a", networkVolumeIds: "a" };
  expect(resources(cpu)).toContain('  networkVolumeId: "a",\n  instanceIds: "cpu3g-4-16",\n});');
});

test("a start command that may contain a secret is left out of the program", () => {
  const source = resources({ templateId: "", imageName: "app:1", dockerArgs: "serve --pass hunter2" });
  expect(source).toContain("// not managed: dockerArgs, which may hold a secret. Add it with a config secret");
  expect(source).not.toContain("hunter2");
});
