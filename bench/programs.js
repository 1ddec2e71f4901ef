/** The inputs of every endpoint in all forms: most of the existing inputs, in normal form. */
const INPUTS = {
  gpuIds: "AMPERE_24,ADA_24",
  templateId: "template-1",
  locations: "CZ,RO",
  flashBootType: "FLASHBOOT",
  scalerType: "QUEUE_DELAY",
  scalerValue: 4,
  workersMin: 0,
  workersMax: 3,
};

/** The string in state that names the provider that does nothing. */
const FLOOR_TEXT = 'exports.handler = () => require("floor");';

/** Our own resource. */
const ours = program('const { ServerlessEndpoint: Endpoint } = require("pulumi-serverless-gpu");');

/** The same resource from the engine's point of view, served by a provider that does nothing. */
const floor = program(`
const pulumi = require("@pulumi/pulumi");
class Endpoint extends pulumi.CustomResource {
  constructor(name, args) {
    super("pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint", name, { ...args, __provider: ${JSON.stringify(FLOOR_TEXT)} });
  }
}`);

/**
 * The same resource of the provider plugin, with real lists instead of comma-separated strings, and
 * with the outputs that an SDK declares.
 */
const plugin = program(`
const pulumi = require("@pulumi/pulumi");
class Endpoint extends pulumi.CustomResource {
  constructor(name, { gpuIds, locations, ...others }) {
    const lists = { gpuIds: gpuIds.split(","), locations: locations.split(",") };
    const outputs = { queueUrl: undefined, networkVolumeId: undefined };
    super("serverless-gpu:index:ServerlessEndpoint", name, { ...others, ...lists, ...outputs });
  }
}`);

/**
 * The same resource with only the fields of the contract's first version, which the public Go
 * providers support: for these providers and for both of our forms.
 */
const common = {
  peer: commonProgram(`super("runpod:index:Endpoint", name, args);`),
  dynamic: commonProgram("", 'require("pulumi-serverless-gpu").ServerlessEndpoint'),
  plugin: commonProgram(`
    const lists = { gpuIds: args.gpuIds.split(","), locations: args.locations.split(",") };
    super("serverless-gpu:index:ServerlessEndpoint", name, { ...args, ...lists, queueUrl: undefined });`),
};

/**
 * @param {string} superCall the body of its constructor, if it has one
 * @param {string} [base] the class that it extends
 */
function commonProgram(superCall, base = 'require("@pulumi/pulumi").CustomResource') {
  const body = superCall === "" ? "" : `constructor(name, args) { ${superCall} }`;
  return program(
    `
const { flashBootType, ...fields } = ${JSON.stringify(INPUTS)};
class Endpoint extends ${base} { ${body} }
const workersMax = Number(process.env.WORKERS ?? 3);`,
    '{ ...fields, workersMax, networkVolumeId: "" }',
  );
}

/**
 * A dynamic provider as in Pulumi's documentation, where the engine gets the provider's source
 * code. Its methods also do nothing.
 */
const usualWay = program(`
const pulumi = require("@pulumi/pulumi");
const provider = {
  async configure(request) { return require("floor").configure(request); },
  async check(olds, news) { return require("floor").check(olds, news); },
  async diff(id, olds, news) { return require("floor").diff(id, olds, news); },
  async create(inputs) { return require("floor").create(inputs); },
  async read(id, props) { return require("floor").read(id, props); },
  async update(id, olds, news) { return require("floor").update(id, olds, news); },
  async delete(id, props) { return require("floor").delete(id, props); },
};
class Endpoint extends pulumi.dynamic.Resource {
  constructor(name, args) { super(provider, name, args); }
}`);

/**
 * A program that declares `COUNT` endpoints, with `IDLE_TIMEOUT` seconds of idle timeout.
 * @param {string} declaration declares the class `Endpoint`
 * @param {string} [inputs] as source code
 */
function program(declaration, inputs = JSON.stringify(INPUTS)) {
  return `${declaration}
for (let number = 1; number <= Number(process.env.COUNT); number++) {
  const name = \`endpoint-\${number}\`;
  new Endpoint(name, { ...${inputs}, name, idleTimeout: Number(process.env.IDLE_TIMEOUT) });
}
`;
}

module.exports = { INPUTS, FLOOR_TEXT, ours, floor, plugin, usualWay, common };
