import { type Emulator, manualClock, startEmulator } from "../../../emulator";
import {
  createEndpoint,
  graphql,
  invalidMutation,
  mutate,
  refusedMutation,
  saveTemplate,
  TEMPLATE_REQUIRED,
} from "../../support/plainClient";

const ALL =
  "id name imageName dockerArgs containerDiskInGb volumeInGb volumeMountPath ports portsConfig { name port } " +
  "env { key value } isServerless isPublic readme containerRegistryAuthId startSsh startJupyter startScript " +
  "advancedStart category config boundEndpointId";

const EVERYTHING = `dockerArgs: "serve", containerDiskInGb: 30, volumeInGb: 0, env: [{ key: "B", value: "2" }, { key: "A", value: "1" }],
  isServerless: true, isPublic: false, ports: "80/http,22/tcp", portsConfig: [{ port: "80", name: "web" }],
  containerRegistryAuthId: "reg", readme: "# Read", startSsh: true, startJupyter: true, startScript: "run", advancedStart: true,
  volumeMountPath: "/data", config: { gpus: [1] }, category: NVIDIA`;

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0, clock: manualClock() });
});
afterEach(() => emulator.stop());

const created = async (name: string, more?: string) =>
  (await saveTemplate(emulator, name, more)).body.data.saveTemplate.id;
const listed = async (fields = "id") =>
  (await graphql(emulator, `{ myself { podTemplates { ${fields} } } }`)).body.data.myself.podTemplates;

describe("saveTemplate", () => {
  test("[template.create] saveTemplate creates a template with an id of 10 letters and digits", async () => {
    const first = await created("one");
    expect(first).toMatch(/^[a-z0-9]{10}$/);
    expect(await created("two")).not.toBe(first);
    expect(emulator.templates.list().map(({ name }) => name)).toEqual(["one", "two"]);
  });

  test.each([
    "dockerArgs",
    "containerDiskInGb",
    "volumeInGb",
    "env",
    "name",
  ])("[template.input] %s is required and cannot be null", async (field) => {
    const fields: Record<string, string> = {
      name: '"a"',
      dockerArgs: '""',
      containerDiskInGb: "1",
      volumeInGb: "0",
      env: "[]",
    };
    const write = (of: Record<string, string>) =>
      `saveTemplate(input: { ${Object.entries(of).map(([name, value]) => `${name}: ${value}`)} }) { id }`;
    const { [field]: _, ...others } = fields;
    expect(await invalidMutation(emulator, write(others))).toMatch(
      new RegExp(`^Field "SaveTemplateInput.${field}" of required type ".*!" was not provided.$`),
    );
    expect(await invalidMutation(emulator, write({ ...fields, [field]: "null" }))).toMatch(
      /^Expected value of type ".*!", found null.$/,
    );
    expect(emulator.templates.list()).toEqual([]);
  });

  test("[template.list] [template.get] every field is stored and shown in lists and single reads", async () => {
    const { body } = await mutate(
      emulator,
      `saveTemplate(input: { name: "all", imageName: "me/app:1", ${EVERYTHING} }) { ${ALL} }`,
    );
    const expected = {
      id: expect.any(String),
      name: "all",
      imageName: "me/app:1",
      dockerArgs: "serve",
      containerDiskInGb: 30,
      volumeInGb: 0,
      volumeMountPath: "/data",
      ports: "80/http,22/tcp",
      portsConfig: [{ port: "80", name: "web" }],
      env: [
        { key: "B", value: "2" },
        { key: "A", value: "1" },
      ],
      isServerless: true,
      isPublic: false,
      readme: "# Read",
      containerRegistryAuthId: "reg",
      startSsh: true,
      startJupyter: true,
      startScript: "run",
      advancedStart: true,
      category: "NVIDIA",
      config: { gpus: [1] },
      boundEndpointId: null,
    };
    expect(body.data.saveTemplate).toEqual(expected);
    emulator.templates.create({ id: "pod", name: "pod", imageName: "i", isServerless: false, boundEndpointId: "e" });
    expect(await listed(ALL)).toEqual([
      expected,
      expect.objectContaining({ id: "pod", isServerless: false, boundEndpointId: "e" }),
    ]);
    const one = await graphql(emulator, `{ podTemplate(id: "${body.data.saveTemplate.id}") { ${ALL} } }`);
    expect(one.body.data.podTemplate).toEqual(expected);
  });

  test("[template.get-unknown] podTemplate returns null for an unknown id", async () => {
    expect((await graphql(emulator, '{ podTemplate(id: "x") { id } }')).body).toEqual({ data: { podTemplate: null } });
  });

  test("[template.modify] an input with an id changes that template, including its name", async () => {
    const id = await created("old");
    const { body } = await saveTemplate(emulator, "new", `id: "${id}", env: [{ key: "A", value: "1" }]`);
    expect(body.data.saveTemplate).toEqual({ id });
    expect(emulator.templates.list()).toMatchObject([{ id, name: "new", env: [{ key: "A", value: "1" }] }]);
  });

  test("[template.replace] omitted nullable fields are reset, and env is replaced", async () => {
    await mutate(emulator, `saveTemplate(input: { name: "a", imageName: "i", ${EVERYTHING} }) { id }`);
    const id = emulator.templates.list()[0]?.id ?? "";
    await saveTemplate(emulator, "a", `id: "${id}", env: [{ key: "C", value: "3" }]`);
    expect(emulator.templates.get(id)).toEqual({
      id,
      name: "a",
      imageName: "me/app:1",
      dockerArgs: "",
      cmd: [],
      entrypoint: [],
      containerDiskInGb: 20,
      volumeInGb: 0,
      env: [{ key: "C", value: "3" }],
      ports: "",
      portsConfig: [],
      containerRegistryAuthId: null,
      isServerless: true,
      isPublic: false,
      readme: "",
      startSsh: false,
      startJupyter: false,
      startScript: null,
      advancedStart: null,
      volumeMountPath: null,
      config: null,
      category: null,
      boundEndpointId: null,
      lastUsedAt: null,
    });
  });

  test("[template.registry-auth-clear] an empty containerRegistryAuthId clears the credential", async () => {
    const id = await created("a", 'env: [], containerRegistryAuthId: "reg"');
    expect(emulator.templates.get(id)?.containerRegistryAuthId).toBe("reg");
    await saveTemplate(emulator, "a", `id: "${id}", env: [], containerRegistryAuthId: ""`);
    expect(emulator.templates.get(id)?.containerRegistryAuthId).toBeNull();
  });

  test("[template.unknown-registry-auth] an unknown credential is refused once credentials are defined, and a deleted one is always refused", async () => {
    const save = (id: string) =>
      `saveTemplate(input: { name: "a", ${TEMPLATE_REQUIRED}, env: [], containerRegistryAuthId: "${id}" }) { id }`;
    const seed = { registryAuths: [{ id: "reg", name: "r", username: "u", password: "p" }] };
    await using strict = await startEmulator({ profile: "contract", seed });
    expect(await refusedMutation(strict, save("other"))).toBe("Unable to find registry auth");
    expect((await mutate(strict, save("reg"))).body.errors).toBeUndefined();
    emulator.registryAuths.create({ ...seed.registryAuths[0], id: "gone" } as never);
    emulator.registryAuths.delete("gone");
    expect(await refusedMutation(emulator, save("gone"))).toBe("Unable to find registry auth");
  });

  test("[template.unknown-id] an unknown id is refused", async () => {
    expect(
      await refusedMutation(
        emulator,
        `saveTemplate(input: { id: "x", name: "a", ${TEMPLATE_REQUIRED}, env: [] }) { id }`,
      ),
    ).toContain("not found");
    expect(emulator.templates.list()).toEqual([]);
  });

  test.each([
    [
      "[template.ranges] an empty name",
      'name: " ", imageName: "i", containerDiskInGb: 1, volumeInGb: 0, isServerless: true',
      "name",
    ],
    ["[template.ranges] no image", 'name: "a", containerDiskInGb: 1, volumeInGb: 0, isServerless: true', "imageName"],
    [
      "[template.ranges] a negative disk",
      'name: "a", imageName: "i", containerDiskInGb: -1, volumeInGb: 0',
      "containerDiskInGb",
    ],
    [
      "[template.serverless-volume] a volume on a serverless template",
      'name: "a", imageName: "i", containerDiskInGb: 1, volumeInGb: 5, isServerless: true',
      "volumeInGb",
    ],
  ])("%s is refused", async (_, input, named) => {
    expect(
      await refusedMutation(emulator, `saveTemplate(input: { ${input}, dockerArgs: "", env: [] }) { id }`),
    ).toContain(named);
  });

  test("[template.serverless-fixed] isServerless cannot be changed", async () => {
    const id = await created("a");
    const change = `saveTemplate(input: { id: "${id}", name: "a", ${TEMPLATE_REQUIRED}, env: [], isServerless: false }) { id }`;
    expect(await refusedMutation(emulator, change)).toContain("isServerless");
  });

  test("[template.env-limit] 50 variables are accepted, and 51 are refused", async () => {
    const env = (count: number) => `env: [${Array.from({ length: count }, (_, n) => `{ key: "K${n}", value: "v" }`)}]`;
    expect((await saveTemplate(emulator, "a", env(50))).body.errors).toBeUndefined();
    expect((await saveTemplate(emulator, "b", env(51))).body.errors[0].message).toContain("50");
  });

  test("[template.secret-references] saveTemplate references to secrets are stored unchanged", async () => {
    const id = await created("a", 'env: [{ key: "T", value: "{{ RUNPOD_SECRET_x }}" }]');
    expect(emulator.templates.get(id)?.env).toEqual([{ key: "T", value: "{{ RUNPOD_SECRET_x }}" }]);
  });
});

describe("names", () => {
  const taken = (name: string, on = emulator) =>
    refusedMutation(on, `saveTemplate(input: { name: "${name}", ${TEMPLATE_REQUIRED}, env: [] }) { id }`);

  test("[template.unique-name] a name that another template or pod template uses is refused, even in a change", async () => {
    await created("one");
    const id = await created("two");
    emulator.templates.create({ name: "pod", imageName: "i", isServerless: false });
    for (const name of ["one", "pod"]) {
      expect(await taken(name)).toBe("Template name must be unique");
      const { body } = await saveTemplate(emulator, name, `id: "${id}", env: []`);
      expect(body.errors[0].message).toBe("Template name must be unique");
    }
    expect(emulator.templates.list().map(({ name }) => name)).toEqual(["one", "two", "pod"]);
  });

  test("[template.taken-name] a name that another account uses is refused", async () => {
    await using other = await startEmulator({ profile: "contract", takenTemplateNames: ["llama"] });
    expect(await taken("llama", other)).toBe("Template name must be unique");
  });

  test("[template.deleted-name] the name of a deleted template is free again, unless an option reserves it", async () => {
    await created("a");
    await mutate(emulator, 'deleteTemplate(templateName: "a")');
    expect(await created("a")).toBeDefined();
    await using reserving = await startEmulator({ profile: "contract", reserveTemplateNames: true });
    await saveTemplate(reserving, "a");
    await mutate(reserving, 'deleteTemplate(templateName: "a")');
    expect(await taken("a", reserving)).toBe("Template name must be unique");
  });
});

describe("deleteTemplate", () => {
  const remove = 'deleteTemplate(templateName: "a")';

  test("[template.delete] deleteTemplate deletes the template by its name and returns nothing", async () => {
    await created("b");
    await created("a");
    expect((await mutate(emulator, remove)).body).toEqual({ data: { deleteTemplate: null } });
    expect(emulator.templates.list()).toMatchObject([{ name: "b" }]);
    expect(await invalidMutation(emulator, 'deleteTemplate(id: "x")')).toMatch(
      /^Unknown argument "id" on field "Mutation.deleteTemplate"/,
    );
  });

  test("[template.unknown-name] an unknown name is refused", async () => {
    expect(await refusedMutation(emulator, remove)).toContain("not found");
    expect(await refusedMutation(emulator, "deleteTemplate")).toContain("not found");
  });

  test.each([
    "contract",
    "observed",
  ] as const)("[template.in-use] deleteTemplate is refused while an endpoint or a pod uses the template (%s)", async (profile) => {
    await using account = await startEmulator({ profile, drainMs: 0, templateReleaseMs: 0 });
    account.templates.create({ id: "template-1", name: "a", imageName: "i" });
    const id = await createEndpoint(account);
    expect(await refusedMutation(account, remove)).toContain('in use by endpoint "a"');
    account.endpoints.delete(id);
    account.pods.add({ id: "pod-1", templateId: "template-1", desiredStatus: "EXITED" });
    expect(await refusedMutation(account, remove)).toContain('in use by pod "pod-1"');
    account.pods.add({ id: "pod-1", templateId: "template-1", desiredStatus: "TERMINATED" });
    expect((await mutate(account, remove)).body.errors).toBeUndefined();
  });

  test("[template.in-use] deleteTemplate is refused while a worker of an earlier endpoint version still runs with the template", async () => {
    const clock = manualClock();
    const worker = (_: unknown, { sleep }: { sleep: (ms: number) => Promise<void> }) => sleep(60_000);
    await using account = await startEmulator({
      profile: "contract",
      clock,
      coldStartMs: 0,
      drainMs: 0,
      handlers: { default: worker },
    });
    account.templates.create({ id: "template-1", name: "a", imageName: "i" });
    const endpoint = account.endpoints.create({ name: "e", gpuIds: "ADA_24", templateId: "template-1" });
    const run = {
      method: "POST",
      headers: { authorization: account.apiKey, "content-type": "application/json" },
      body: '{"input":{"n":1}}',
    };
    expect((await fetch(`${account.url}/v2/${endpoint.id}/run`, run)).status).toBe(200);
    await clock.advance(1000);
    account.endpoints.change(endpoint.id, { templateId: "other" });
    expect(await refusedMutation(account, remove)).toContain("in use");
    await clock.advance(60_000);
    expect((await mutate(account, remove)).body.errors).toBeUndefined();
  });

  test("[template.no-wait] [template.recently-used] deleteTemplate is refused for 2 minutes after the last use in the observed profile", async () => {
    const refusalAfter = async (profile: "contract" | "observed", ms: number, templateReleaseMs?: number) => {
      const clock = manualClock();
      await using account = await startEmulator({ profile, clock, templateReleaseMs });
      account.templates.create({ id: "template-1", name: "a", imageName: "i" });
      account.endpoints.delete(await createEndpoint(account));
      await clock.advance(ms);
      return (await mutate(account, remove)).body.errors?.[0].message;
    };
    expect(await refusalAfter("contract", 0)).toBeUndefined();
    expect(await refusalAfter("observed", 119_000, 120_000)).toContain("try again in 2 minutes");
    expect(await refusalAfter("observed", 120_000, 120_000)).toBeUndefined();
    // As all times of the emulator, it is short by default.
    expect(await refusalAfter("observed", 999)).toContain("try again");
    expect(await refusalAfter("observed", 1000)).toBeUndefined();
  });

  test("a template that was never used can be deleted at once", async () => {
    await using account = await startEmulator({ profile: "observed" });
    await saveTemplate(account, "a");
    expect((await mutate(account, remove)).body.errors).toBeUndefined();
  });
});

describe("faults", () => {
  test("[template.list-lag] lists and podTemplate lag behind by as much as a rule says", async () => {
    const id = await created("a");
    await (emulator.clock as ReturnType<typeof manualClock>).advance(10_000);
    emulator.faults.add({ effect: { listLagMs: 5000 } });
    await saveTemplate(emulator, "b", `id: "${id}", env: []`);
    await created("c");
    expect(await listed("name")).toEqual([{ name: "a" }]);
    const { body } = await graphql(emulator, `{ podTemplate(id: "${id}") { name } }`);
    expect(body.data.podTemplate).toEqual({ name: "a" });
    await (emulator.clock as ReturnType<typeof manualClock>).advance(5000);
    expect(await listed("name")).toEqual([{ name: "b" }, { name: "c" }]);
  });

  test("a rule matches by the operation's name, and its error contains the data of the operation", async () => {
    emulator.faults.add({ match: { operation: "deleteTemplate" }, effect: { graphqlError: { message: "no" } } });
    emulator.faults.add({ match: { operation: "saveTemplate" }, effect: { status: 503, when: "after" }, times: 1 });
    expect((await saveTemplate(emulator, "a")).status).toBe(503);
    expect(emulator.templates.list()).toHaveLength(1);
    const { body } = await mutate(emulator, 'deleteTemplate(templateName: "a")');
    expect(body).toMatchObject({ data: { deleteTemplate: null }, errors: [{ message: "no" }] });
  });
});
