import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { adoptState } from "../../cli/adopt/adoptState";

const folder = mkdtempSync(path.join(tmpdir(), "state-"));
const SECRET = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" };
const URN = "urn:pulumi:dev::p::runpod:index";

function written(text: string): string {
  const file = path.join(folder, "state.json");
  writeFileSync(file, text);
  return file;
}

function pulumi(resources: readonly object[], pending?: readonly object[], flags: object = {}) {
  const state = { version: 3, deployment: { resources, pending_operations: pending } };
  return adoptState({ from: written(JSON.stringify(state)), ...flags });
}

function terraform(resources: readonly object[]) {
  return adoptState({ from: written(JSON.stringify({ version: 4, resources })) });
}

const endpoint = (fields: object = {}, inputs: object = {}) => ({
  urn: `${URN}:Endpoint::llama`,
  type: "runpod:index:Endpoint",
  id: "e1",
  inputs: { name: "llama", gpuIds: "ADA_24", templateId: "t1", ...inputs },
  outputs: { endpointId: "e1" },
  ...fields,
});

const template = (env: unknown, inputs: object = {}) => ({
  urn: `${URN}:Template::tpl`,
  type: "runpod:index:Template",
  id: "t1",
  inputs: { name: "tpl", imageName: "me/x:1", isServerless: true, env, ...inputs },
  outputs: { templateId: "t1" },
});

test("the program contains no secret from the state, whether it is encrypted, plain or unmarked", () => {
  const env = {
    MODEL: "llama",
    MARKED: { ...SECRET, ciphertext: "v1:canary" },
    SHOWN: { ...SECRET, plaintext: '"canary"' },
    HF_TOKEN: "canary",
    DATABASE: "postgres://me:canary@db/x",
    UNMARKED: "hf_canaryCANARYcanary",
    CONN: "host=db password=canary",
    GPUS: 2,
  };
  const { output, messages } = pulumi([
    template(env, { dockerArgs: "python x.py --api-key=canary" }),
    endpoint({}, { gpuCount: { ...SECRET, plaintext: "2" } }),
    {
      urn: "urn:pulumi:dev::p::pulumi:providers:runpod::default",
      type: "pulumi:providers:runpod",
      inputs: { apiKey: "canary" },
    },
  ]);
  expect(output + messages.join("\n")).not.toContain("canary");
  expect(output).toContain('"MODEL": "llama"');
  for (const name of ["MARKED", "SHOWN", "HF_TOKEN", "DATABASE", "UNMARKED", "CONN", "dockerArgs"])
    expect(output).toContain(`config.requireSecret("tpl-${name}")`);
  expect(messages.filter((line) => line.includes("pulumi config set --secret"))).toHaveLength(7);
  expect(output).toContain('"GPUS": "2"');
  expect(output).toContain("// not managed: gpuCount ");
});

test("variables that are stored as one secret are read from the config as a whole", () => {
  const { output, messages } = pulumi([template({ ...SECRET, ciphertext: "v1:x" })]);
  expect(output).toContain('  env: config.requireSecretObject<Record<string, string>>("tpl-env"),\n');
  expect(output).toContain("//      pulumi config set --secret tpl-env\n");
  expect(messages).toContain('the config value tpl-env is JSON, such as {"NAME": "value"}');
  expect(messages.join()).not.toContain("does not manage");
});

test("a secret of the service becomes a Secret resource that reads its value from the config", () => {
  const secret = (value: unknown) => ({
    urn: `${URN}:Secret::hf`,
    type: "runpod:index:Secret",
    id: "s1",
    inputs: { name: "hf", description: "For downloads", value },
    outputs: {},
  });
  for (const value of ["canary", { ...SECRET, ciphertext: "v1:canary" }]) {
    const { output, messages, exitCode } = pulumi([secret(value)]);
    expect(output + messages.join("\n")).not.toContain("canary");
    expect(output).toContain(
      'new Secret("hf", {\n  adoptId: "s1",\n  name: "hf",\n  description: "For downloads",\n  value: config.requireSecret("hf-value"),\n}',
    );
    expect(exitCode).toBe(0);
  }
  expect(() => pulumi([secret("canary")], [], { importFile: true })).toThrow(/a secret cannot be imported/);
});

test.each([
  ["stack export", { version: 3, deployment: { manifest: {} } }],
  ["backend", { version: 3, checkpoint: { stack: "dev", latest: { manifest: {}, resources: [] } } }],
  ["backend, before the first update", { version: 3, checkpoint: { stack: "dev" } }],
  ["terraform state pull", { version: 4, terraform_version: "1.9.0", resources: [] }],
])("the state of an empty stack yields an empty program: %s", (_name, state) => {
  const from = written(JSON.stringify(state));
  const { output, messages, exitCode } = adoptState({ from });
  expect(output).toBe("// the state has no resources, so there is nothing to adopt\nexport {};\n");
  expect({ messages, exitCode }).toEqual({ messages: [expect.stringContaining("nothing to adopt")], exitCode: 0 });
  expect(JSON.parse(adoptState({ from, importFile: true }).output)).toEqual({ resources: [] });
});

test("a state whose version this release does not know is refused", () => {
  const from = written(JSON.stringify({ version: 99, deployment: { resources: [endpoint()] } }));
  expect(() => adoptState({ from })).toThrow("the state has version 99; this release reads 3 and 4");
  const terraformState = written(JSON.stringify({ version: 99, resources: [] }));
  expect(() => adoptState({ from: terraformState })).toThrow("is not a state that this version can read");
});

test("resources are left out, each with the reason, if they have no successor, no id, are only read, or are being deleted", () => {
  const { output, messages, exitCode } = pulumi(
    [
      endpoint(),
      endpoint({ urn: `${URN}:Endpoint::dying`, id: "e2", delete: true }),
      endpoint({ urn: `${URN}:Endpoint::read`, id: "e3", external: true }),
      endpoint({ urn: `${URN}:Endpoint::named`, id: "named", outputs: {} }),
      { urn: `${URN}:Pod::pod`, type: "runpod:index:Pod", id: "p1", inputs: {} },
      { ...template({}, { isServerless: false }), urn: `${URN}:Template::pods` },
      { urn: "urn:pulumi:dev::p::aws:s3/bucket:Bucket::b", type: "aws:s3/bucket:Bucket", id: "b", inputs: {} },
    ],
    [{ resource: { urn: `${URN}:Endpoint::half`, type: "runpod:index:Endpoint" }, type: "creating" }],
  );
  expect(output.match(/new \w+\(/g)).toEqual(["new ServerlessEndpoint("]);
  expect(exitCode).toBe(1);
  for (const [name, reason] of [
    ["dying", "has replaced it and still has to delete it"],
    ["read", "only reads it"],
    ["named", "does not contain its id"],
    ["Pod::pod", "this package does not manage pods"],
    ["Template::pods", "a template of pods"],
    ["half", "warning: the old tool was interrupted while creating"],
  ])
    expect(messages.join("\n")).toMatch(new RegExp(`${name}.*${reason}|${reason}.*${name}`));
  expect(messages.join("\n")).not.toMatch(/canary|aws/);
});

test("settings without a successor are reported only if they have a value", () => {
  const inputs = { bindEndpoint: true, hubReleaseId: "h", flashEnvironmentId: "", env: null, workersPFBTarget: 0 };
  const { output, messages } = pulumi([endpoint({}, inputs)]);
  expect(output).toContain("// not managed, stays as it is: bindEndpoint, hubReleaseId\n");
  expect(messages).toEqual([
    `${URN}:Endpoint::llama: the program does not manage bindEndpoint, hubReleaseId, which stay as they are at the service`,
  ]);
});

const dependent = (name: string, type: string, ...dependencies: string[]) => ({
  ...(type === "Endpoint" ? endpoint() : template({})),
  urn: `${URN}:${type}::${name}`,
  id: `id-${name}`,
  dependencies: dependencies.map((each) => `${URN}:${each}`),
});

const commands = (output: string) => [...output.matchAll(/^\W*(pulumi state delete .*)$/gm)].map(([, each]) => each);

test("the commands remove dependents first, and force removal only for protected resources", () => {
  const { output, exitCode } = pulumi([
    dependent("a", "Endpoint"),
    { ...dependent("b", "Template", "Endpoint::a"), protect: true },
    { ...dependent("c", "Endpoint"), propertyDependencies: { templateId: [`${URN}:Template::b`] } },
  ]);
  expect(exitCode).toBe(0);
  expect(commands(output)).toEqual([
    `pulumi state delete '${URN}:Endpoint::c'`,
    `pulumi state delete --force '${URN}:Template::b'`,
    `pulumi state delete '${URN}:Endpoint::a'`,
  ]);
  expect(output).toMatch(/Only after every command\n\/\/ +has succeeded, remove them from the old program/);
});

test.each([
  {},
  { importFile: true },
])("a resource is left out if a resource that stays in the old state depends on it: %j", (flags) => {
  const { output, messages, exitCode } = pulumi(
    [
      dependent("a", "Template"),
      dependent("b", "Template", "Template::a"),
      { ...dependent("pods", "Template", "Template::b"), inputs: { name: "pods", imageName: "i" } },
      dependent("free", "Endpoint", "Template::b"),
    ],
    [],
    flags,
  );
  expect(exitCode).toBe(1);
  expect(commands(output + messages.join("\n"))).toEqual([`pulumi state delete '${URN}:Endpoint::free'`]);
  expect(output).not.toMatch(/"id-[ab]"/);
  const text = messages.join("\n");
  expect(text).toMatch(/left out \S+::b: it cannot be removed from the old state, because \S+::pods stays/);
  expect(text).toMatch(/left out \S+::a: it cannot be removed from the old state, because \S+::b stays/);
});

test("an endpoint stays in the old state if a resource of another provider depends on it", () => {
  const alarm = { urn: "urn:pulumi:dev::p::aws:x:Alarm::a", type: "aws:x:Alarm", parent: `${URN}:Endpoint::llama` };
  expect(() => pulumi([endpoint(), alarm])).toThrow(/nothing to adopt.*\n.*because \S+Alarm::a stays there/);
});

test("a resource is left out while the old copy that it replaced awaits deletion, because no command can tell the two apart", () => {
  const { output, messages } = pulumi([endpoint(), endpoint({ id: "e0", delete: true }), template({})]);
  expect(output).not.toContain("ServerlessEndpoint");
  expect(commands(output)).toEqual([`pulumi state delete '${URN}:Template::tpl'`]);
  expect(messages.join("\n")).toMatch(
    /Endpoint::llama: the old state also has the resource that it replaces.*Run the old program/,
  );
});

test("if several resources share a record, the program declares the first one and the commands remove all of them", () => {
  const copy = { ...dependent("copy", "Endpoint", "Template::tpl"), id: "id-a" };
  const { output, messages, exitCode } = pulumi([template({}), dependent("a", "Endpoint"), copy]);
  expect(output.match(/adoptId: .*/g)).toEqual(['adoptId: "t1",', 'adoptId: "id-a",']);
  expect(exitCode).toBe(1);
  expect(messages).toEqual([
    `left out ${URN}:Endpoint::copy: it has the same id as ${URN}:Endpoint::a, and a program can declare a record only once`,
  ]);
  expect(commands(output)).toEqual(
    ["Endpoint::copy", "Endpoint::a", "Template::tpl"].map((each) => `pulumi state delete '${URN}:${each}'`),
  );
});

test("the endpoint types QB and LB become QUEUE and LOAD_BALANCER", () => {
  expect(pulumi([endpoint({}, { type: "LB" })]).output).toContain('type: "LOAD_BALANCER"');
  expect(pulumi([endpoint({}, { type: "QB" })]).output).toContain('type: "QUEUE"');
});

test("a type named after a built-in property, such as constructor, is reported as having no successor", () => {
  const odd = { urn: `${URN}:constructor::x`, type: "runpod:index:constructor", id: "x" };
  const { messages } = pulumi([endpoint(), odd]);
  expect(messages).toEqual([`left out ${odd.urn}: this package has no resource for the type runpod:index:constructor`]);
});

test("names with quotes, line breaks or code are escaped in the program and in the commands", () => {
  const name = 'it\'s "x"\n$(rm -rf .) `tick` // */ \u202e';
  const { output } = pulumi([endpoint({ urn: `${URN}:Endpoint::${name}` }, { name })]);
  expect(output).toContain(
    "pulumi state delete 'urn:pulumi:dev::p::runpod:index:Endpoint::it'\\''s \"x\" $(rm -rf .) `tick` // */  '",
  );
  expect(output).toContain('new ServerlessEndpoint("it\'s \\"x\\"\\n$(rm -rf .) `tick` // */ \\u{202e}"');
  expect(output).not.toContain("\u202e");
});

test("an explicit provider is declared with its key read from the config, and its options are kept", () => {
  const provider = "urn:pulumi:dev::p::pulumi:providers:runpod::prod account::6f";
  const { output } = pulumi([
    template({}, {}),
    endpoint({ provider, protect: true, retainOnDelete: true }),
    endpoint({
      urn: `${URN}:Endpoint::other`,
      id: "e9",
      outputs: { endpointId: "e9" },
      provider: `${URN}::x::default_0_1_5::7`,
    }),
  ]);
  expect(output).toContain('const prodAccountProvider = new ServerlessGpuProvider("prod account", {');
  expect(output).toContain('apiKey: config.requireSecret("prod-account-apiKey")');
  expect(output).toContain(
    "{ dependsOn: [tplTemplate], protect: true, retainOnDelete: true, provider: prodAccountProvider }",
  );
});

test.each([
  [undefined, '  service: "runpod",'],
  ["https://api.runpod.io/graphql", '  service: "runpod",'],
  ["https://gpu.example/graphql", '  graphqlUrl: "https://gpu.example/graphql",\n  queueUrl: "https://gpu.example",'],
  ["https://gpu.example/graphql?api_key=canary", 'graphqlUrl: config.requireSecret("eu-graphqlUrl")'],
  [{ ...SECRET, plaintext: '"canary"' }, 'graphqlUrl: config.requireSecret("eu-graphqlUrl")'],
])("the key of an explicit provider is sent only to that provider's service: %j", (apiUrl, code) => {
  const urn = "urn:pulumi:dev::p::pulumi:providers:runpod::eu";
  const { output, messages } = pulumi([
    { urn, type: "pulumi:providers:runpod", id: "6f", inputs: { apiKey: "canary", apiUrl } },
    endpoint({ provider: `${urn}::6f` }),
  ]);
  expect(output).toContain(code);
  expect(output + messages.join()).not.toContain("canary");
  const isRunpod = code.includes("runpod");
  expect(output.includes('service: "runpod"')).toBe(isRunpod);
  expect(messages.some((line) => line.includes("has an apiUrl that is not RunPod's"))).toBe(!isRunpod);
});

test("children of different components that share a name get distinct names", () => {
  const urn = (parent: string) => `urn:pulumi:dev::p::${parent}$runpod:index:Endpoint::llama`;
  const { output } = pulumi([endpoint({ urn: urn("a:b:C") }), endpoint({ urn: urn("a:b:D"), id: "e2" })]);
  expect(output.match(/new ServerlessEndpoint\("[^"]*"/g)).toEqual([
    'new ServerlessEndpoint("llama"',
    'new ServerlessEndpoint("llama-2"',
  ]);
});

test("the older provider's FLASHBOOT suffix becomes a setting, and ids are taken from the outputs", () => {
  const old = { id: "llama", outputs: { endpoint: { id: "e7" } } };
  const { output } = pulumi([endpoint(old, { name: "llama -fb", scalerValue: 4 })]);
  expect(output).toContain('adoptId: "e7"');
  expect(output).toContain('name: "llama"');
  expect(output).toContain('flashBootType: "FLASHBOOT"');
  expect(output).toContain("// not managed: scalerValue requires scalerType");
});

test("data center ids of the provider's version 2 become locations, and take precedence over its old locations", () => {
  const { output } = pulumi([endpoint({}, { locations: "US", dataCenterIds: ["EU-RO-1", "US-KS-2"] })]);
  expect(output).toContain('locations: ["EU-RO-1", "US-KS-2"]');
  expect(output).not.toContain("dataCenterIds");
});

test("a GPU pool whose name looks like a typo is declared, with the command that accepts it", () => {
  const { output } = pulumi([endpoint({}, { gpuIds: "HOPPER_142,ADA_24" })]);
  expect(output).toContain("pulumi config set serverless-gpu:acceptWords HOPPER_142");
  expect(output).toContain('gpuIds: ["HOPPER_142", "ADA_24"]');
});

test("instances, modules, tainted objects and deposed objects of a Terraform state are distinguished", () => {
  const attributes = { id: "e1", name: "a", gpu_pools: ["ADA_24"], template_id: "t" };
  const base = { mode: "managed", type: "runpod_serverless_endpoint", provider: 'provider["x/runpod/runpod"].eu' };
  const { output, messages } = terraform([
    {
      ...base,
      name: "all",
      module: "module.m",
      instances: [
        { index_key: 0, attributes },
        { index_key: "b", attributes },
      ],
    },
    {
      ...base,
      name: "bad",
      instances: [
        { status: "tainted", attributes },
        { deposed: "1f", attributes },
      ],
    },
  ]);
  expect(output).toContain("terraform state rm 'module.m.runpod_serverless_endpoint.all[\"b\"]'");
  expect(output).toContain('new ServerlessEndpoint("all-0"');
  expect(output).toContain('new ServerlessGpuProvider("eu"');
  expect(messages.join("\n")).toMatch(/bad: it is tainted.*\n.*bad: the old program has replaced it/);
});

test("a file that is not a state is refused without revealing its contents", () => {
  for (const text of ["canary", '{"canary":1}', "[]", "null", '{"version":3,"deployment":null}'])
    expect(() => adoptState({ from: written(text) })).toThrow(/is (not JSON|not a state)/);
  expect(() => adoptState({ from: written("canary") })).not.toThrow(/canary/);
  expect(() => adoptState({ from: written('{"encrypted_data":"canary"}') })).toThrow(/tofu state pull/);
  const other = { urn: "urn:pulumi:dev::p::aws:s3/bucket:Bucket::b", type: "aws:s3/bucket:Bucket", id: "b" };
  expect(() => pulumi([other])).toThrow("the state has no resources of a provider for RunPod");
  expect(() => adoptState({ from: path.join(folder, "none.json") })).toThrow(
    "none.json cannot be read: there is no such file or folder",
  );
  expect(() => adoptState({ from: folder })).toThrow(`${folder} cannot be read: it is a folder`);
});

test.each(["utf8", "utf16le", "utf16be"])("a state in %s with a byte order mark is read", (encoding) => {
  const state = JSON.stringify({ version: 3, deployment: { resources: [endpoint({}, { name: "größe" })] } });
  const bytes = Buffer.from(`\uFEFF${state}`, encoding === "utf8" ? "utf8" : "utf16le");
  const file = path.join(folder, `${encoding}.json`);
  writeFileSync(file, encoding === "utf16be" ? bytes.swap16() : bytes);
  expect(adoptState({ from: file }).output).toContain('name: "größe"');
});

test("the file for pulumi import uses unique names and contains no credential", () => {
  const auth = {
    urn: `${URN}:ContainerRegistryAuth::llama`,
    type: "runpod:index:ContainerRegistryAuth",
    id: "c1",
    inputs: {},
  };
  const { output, messages } = pulumi([endpoint(), { ...template({}), urn: `${URN}:Template::llama` }, auth], [], {
    importFile: true,
  });
  expect(JSON.parse(output).resources).toEqual([
    { type: "serverless-gpu:index:ServerlessEndpoint", name: "llama", id: "e1" },
    { type: "serverless-gpu:index:ServerlessTemplate", name: "llama-2", id: "t1" },
  ]);
  expect(messages.join("\n")).toContain("a registry credential cannot be imported");
});
