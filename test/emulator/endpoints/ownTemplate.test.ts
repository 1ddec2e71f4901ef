import { type Emulator, type EmulatorOptions, startEmulator } from "../../../emulator";
import { send } from "../../support/plainClient";
import { callV2 } from "../restV2/call";

const start = (options: EmulatorOptions = {}) =>
  startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 0, templateReleaseMs: 0, ...options });

const SAVE = `mutation Save($input: EndpointInput!) {
  saveEndpoint(input: $input) { id templateId template { id name imageName boundEndpointId env { key value } } } }`;
const TEMPLATE = {
  name: "llama__template__a1b2c3d",
  imageName: "me/llama:1",
  dockerArgs: "serve",
  containerDiskInGb: 30,
  env: [{ key: "TOKEN", value: "very-secret" }],
  ports: "80/http",
  readme: "# Read",
};
const INPUT = { name: "llama", gpuIds: "ADA_24", workersMax: 1, template: TEMPLATE };

async function ask(emulator: Emulator, query: string, variables: object = {}) {
  const headers = { "content-type": "application/json", authorization: `Bearer ${emulator.apiKey}` };
  const body = JSON.stringify({ query, variables });
  return (await send(`${emulator.url}/graphql`, { method: "POST", headers, body })).body;
}

async function create(emulator: Emulator, more: object = {}) {
  const { data } = await ask(emulator, SAVE, { input: { ...INPUT, ...more } });
  return data.saveEndpoint;
}

const read = async (emulator: Emulator, id: string) =>
  (await ask(emulator, `{ podTemplate(id: "${id}") { id boundEndpointId imageName readme ports } }`)).data.podTemplate;

test("[save.own-template] [save.template-shown] [save.own-template-listed] one save creates an endpoint and its template", async () => {
  await using emulator = await start();
  const { id, templateId, template } = await create(emulator);
  expect(template).toEqual({
    id: templateId,
    name: TEMPLATE.name,
    imageName: "me/llama:1",
    boundEndpointId: id,
    env: TEMPLATE.env,
  });
  expect(await read(emulator, templateId)).toMatchObject({ boundEndpointId: id, readme: "# Read", ports: "80/http" });
  expect(emulator.templates.get(templateId)).toMatchObject({ isServerless: true, volumeInGb: 0 });
  const { data } = await ask(emulator, "{ myself { podTemplates { id } endpoints { template { id } } } }");
  expect(data.myself).toEqual({ podTemplates: [{ id: templateId }], endpoints: [{ template: { id: templateId } }] });
  expect((await callV2(emulator, "GET", "/templates")).body.templates).toEqual([]);
  expect((await callV2(emulator, "GET", `/serverless/${id}`)).body).toMatchObject({
    image: "me/llama:1",
    args: "serve",
    disk: 30,
    env: { TOKEN: "very-secret" },
    ports: ["80/http"],
  });
  expect(JSON.stringify(emulator.journal.requests())).not.toContain("very-secret");
});

test("a later saveTemplate also changes the endpoint to which the template belongs", async () => {
  const images: string[] = [];
  await using emulator = await start({
    handlers: { llama: (_, { imageName }) => void images.push(imageName) },
  });
  const { id, templateId } = await create(emulator);
  const run = () =>
    send(`${emulator.url}/v2/${id}/runsync`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: emulator.apiKey },
      body: '{"input":{"n":1}}',
    });
  await run();
  const change = { ...TEMPLATE, id: templateId, imageName: "me/llama:2", volumeInGb: 0, isServerless: true };
  const saveTemplate = "mutation T($input: SaveTemplateInput) { saveTemplate(input: $input) { boundEndpointId } }";
  const { data } = await ask(emulator, saveTemplate, { input: change });
  expect(data.saveTemplate.boundEndpointId).toBe(id);
  await run();
  expect(images).toEqual(["me/llama:1", "me/llama:2"]);
});

test("[save.template-or-id] [save.template-once] [save.template-lost] a refused save creates neither an endpoint nor a template", async () => {
  await using emulator = await start();
  const refusal = async (more: object) =>
    (await ask(emulator, SAVE, { input: { ...INPUT, ...more } })).errors[0].message;
  expect(await refusal({ templateId: "t" })).toMatch(/cannot be combined/);
  expect(await refusal({ gpuIds: "NONE" })).toMatch(/Invalid GPU Pool ID: NONE/);
  expect(emulator.templates.list()).toEqual([]);
  const { id } = await create(emulator);
  expect(await refusal({ id })).toMatch(/changed by saveTemplate/);
  expect(await refusal({ name: "other" })).toBe("Template name must be unique");
  expect(emulator.endpoints.list()).toHaveLength(1);
  expect(emulator.templates.list()).toHaveLength(1);
});

test("a save without templateId keeps the template", async () => {
  await using emulator = await start();
  const { id, templateId } = await create(emulator);
  const { template: _, ...others } = INPUT;
  const { data } = await ask(emulator, SAVE, { input: { ...others, id, workersMax: 2 } });
  expect(data.saveEndpoint.templateId).toBe(templateId);
});

describe("after the deletion of the endpoint,", () => {
  const REMOVALS: [string, (emulator: Emulator, id: string) => unknown][] = [
    ["GraphQL", (emulator, id) => ask(emulator, `mutation { deleteEndpoint(id: "${id}") }`)],
    ["REST v2", (emulator, id) => callV2(emulator, "DELETE", `/serverless/${id}`)],
    ["the control", (emulator, id) => emulator.endpoints.delete(id)],
  ];

  test.each(REMOVALS)("[save.template-dies] its template is gone: %s", async (_, remove) => {
    await using emulator = await start();
    const { id, templateId } = await create(emulator, { workersMax: 0 });
    await remove(emulator, id);
    expect(emulator.endpoints.list()).toEqual([]);
    expect(await read(emulator, templateId)).toBeNull();
    expect((await create(emulator)).templateId).not.toBe(templateId);
  });

  test.each([
    ["[save.template-unbound] one that is not bound", {}, { bindEndpoint: false }],
    ["[save.template-survives] any with an option", { keepBoundTemplates: true }, {}],
  ])("%s is kept, and can then be deleted", async (_, options, more) => {
    await using emulator = await start(options);
    const { id, templateId } = await create(emulator, { workersMax: 0, ...more });
    await ask(emulator, `mutation { deleteEndpoint(id: "${id}") }`);
    expect(emulator.endpoints.list()).toEqual([]);
    expect(await read(emulator, templateId)).toMatchObject({ id: templateId });
    await ask(emulator, `mutation { deleteTemplate(templateName: "${TEMPLATE.name}") }`);
    expect(await read(emulator, templateId)).toBeNull();
  });
});
