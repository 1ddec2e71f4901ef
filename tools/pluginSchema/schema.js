// Builds the schema of the provider plugin from the types and the doc comments of the dynamic form.
const { Declarations } = require("./declarations");
const { withExamples } = require("./examples");
const { forEveryLanguage, MODULE, Translator } = require("./types");

/** @typedef {import("./types").Schema} Schema */
/** @typedef {import("./declarations").Property} Property */

const ENUMS = ["GpuTier", "Location", "ScalerType", "FlashBootType", "EndpointType", "RollOutFailureAction"];

/**
 * @typedef {object} Source a data source: its row in provider/functions/sources.ts
 * @property {string} [resource] the resource that has the same settings
 * @property {string} [wrapper] the name under which it returns a result that is no object
 * @property {readonly string[]} [secrets] names of secret results
 */

/**
 * @typedef {object} ResourceFacts
 * @property {string} type the type of the dynamic form
 * @property {string} [noun] what messages call a record that the resource manages
 * @property {readonly string[]} outputs
 * @property {readonly string[]} [optionalOutputs] outputs that only some resources have
 * @property {readonly string[]} [secrets] inputs that are secret in every program
 * @property {readonly string[]} [fixed] inputs whose change replaces the resource
 */

/**
 * Returns the schema. `facts` are those of the resources.
 * @param {readonly ResourceFacts[]} facts
 * @param {Readonly<Record<string, Source>>} sources the data sources by their names
 * @param {Readonly<Record<string, string>>} settingVariables their environment variables
 * @returns {Schema}
 */
function buildSchema(facts, sources, settingVariables) {
  const declarations = new Declarations();
  const translator = new Translator(declarations, ENUMS);
  const settings = translator.objectOf(declarations.propertiesOf(declarations.typeNamed("ServerlessGpuProviderArgs")));
  settings.properties = withEnvironment(settings.properties, settingVariables);
  const { apiKeyEnv, ...variables } = settings.properties;
  const resources = facts.map((each) => resourceOf(each, declarations, translator));
  const outputsOf = (/** @type {string | undefined} */ name) =>
    /** @type {Record<string, Schema>} */ (Object.fromEntries(resources)[`${MODULE}:${name}`]?.properties ?? {});
  const functions = Object.entries(sources).map(([name, each]) =>
    functionOf(name, each, declarations, translator, outputsOf(each.resource)),
  );
  const listed = /** @type {{ properties: Record<string, Schema> }} */ (translator.types[`${MODULE}:Endpoint`]);
  listed.properties = likeResource(listed.properties, outputsOf("ServerlessEndpoint"));
  const kinds = facts
    .flatMap(({ noun }) => (noun === undefined ? [] : `${noun}s`))
    .join(", ")
    .replace(/, ([^,]*)$/, " and $1");
  const description = `Serverless GPU endpoints of RunPod, and of any service with the same interfaces: ${kinds}. Not affiliated with RunPod.`;
  return withExamples({
    name: "serverless-gpu",
    displayName: "Serverless GPU",
    description,
    keywords: ["pulumi", "serverless", "gpu", "runpod", "category/cloud", "kind/native"],
    license: "Apache-2.0",
    publisher: "pulumi-serverless-gpu contributors",
    config: { variables: withSecrets(variables, ["apiKey"]) },
    provider: {
      description: declarations.descriptionOf("ServerlessGpuProvider"),
      inputProperties: withSecrets(settings.properties, ["apiKey"]),
    },
    types: translator.types,
    resources: Object.fromEntries(resources),
    functions: Object.fromEntries(functions),
    language: { ...LANGUAGES, nodejs: { ...LANGUAGES.nodejs, packageDescription: description } },
  });
}

/** Pulumi keeps secrets of a function only in its output form. */
const KEEPS_SECRETS =
  "Use the output form, which keeps its secrets secret in state and in what is printed. The direct form returns them as plain values.";

const LANGUAGES = {
  nodejs: {
    packageName: "pulumi-serverless-gpu-plugin",
    dependencies: { "@pulumi/pulumi": "^3.216.0" },
    respectSchemaVersion: true,
  },
  python: {
    packageName: "pulumi_serverless_gpu",
    requires: { pulumi: ">=3.216.0,<4.0.0" },
    respectSchemaVersion: true,
    pyproject: { enabled: true },
  },
  go: {
    importBasePath: "pulumi-serverless-gpu/sdk/go/serverlessgpu",
    rootPackageName: "serverlessgpu",
    generateResourceContainerTypes: true,
    respectSchemaVersion: true,
  },
  csharp: {
    namespaces: { "serverless-gpu": "ServerlessGpu" },
    packageReferences: { Pulumi: "3.*" },
    respectSchemaVersion: true,
  },
  java: { buildFiles: "gradle", dependencies: { "com.pulumi:pulumi": "1.16.2" } },
};

/**
 * @param {ResourceFacts} facts
 * @param {import("./declarations").Declarations} declarations
 * @param {Translator} translator
 * @returns {[string, Schema]}
 */
function resourceOf({ type, outputs, optionalOutputs = [], secrets = [], fixed = [] }, declarations, translator) {
  const name = type.split(":").at(-1) ?? type;
  const args = declarations.propertiesOf(declarations.typeNamed(`${name}Args`));
  const members = declarations.propertiesOf(declarations.typeNamed(name));
  const inputs = translator.objectOf(args);
  const properties = outputs.map((output) => {
    // A property that is both an input and an output has the description of the input.
    const property = [...args, ...members].find((each) => each.name === output);
    if (!property) throw new Error(`${name} has no output ${output}`);
    return [output, translator.propertySchema(property, { isOutput: true })];
  });
  const inputProperties = withSecrets(inputs.properties, secrets);
  for (const field of fixed) Object.assign(inputProperties[field] ?? {}, { willReplaceOnChanges: true });
  return [
    `${MODULE}:${name}`,
    {
      description: declarations.descriptionOf(name),
      properties: withSecrets(Object.fromEntries(properties), secrets),
      required: outputs.filter((output) => !optionalOutputs.includes(output)),
      inputProperties,
      requiredInputs: inputs.required,
      aliases: [{ type }],
    },
  ];
}

/**
 * @param {string} name
 * @param {Source} source
 * @param {import("./declarations").Declarations} declarations
 * @param {Translator} translator
 * @param {Readonly<Record<string, Schema>>} settings the outputs of the resource that has the same
 * settings
 * @returns {[string, Schema]}
 */
function functionOf(name, { wrapper, secrets = [] }, declarations, translator, settings) {
  const { checker } = declarations;
  const { description, args, result } = declarations.functionNamed(name);
  const inputs = args && translator.objectOf(declarations.propertiesOf(args));
  const type = checker.getNonNullableType(result);
  const members = wrapper
    ? [{ name: wrapper, type, isOptional: false, description, byDefault: undefined }]
    : declarations.propertiesOf(type);
  const { properties, required } = translator.objectOf(members, { isOutput: true });
  return [
    `${MODULE}:${name}`,
    {
      description: forEveryLanguage(secrets.length > 0 ? `${description}\n\n${KEEPS_SECRETS}` : description),
      ...(inputs && { inputs: { type: "object", ...inputs } }),
      outputs: {
        type: "object",
        properties: withSecrets(wrapper ? properties : likeResource(properties, settings), secrets),
        // There may be no result at all.
        required: result === type ? required : [],
      },
    },
  ];
}

/**
 * Returns the properties. Those that the resource also has are declared as in the resource, with
 * real lists.
 * @param {Record<string, Schema>} properties
 * @param {Readonly<Record<string, Schema>>} settings
 * @returns {Record<string, Schema>}
 */
function likeResource(properties, settings) {
  const entries = Object.keys(properties).map((each) => [each, settings[each] ?? properties[each]]);
  return Object.fromEntries(entries);
}

/**
 * Returns the provider's settings, each with its environment variable.
 * @param {Record<string, Schema>} properties
 * @param {Readonly<Record<string, string>>} variables
 * @returns {Record<string, Schema>}
 */
function withEnvironment(properties, variables) {
  const named = Object.entries(properties).map(([name, each]) => {
    const variable = variables[name];
    const note = variable && `\n\nThe default provider also reads the environment variable \`${variable}\`.`;
    return [name, note ? { ...each, description: `${each.description}${note}` } : each];
  });
  return Object.fromEntries(named);
}

/**
 * @param {Record<string, Schema>} properties
 * @param {readonly string[]} names
 * @returns {Record<string, Schema>}
 */
function withSecrets(properties, names) {
  const marked = Object.entries(properties).map(([name, each]) => [
    name,
    names.includes(name) ? { ...each, secret: true } : each,
  ]);
  return Object.fromEntries(marked);
}

module.exports = { buildSchema };
