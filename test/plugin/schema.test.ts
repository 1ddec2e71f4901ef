import { readFileSync } from "node:fs";
import path from "node:path";
import schema from "../../plugin/schema.json";
import { SETTING_VARIABLES } from "../../provider/connection/config";
import { RESOURCE_TYPES } from "../../provider/engine/resourceTypes";
import { SOURCES } from "../../provider/functions/sources";
import { buildSchema } from "../../tools/pluginSchema/schema";

/** What the schema says of a resource or of a function. */
interface Described {
  readonly description?: string;
  readonly inputProperties?: Record<string, { readonly description?: string }>;
  readonly inputs?: { readonly properties: Record<string, { readonly description?: string }> };
}

/** Returns the path and the text of every description in a value. */
function descriptionsIn(value: unknown, place: readonly string[] = []): [place: string, text: string][] {
  if (typeof value === "string") return place.at(-1) === "description" ? [[place.join("."), value]] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => descriptionsIn(each, [...place, name]));
}

const FILE = path.resolve(__dirname, "../../plugin/schema.json");

test("plugin/schema.json is up to date: npm run docs:schema writes it", () => {
  expect(JSON.parse(readFileSync(FILE, "utf8"))).toEqual(
    JSON.parse(JSON.stringify(buildSchema(RESOURCE_TYPES, SOURCES, SETTING_VARIABLES))),
  );
});

test("the schema contains no defaults, which programs would set and state would keep", () => {
  expect(JSON.stringify(schema)).not.toMatch(/"default(Info)?":/);
});

test("descriptions mention nothing that exists only in TypeScript programs", () => {
  const mentions = descriptionsIn(schema).filter(([, text]) =>
    /dynamic provider|GpuTier`|endpoint\.endpointId/.test(text),
  );
  expect(mentions.map(([place]) => place)).toEqual([]);
});

test("credentials are secret inputs, and inputs that cannot change in place are marked as replacing the resource", () => {
  const inputs = (name: "ContainerRegistryAuth" | "NetworkVolume" | "Secret" | "ServerlessEndpoint") =>
    Object.entries<object>(schema.resources[`serverless-gpu:index:${name}`].inputProperties);
  const marked = (name: Parameters<typeof inputs>[0], mark: string) =>
    inputs(name).flatMap(([field, each]) => (mark in each ? [field] : []));
  expect(marked("ContainerRegistryAuth", "secret")).toEqual(["username", "password"]);
  expect(marked("ContainerRegistryAuth", "willReplaceOnChanges")).toEqual(["name"]);
  expect(marked("Secret", "secret")).toEqual(["value"]);
  expect(marked("Secret", "willReplaceOnChanges")).toEqual(["name"]);
  // A change of these is refused, because a new volume would be empty.
  expect(marked("NetworkVolume", "willReplaceOnChanges")).toEqual([]);
  expect(marked("ServerlessEndpoint", "willReplaceOnChanges")).toEqual(["type"]);
});

test("the schema contains no unions, because Python cannot read one with a list and Java cannot mix an enum with a string", () => {
  expect(JSON.stringify(schema)).not.toContain("oneOf");
});

test("every resource and function has a description, and so does each of their properties", () => {
  const described: Record<string, Described> = { ...schema.resources, ...schema.functions };
  const undescribed = Object.entries(described).flatMap(([name, { description, inputProperties = {}, ...each }]) => {
    const inputs = { ...inputProperties, ...each.inputs?.properties };
    return [
      ...(description ? [] : [name]),
      ...Object.entries(inputs).flatMap(([input, { description: of }]) => (of ? [] : [`${name}.${input}`])),
    ];
  });
  expect(undescribed).toEqual([]);
  const declared = [...RESOURCE_TYPES.map(({ type }) => type.split(":").at(-1)), ...Object.keys(SOURCES)].map(
    (name) => `serverless-gpu:index:${name}`,
  );
  expect(Object.keys(described).sort()).toEqual(declared.sort());
});

test("every resource and function has one example in each of the six languages", () => {
  const lacking = Object.entries({ ...schema.resources, ...schema.functions }).flatMap(([name, { description }]) => {
    const languages = [...description.matchAll(/^```(\w+)\n/gm)].flatMap(([, each]) => (each === "sh" ? [] : [each]));
    const isWhole = /\{\{% examples %\}\}\n## Example Usage\n\{\{% example %\}\}/.test(description);
    return isWhole && languages.join() === "typescript,python,csharp,go,java,yaml" ? [] : [`${name}: ${languages}`];
  });
  expect(lacking).toEqual([]);
});

test("a property described as an integer has the type integer, because Java and Go programs could not set it otherwise", () => {
  const properties = [...Object.values(schema.resources), ...Object.values(schema.types)].flatMap((each) =>
    Object.entries<{ type?: string; description: string }>({
      ...("inputProperties" in each ? each.inputProperties : {}),
      ...("properties" in each ? each.properties : {}),
    }),
  );
  const described = properties.filter(([, { description }]) => /\b(whole|integer)\b/.test(description));
  expect(described.length).toBeGreaterThan(10);
  expect(described.filter(([, { type }]) => type !== "integer")).toEqual([]);
});

test("counters are integers, and only values that can have a fraction are numbers", () => {
  const fractions = /price|cost|spend|amount|seconds|balance|discount|scalerValue|maxFailed|memoryInGb|Mbps/i;
  const numbers = new Set<string>();
  JSON.stringify(schema, (key, value) => {
    if (value?.type === "number") numbers.add(key);
    return value;
  });
  expect([...numbers].filter((name) => !fractions.test(name))).toEqual([]);
});

test("the failure action of a rollout is an enum, and a nested key is secret", () => {
  const { properties } = schema.types["serverless-gpu:index:RollOut"];
  expect(properties.onFailure).toMatchObject({ $ref: "#/types/serverless-gpu:index:RollOutFailureAction" });
  expect(schema.types["serverless-gpu:index:SmokeTestStorage"].properties.accessSecret).toMatchObject({ secret: true });
});

test("no type is named Args, because generated code adds that name itself", () => {
  expect(Object.keys(schema.types).filter((name) => name.endsWith("Args"))).toEqual([]);
});

test("each provider setting names its environment variable, and results that contain secrets name their output form", () => {
  for (const [name, { description }] of Object.entries(schema.config.variables))
    expect(description).toContain(`\`${SETTING_VARIABLES[name as keyof typeof SETTING_VARIABLES]}\``);
  for (const name of ["getPod", "getServerlessTemplateEnv"] as const)
    expect(schema.functions[`serverless-gpu:index:${name}`].description).toContain("Use the output form");
});
