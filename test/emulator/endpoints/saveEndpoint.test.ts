import { type Emulator, startEmulator } from "../../../emulator";
import { GPU_TIERS } from "../../../sdk/contract/limits";
import { createEndpoint, REQUIRED, save } from "../../support/plainClient";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0 });
});
afterEach(() => emulator.stop());

const saved = async (input: string) => (await save(emulator, input)).body.data.saveEndpoint;
const refused = async (input: string, on = emulator) => {
  const { status, body } = await save(on, input);
  expect({ status, data: body.data, path: body.errors[0].path, code: body.errors[0].extensions.code }).toEqual({
    status: 200,
    data: null,
    path: ["saveEndpoint"],
    code: "RUNPOD",
  });
  return body.errors[0].message as string;
};

const everything =
  'name: "all", gpuIds: "ADA_24,AMPERE_24", templateId: "t2", idleTimeout: 5, locations: "CZ,US", ' +
  'flashBootType: FLASHBOOT, scalerType: "REQUEST_COUNT", scalerValue: 2, workersMin: 1, workersMax: 2, ' +
  'networkVolumeId: "volume-1"';

describe("creating", () => {
  test("[save.create] an input without an id creates an endpoint with a new id", async () => {
    const first = await saved(REQUIRED);
    const second = await saved(REQUIRED);
    expect(first.id).toMatch(/^[a-z0-9]+$/);
    expect(second.id).not.toBe(first.id);
    expect(emulator.endpoints.list().map((endpoint) => endpoint.id)).toEqual([first.id, second.id]);
  });

  test("[save.fields] every field of the endpoint record is stored and returned", async () => {
    expect(await saved(everything)).toEqual({
      id: expect.any(String),
      name: "all",
      gpuIds: "ADA_24,AMPERE_24",
      templateId: "t2",
      idleTimeout: 5,
      locations: "CZ,US",
      flashBootType: "FLASHBOOT",
      scalerType: "REQUEST_COUNT",
      scalerValue: 2,
      workersMin: 1,
      workersMax: 2,
      networkVolumeId: "volume-1",
      pods: [{ desiredStatus: "RUNNING" }],
    });
  });

  test("[save.defaults] omitted fields get the service's defaults", async () => {
    expect(await saved(REQUIRED)).toMatchObject({ idleTimeout: 10, scalerValue: 4, workersMin: 0, workersMax: 3 });
  });

  test("[save.unset] fields without a default are returned as unset", async () => {
    expect(await saved(REQUIRED)).toMatchObject({
      locations: "",
      flashBootType: null,
      scalerType: "QUEUE_DELAY",
      networkVolumeId: null,
    });
  });

  test.each(["name", "gpuIds", "templateId"])("[save.required] %s is required", async (field) => {
    const input = REQUIRED.replace(new RegExp(`${field}: "[^"]*",?`), "");
    const { status, body } = await save(emulator, input);
    expect(status).toBe(400);
    expect(body.errors[0]).toMatchObject({
      message: expect.stringContaining(field),
      extensions: { code: "GRAPHQL_VALIDATION_FAILED" },
    });
    expect(emulator.endpoints.list()).toEqual([]);
  });

  test("[save.round-trip] text with quotes, newlines and GraphQL syntax is returned unchanged", async () => {
    const name = 'a "quoted" \\ name\n} mutation { deleteEndpoint(id: "x") ✓';
    expect((await saved(`name: ${JSON.stringify(name)}, gpuIds: "AMPERE_16", templateId: "t"`)).name).toBe(name);
  });
});

describe("changing", () => {
  test("[save.modify] an input with an id changes that endpoint", async () => {
    const { id } = await saved(REQUIRED);
    const changed = await saved(`id: "${id}", name: "b", gpuIds: "AMPERE_80", templateId: "t3", workersMax: 1`);
    expect(changed).toMatchObject({ id, name: "b", gpuIds: "AMPERE_80", templateId: "t3", workersMax: 1 });
    expect(emulator.endpoints.list()).toHaveLength(1);
  });

  test("[save.reset] a change resets an omitted field that has a default", async () => {
    const { id } = await saved(everything);
    expect(await saved(`id: "${id}", ${REQUIRED}`)).toMatchObject({
      idleTimeout: 10,
      scalerValue: 4,
      workersMin: 0,
      workersMax: 3,
    });
  });

  test("[save.keep] a change keeps an omitted field that has no default", async () => {
    const { id } = await saved(everything);
    expect(await saved(`id: "${id}", ${REQUIRED}`)).toMatchObject({
      locations: "CZ,US",
      flashBootType: "FLASHBOOT",
      scalerType: "REQUEST_COUNT",
      networkVolumeId: "volume-1",
    });
  });

  test.each(["null", '""'])("[save.clear] locations and networkVolumeId are cleared by %s", async (value) => {
    const { id } = await saved(everything);
    const changed = await saved(`id: "${id}", ${REQUIRED}, locations: ${value}, networkVolumeId: ${value}`);
    expect(changed).toMatchObject({ locations: "", networkVolumeId: null });
  });

  test("[save.flash-boot-null] null for flashBootType clears FLASHBOOT in the contract profile", async () => {
    const { id } = await saved(everything);
    expect((await saved(`id: "${id}", ${REQUIRED}, flashBootType: null`)).flashBootType).toBeNull();
  });

  test("[save.flash-boot-off] flashBootType does not accept OFF in the contract profile", async () => {
    const { status, body } = await save(emulator, `${REQUIRED}, flashBootType: OFF`);
    expect([status, body.errors[0].extensions.code]).toEqual([400, "GRAPHQL_VALIDATION_FAILED"]);
  });

  test.each([
    "idleTimeout",
    "scalerValue",
    "workersMin",
    "workersMax",
  ])("[save.null-default] null for %s is refused", async (field) => {
    const { status, body } = await save(emulator, `${REQUIRED}, ${field}: null`);
    expect([status, body.errors[0].extensions.code]).toEqual([400, "GRAPHQL_VALIDATION_FAILED"]);
  });

  test("[save.scaler-type-null] null for scalerType keeps the current value", async () => {
    const { id } = await saved(everything);
    expect((await saved(`id: "${id}", ${REQUIRED}, scalerType: null`)).scalerType).toBe("REQUEST_COUNT");
  });

  test("[save.unknown-id] an unknown id is refused as not found, and creates nothing", async () => {
    expect(await refused(`id: "nope", ${REQUIRED}`)).toMatch(/not found/i);
    expect(emulator.endpoints.list()).toEqual([]);
  });
});

describe("rules", () => {
  const ofContract: readonly string[] = [
    "AMPERE_16",
    "AMPERE_24",
    "ADA_24",
    "AMPERE_48",
    "ADA_48_PRO",
    "AMPERE_80",
    "ADA_80_PRO",
  ];

  test.each(ofContract)("[save.gpu-ids] tier %s is accepted", async (tier) => {
    expect((await saved(`name: "a", gpuIds: "${tier}", templateId: "t"`)).gpuIds).toBe(tier);
  });

  test.each(
    GPU_TIERS.filter((tier) => !ofContract.includes(tier)),
  )("[save.newer-tiers] tier %s is accepted in the contract profile", async (tier) => {
    expect((await saved(`name: "a", gpuIds: "${tier}", templateId: "t"`)).gpuIds).toBe(tier);
  });

  test("[save.gpu-list] a list of tiers with exclusions is accepted and stored unchanged", async () => {
    const gpuIds = "AMPERE_24, AMPERE_16,-NVIDIA L4";
    expect((await saved(`name: "a", gpuIds: "${gpuIds}", templateId: "t"`)).gpuIds).toBe(gpuIds);
  });

  test.each([
    "AMPERE_99",
    "",
    "-NVIDIA L4",
    "AMPERE_16,,AMPERE_24",
    "BLACKWELL_97",
  ])("[save.unknown-tier] gpuIds %j is refused", async (gpuIds) => {
    expect(await refused(`name: "a", gpuIds: "${gpuIds}", templateId: "t"`)).toMatch(
      /^Invalid GPU Pool ID: |^gpuId\(s\) is required/,
    );
  });

  test.each(["CZ", "FR", "GB", "NO", "RO", "US"])("[save.locations] location %s is accepted", async (location) => {
    expect((await saved(`${REQUIRED}, locations: "${location}"`)).locations).toBe(location);
  });

  test("[save.data-center] a data center is accepted as a location", async () => {
    expect((await saved(`${REQUIRED}, locations: "EU-RO-1,US"`)).locations).toBe("EU-RO-1,US");
  });

  test.each(['""', "null"])("[save.any-region] the locations value %s means any region", async (value) => {
    expect((await saved(`${REQUIRED}, locations: ${value}`)).locations).toBe("");
  });

  test("[save.unknown-location] an unknown location is refused", async () => {
    expect(await refused(`${REQUIRED}, locations: "US,XX"`)).toContain('"XX"');
  });

  test.each(["QUEUE_DELAY", "REQUEST_COUNT"])("[save.scaler-type] scalerType %s is accepted", async (scalerType) => {
    expect((await saved(`${REQUIRED}, scalerType: "${scalerType}"`)).scalerType).toBe(scalerType);
  });

  test("[graphql.business-error] a violation of a rule returns 200 with an error that names the field in path", async () => {
    const { status, body, headers } = await save(emulator, `${REQUIRED}, workersMin: 9`);
    expect(status).toBe(200);
    expect(headers.get("x-emulator-fidelity")).toBe("assumed");
    expect(body).toEqual({
      errors: [
        {
          message: expect.stringContaining("workersMax"),
          locations: expect.any(Array),
          path: ["saveEndpoint"],
          extensions: { code: "RUNPOD" },
        },
      ],
      data: null,
    });
  });

  test("[save.unknown-scaler-type] an unknown scalerType is refused", async () => {
    expect(await refused(`${REQUIRED}, scalerType: "FASTEST"`)).toContain("FASTEST");
  });

  test.each([
    ["scalerValue: 0", "Scaler value"],
    ["idleTimeout: -1", "idleTimeout"],
    ["workersMin: -1", "workersMin"],
    ["workersMin: 4", "workersMax"],
    ['name: " "', "name"],
    ['templateId: ""', "templateId"],
  ])("[save.ranges] %s is refused", async (wrong, named) => {
    const field = wrong.slice(0, wrong.indexOf(":"));
    const input = REQUIRED.replace(new RegExp(`${field}: "[^"]*"`), wrong);
    expect(await refused(input === REQUIRED ? `${REQUIRED}, ${wrong}` : input)).toContain(named);
  });

  test("[save.any-template] any template id is accepted as long as the options define no templates", async () => {
    expect((await saved('name: "a", gpuIds: "AMPERE_16", templateId: "anything"')).templateId).toBe("anything");
  });

  test("[save.unknown-template] once the options define templates, any other template id is refused", async () => {
    await using strict = await startEmulator({ profile: "contract", templates: ["template-1"] });
    expect((await save(strict, REQUIRED)).body.data.saveEndpoint.templateId).toBe("template-1");
    expect(await refused('name: "a", gpuIds: "AMPERE_16", templateId: "template-2"', strict)).toBe(
      "Unable to find template",
    );
  });

  test("[save.unknown-template] templates in the options make all other ids invalid, but templates that a client creates do not", async () => {
    emulator.templates.create({ id: "mine", name: "mine", imageName: "i" });
    expect((await saved(REQUIRED)).templateId).toBe("template-1");
    await using strict = await startEmulator({ profile: "contract", strictReferences: true });
    expect(await refused(REQUIRED, strict)).toBe("Unable to find template");
  });

  test("[save.deleted-template] the id of a deleted template is refused", async () => {
    emulator.templates.create({ id: "template-1", name: "mine", imageName: "i" });
    emulator.templates.delete("template-1");
    expect(await refused(REQUIRED)).toBe("Unable to find template");
  });

  test("[save.pod-template] a pod template is refused", async () => {
    emulator.templates.create({ id: "template-1", name: "pod", imageName: "i", isServerless: false });
    expect(await refused(REQUIRED)).toContain("not a serverless template");
  });

  test("[save.any-volume] [save.unknown-volume] any volume id is accepted as long as no volume is defined", async () => {
    const input = `${REQUIRED}, networkVolumeId: "v2"`;
    expect((await saved(input)).networkVolumeId).toBe("v2");
    const volume = { id: "v2", size: 10, dataCenterId: "EU-RO-1" };
    await using strict = await startEmulator({ profile: "contract", seed: { volumes: [{ ...volume, id: "v1" }] } });
    expect(await refused(input, strict)).toBe("Unable to find network volume");
    emulator.volumes.create(volume);
    emulator.volumes.delete("v2");
    expect(await refused(input)).toBe("Unable to find network volume");
  });

  test("[save.left-out-ids] a save that omits the ids of a deleted template or volume is accepted and keeps them", async () => {
    await using observed = await startEmulator({ profile: "observed" });
    observed.templates.create({ id: "template-1", name: "mine", imageName: "i" });
    observed.volumes.create({ id: "v1", size: 10, dataCenterId: "EU-RO-1" });
    const id = await createEndpoint(observed, 'networkVolumeId: "v1"');
    observed.templates.delete("template-1");
    observed.volumes.delete("v1");
    const change = `id: "${id}", name: "a", gpuIds: "AMPERE_16", workersMax: 0`;
    expect(await refused(`${change}, networkVolumeId: "v1"`, observed)).toBe("Unable to find network volume");
    expect(await refused(`${change}, templateId: "template-1"`, observed)).toBe("Unable to find template");
    expect((await save(observed, change)).body.errors).toBeUndefined();
    const kept = { workersMax: 0, templateId: "template-1", networkVolumeId: "v1" };
    expect(observed.endpoints.get(id)).toMatchObject(kept);
  });

  test("[save.no-quota] no quota applies unless it is set", async () => {
    expect((await saved(`${REQUIRED}, workersMax: 1000`)).workersMax).toBe(1000);
  });

  test("[save.quota] the sum of workersMax over all endpoints cannot exceed the quota", async () => {
    await using limited = await startEmulator({ profile: "contract", workerQuota: 5 });
    const id = await createEndpoint(limited, "workersMax: 3");
    expect(await refused(`${REQUIRED}, workersMax: 3`, limited)).toMatch(/quota/);
    expect((await save(limited, `${REQUIRED}, workersMax: 2`)).body.errors).toBeUndefined();
    // The endpoint's own share is not counted twice.
    expect((await save(limited, `id: "${id}", ${REQUIRED}, workersMax: 2`)).body.errors).toBeUndefined();
  });
});
