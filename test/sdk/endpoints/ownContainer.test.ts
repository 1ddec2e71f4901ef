import type { FaultEffect } from "../../../emulator/server/faultRule";
import { BusinessRuleError, InUseError, InvalidInputError } from "../../../sdk/errors/errors";
import { SHARED_LIST_MAX_AGE_MS } from "../../../sdk/records/reads";
import { type Emulated, startEmulated } from "../../support/emulated";

type Api = "graphql" | "v2";

const warnings: string[] = [];
beforeEach(() => {
  warnings.length = 0;
});

const start = (api: Api, options: { readonly keepBoundTemplates?: boolean } = {}) =>
  startEmulated({
    emulator: {
      profile: "observed",
      templateReleaseMs: 0,
      ...options,
      seed: { templates: [{ id: "shared", name: "shared", imageName: "me/shared:1" }] },
    },
    client: { service: "runpod", api, onWarning: ({ message }) => warnings.push(message) },
  });

const SECRET = "a-value-that-nobody-else-has";
const INPUT = { name: "llama", gpuIds: "ADA_24", imageName: "me/llama:1", env: { HF_TOKEN: SECRET } } as const;
const SHOWN = {
  imageName: "me/llama:1",
  env: { HF_TOKEN: SECRET },
  containerDiskInGb: 20,
  dockerArgs: "",
  ports: "",
  containerRegistryAuthId: "",
};
const NAMES = {
  graphql: { create: "saveEndpoint", change: "saveTemplate", delete: "deleteEndpoint" },
  v2: { create: "createEndpoint", change: "updateEndpoint", delete: "deleteEndpoint" },
} as const;

const LOSSES: [string, FaultEffect][] = [
  ["reset", { reset: true }],
  ["500", { status: 500 }],
  ["hang", { hang: true }],
];
/** Each loss, before and after the request has its effect. */
const OCCASIONS = (["graphql", "v2"] as const).flatMap((api) =>
  LOSSES.flatMap(([what, effect]) =>
    (["before", "after"] as const).map((when) => [api, `${what} ${when} its effect`, { ...effect, when }] as const),
  ),
);

/** The ids of the templates that belong to an endpoint. */
const bound = ({ emulator }: Emulated) => emulator.templates.list().filter(({ boundEndpointId }) => boundEndpointId);
const containerOf = ({ emulator }: Emulated, id: string) => {
  const { templateId } = emulator.endpoints.get(id) ?? {};
  return emulator.templates.list().find((template) => template.id === templateId);
};

describe.each<Api>(["graphql", "v2"])("over %s", (api) => {
  test("an endpoint without a template is created, shown, changed, and deleted with its template", async () => {
    await using it = await start(api);
    const { endpoints } = it.client;
    const { id, ...created } = await it.run(endpoints.create(INPUT));
    expect(created).toMatchObject(SHOWN);
    expect(bound(it)).toMatchObject([{ boundEndpointId: id, imageName: "me/llama:1" }]);
    const changes = { imageName: "me/llama:2", containerDiskInGb: 50, ports: ["8000/http"], workersMax: 5 };
    const changed = await it.run(endpoints.update(id, { ...changes, env: { MODEL: "llama" } }));
    const after = { ...changes, ports: "8000/http", env: { MODEL: "llama", HF_TOKEN: SECRET }, dockerArgs: "" };
    expect(changed).toMatchObject(after);
    expect(await it.run(endpoints.get(id))).toMatchObject(after);
    const fewer = await it.run(endpoints.update(id, { env: { HF_TOKEN: null }, containerDiskInGb: null }));
    expect(fewer).toMatchObject({ env: { MODEL: "llama" }, containerDiskInGb: 20, workersMax: 5 });
    await it.run(endpoints.delete(id));
    expect(it.emulator.endpoints.list()).toEqual([]);
    expect(it.emulator.templates.list()).toMatchObject([{ id: "shared" }]);
    expect(warnings).toEqual([]);
  });

  test("variables that others have set are kept", async () => {
    await using it = await start(api);
    const { id } = await it.run(it.client.endpoints.create(INPUT));
    const { id: templateId = "" } = containerOf(it, id) ?? {};
    it.emulator.templates.change(templateId, { env: [{ key: "THEIRS", value: "1" }] });
    await it.clock.advance(10_000);
    const changed = await it.run(it.client.endpoints.update(id, { env: { MINE: "2" } }));
    expect(changed.env).toEqual({ MINE: "2", THEIRS: "1" });
  });

  test("a new endpoint requires either a template or an image, but not both", async () => {
    await using it = await start(api);
    const { endpoints } = it.client;
    const { imageName: _, env: __, ...neither } = INPUT;
    await expect(endpoints.create(neither)).rejects.toThrow(/templateId: is required \(or imageName/);
    await expect(endpoints.create({ ...INPUT, templateId: "shared" })).rejects.toThrow(/imageName: cannot be combined/);
    const withEnv = { ...neither, templateId: "shared", env: { A: "b" } };
    await expect(endpoints.create(withEnv)).rejects.toThrow(/env: cannot be combined with templateId/);
    expect(it.calls()).toEqual([]);
  });
});

test.each(
  OCCASIONS,
)("over %s, a create whose response is lost by %s creates one endpoint and one template", async (api, _what, effect) => {
  await using it = await start(api);
  it.emulator.faults.add({ match: { operation: NAMES[api].create }, effect, times: 1 });
  const created = await it.run(it.client.endpoints.create(INPUT));
  expect(it.emulator.endpoints.list().map(({ id }) => id)).toEqual([created.id]);
  expect(bound(it).map(({ boundEndpointId }) => boundEndpointId)).toEqual([created.id]);
  expect(created).toMatchObject(SHOWN);
});

test.each(OCCASIONS)("over %s, a change whose response is lost by %s is made once", async (api, _what, effect) => {
  await using it = await start(api);
  const { id } = await it.run(it.client.endpoints.create(INPUT));
  it.emulator.faults.add({ match: { operation: NAMES[api].change }, effect, times: 1 });
  const changed = await it.run(it.client.endpoints.update(id, { imageName: "me/llama:2", env: { MODEL: "x" } }));
  expect(changed).toMatchObject({ imageName: "me/llama:2", env: { MODEL: "x", HF_TOKEN: SECRET } });
  expect(containerOf(it, id)).toMatchObject({ imageName: "me/llama:2" });
  expect(bound(it)).toHaveLength(1);
});

test.each(
  OCCASIONS,
)("over %s, a deletion whose response is lost by %s leaves nothing behind", async (api, _what, effect) => {
  await using it = await start(api);
  const { id } = await it.run(it.client.endpoints.create(INPUT));
  it.emulator.faults.add({ match: { operation: NAMES[api].delete }, effect, times: 1 });
  await it.run(it.client.endpoints.delete(id));
  expect(it.emulator.endpoints.list()).toEqual([]);
  expect(bound(it)).toEqual([]);
});

test.each(
  LOSSES.flatMap(([what, effect]) =>
    ["podTemplate", "deleteTemplate"].map((operation) => [operation, what, effect] as const),
  ),
)("a %s whose response is lost by %s deletes the template that the service has not deleted", async (operation, _what, effect) => {
  await using it = await start("graphql", { keepBoundTemplates: true });
  const { id } = await it.run(it.client.endpoints.create(INPUT));
  it.emulator.faults.add({ match: { operation }, effect: { ...effect, when: "after" }, times: 1 });
  await it.run(it.client.endpoints.delete(id));
  expect(bound(it)).toEqual([]);
});

describe("over GraphQL", () => {
  test("a template that outlives its endpoint is deleted, also by a second deletion that knows its id", async () => {
    await using it = await start("graphql", { keepBoundTemplates: true });
    const { endpoints } = it.client;
    const first = await it.run(endpoints.create(INPUT));
    await it.run(endpoints.delete(first.id));
    expect(bound(it)).toEqual([]);
    const { id, templateId } = await it.run(endpoints.create(INPUT));
    it.emulator.endpoints.change(id, { workersMin: 0, workersMax: 0 });
    it.emulator.endpoints.delete(id);
    expect(bound(it)).toHaveLength(1);
    await it.run(endpoints.delete(id, { boundTemplateId: templateId }));
    expect(bound(it)).toEqual([]);
  });

  test("the list that proves a deletion also proves that the template is gone, unless the service refuses that query", async () => {
    await using it = await start("graphql");
    const { endpoints } = it.client;
    const calls = () => it.emulator.journal.requests().map(({ operation, status }) => `${operation} ${status}`);
    const [one, other] = [
      await it.run(endpoints.create(INPUT)),
      await it.run(endpoints.create({ ...INPUT, name: "b" })),
    ];
    await it.clock.advance(10_000);
    it.emulator.journal.clear();
    await it.run(endpoints.delete(one.id));
    expect(calls().slice(-2)).toEqual(["deleteEndpoint 200", "myself 200"]);
    const refusal = { message: 'Cannot query field "podTemplate"', code: "GRAPHQL_VALIDATION_FAILED" };
    const deleted = () => it.emulator.endpoints.list().length === 0;
    it.emulator.journal.clear();
    await it.clock.advance(10_000);
    const deleting = it.run(
      endpoints.delete(other.id, {
        onProgress: ({ phase }) =>
          phase === "proving gone" &&
          it.emulator.faults.add({ match: { operation: "myself" }, effect: { graphqlError: refusal }, times: 1 }),
      }),
    );
    await deleting;
    expect(deleted()).toBe(true);
    expect(calls().at(-1)).toBe("podTemplate 200");
    expect(bound(it)).toEqual([]);
  });

  test("a template that another endpoint uses is not deleted with its endpoint, and causes a warning", async () => {
    await using it = await start("graphql", { keepBoundTemplates: true });
    const { endpoints } = it.client;
    const { id, templateId } = await it.run(endpoints.create(INPUT));
    await it.run(endpoints.create({ name: "other", gpuIds: "ADA_24", templateId }));
    // An earlier deletion was killed between the two.
    it.emulator.endpoints.delete(id);
    await it.run(endpoints.delete(id, { boundTemplateId: templateId }));
    expect(bound(it)).toHaveLength(1);
    expect(warnings).toEqual([
      expect.stringMatching(/template \w+ of the deleted endpoint \w+ was not deleted: .*in use by/),
    ]);
  });

  test("the container of an endpoint is not changed if other endpoints use its template", async () => {
    await using it = await start("graphql");
    const { endpoints } = it.client;
    const { id, ...shown } = await it.run(endpoints.create({ name: "a", gpuIds: "ADA_24", templateId: "shared" }));
    expect(shown).toMatchObject({ templateId: "shared", imageName: "", env: {}, containerDiskInGb: 0 });
    const change = it.run(endpoints.update(id, { imageName: "me/other:1" }));
    await expect(change).rejects.toThrow(BusinessRuleError);
    await expect(change).rejects.toThrow(/its template shared does not belong to it.*REST v2/);
    expect(it.emulator.templates.list()).toMatchObject([{ imageName: "me/shared:1" }]);
    await it.run(endpoints.delete(id));
    expect(it.emulator.templates.list()).toMatchObject([{ id: "shared" }]);
  });

  test("an image is refused before any request if the service does not create templates for endpoints", async () => {
    await using it = await startEmulated();
    const refused = it.run(it.client.endpoints.create(INPUT));
    await expect(refused).rejects.toThrow(InvalidInputError);
    await expect(refused).rejects.toThrow(/imageName: is supported only by the service runpod, and over REST v2/);
    expect(it.emulator.endpoints.list()).toEqual([]);
  });
});

test("over v2, an endpoint switches from a template to its own container, and back", async () => {
  await using it = await start("v2");
  const { endpoints } = it.client;
  const known = { templateId: "shared" };
  it.emulator.templates.change("shared", { env: [{ key: "OF_TEMPLATE", value: "1" }], containerDiskInGb: 70 });
  const { id } = await it.run(endpoints.create({ name: "a", gpuIds: "ADA_24", templateId: "shared" }));
  const own = await it.run(endpoints.update(id, { imageName: "me/own:1", env: { A: "b" } }, { known }));
  expect(own).toMatchObject({ ...SHOWN, imageName: "me/own:1", env: { A: "b" }, templateId: "" });
  const back = await it.run(endpoints.update(id, { templateId: "shared" }, { known: { ...own } }));
  expect(back).toMatchObject({ templateId: "shared", imageName: "me/shared:1", containerDiskInGb: 70 });
});

test("an endpoint's template is neither changed nor deleted while another endpoint uses it", async () => {
  await using it = await start("graphql");
  const { endpoints } = it.client;
  const { id, templateId } = await it.run(endpoints.create(INPUT));
  const theirs = await it.run(endpoints.create({ name: "theirs", gpuIds: "ADA_24", templateId }));
  const wasSent = () => it.calls().filter((operation) => !["myself", "podTemplate"].includes(operation)).length;
  const before = wasSent();
  const changed = await it.failure(endpoints.update(id, { imageName: "me/llama:2" }));
  expect(changed).toBeInstanceOf(InUseError);
  expect(changed.message).toContain(`endpoint "theirs" (${theirs.id}) also uses its own template`);
  const deleted = await it.failure(endpoints.delete(id));
  expect(deleted).toBeInstanceOf(InUseError);
  expect(deleted.message).toContain(`because endpoint "theirs" (${theirs.id}) also uses its own template`);
  expect(wasSent()).toBe(before);
  expect(bound(it)).toMatchObject([{ id: templateId, imageName: "me/llama:1" }]);
  // Settings outside the template can change, and so can everything once the other one has let go.
  await it.run(endpoints.update(id, { workersMax: 5, imageName: "me/llama:1" }));
  expect(it.emulator.endpoints.get(id)).toMatchObject({ workersMax: 5 });
  await it.run(endpoints.update(theirs.id, { templateId: "shared" }));
  await it.run(endpoints.update(id, { imageName: "me/llama:2" }));
  await it.run(endpoints.delete(id));
  expect(it.emulator.endpoints.list().map((each) => each.id)).toEqual([theirs.id]);
});

describe("over REST v2, which does not show templates", () => {
  /** An endpoint with a container of its own, and another one that was given its template. */
  async function sharing() {
    const it = await start("v2");
    const { id } = await it.run(it.client.endpoints.create(INPUT));
    const templateId = String(it.emulator.endpoints.get(id)?.templateId);
    const theirs = it.emulator.endpoints.create({ name: "theirs", gpuIds: "ADA_24", templateId });
    return { it, id, theirs: theirs.id };
  }

  test("an endpoint's template is neither changed nor deleted while another endpoint uses it", async () => {
    const { it, id, theirs } = await sharing();
    await using _ = it;
    const changed = await it.failure(it.client.endpoints.update(id, { imageName: "me/llama:2" }));
    expect(changed).toBeInstanceOf(InUseError);
    expect(changed.message).toContain(`endpoint "theirs" (${theirs}) also uses its own template`);
    const deleted = await it.failure(it.client.endpoints.delete(id));
    expect(deleted).toBeInstanceOf(InUseError);
    expect(bound(it)).toMatchObject([{ imageName: "me/llama:1" }]);
    // A change of the other endpoint gives that one a container of its own.
    await it.run(it.client.endpoints.update(theirs, { imageName: "me/theirs:1" }));
    await it.clock.advance(SHARED_LIST_MAX_AGE_MS);
    await it.run(it.client.endpoints.update(id, { imageName: "me/llama:2" }));
    expect(bound(it)).toMatchObject([{ imageName: "me/llama:2" }]);
  });

  test.each([410, 500])("without GraphQL (status %i), nothing is known, and the change is made", async (status) => {
    const { it, id } = await sharing();
    await using _ = it;
    it.emulator.faults.add({ match: { operation: "myself" }, effect: { status } });
    await it.run(it.client.endpoints.update(id, { imageName: "me/llama:2" }));
    expect(bound(it)).toMatchObject([{ imageName: "me/llama:2" }]);
  });

  test("GraphQL is asked only if another endpoint has the same container", async () => {
    await using it = await start("v2");
    const { id } = await it.run(it.client.endpoints.create(INPUT));
    await it.run(it.client.endpoints.create({ ...INPUT, name: "other", imageName: "me/other:1" }));
    await it.run(it.client.endpoints.update(id, { imageName: "me/llama:2" }));
    expect(it.calls()).not.toContain("myself");
    await it.run(it.client.endpoints.update(id, { imageName: "me/other:1" }));
    expect(it.calls()).not.toContain("myself");
    await it.run(it.client.endpoints.update(id, { imageName: "me/other:2" }));
    expect(it.calls().filter((operation) => operation === "myself")).toHaveLength(1);
  });
});
