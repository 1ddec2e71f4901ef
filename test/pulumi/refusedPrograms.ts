/**
 * Mistakes that are found before anything is written, because all resources of the program are
 * checked first.
 */
export const EARLY = [
  "argument",
  "import",
  "replaceWith",
  "adoptId",
  "adoptTemplate",
  "smokeTest",
  "provider",
  "providerUrls",
  "commands",
  "transformed",
];

/**
 * Mistakes that are found later, after resources that do not depend on them have been registered.
 */
export const LATE = ["command", "output", "noSelector", "promise"];

/**
 * Programs with one mistake each, and two endpoints and a template, which an early mistake also
 * changes.
 */
export const PROGRAMS = `
const pulumi = require("@pulumi/pulumi");
const gpu = require("pulumi-serverless-gpu");
const { ServerlessEndpoint, ServerlessGpuProvider, ServerlessTemplate, SmokeTest } = gpu;

const right = { gpuIds: "AMPERE_16", templateId: "template" };
const using = (templateId) => new ServerlessEndpoint("bad", { ...right, templateId });

const MISTAKES = {
  argument: () => new ServerlessEndpoint("bad", { ...right, workersMax: -1 }),
  import: () => new ServerlessEndpoint("bad", right, { import: "abc" }),
  replaceWith: ({ one }) => new ServerlessEndpoint("bad", { ...right, adoptId: "abc" }, { replaceWith: [one] }),
  adoptId: () => ["bad", "worse"].map((name) => new ServerlessEndpoint(name, { ...right, adoptId: "abc" })),
  adoptTemplate: () => ["bad", "worse"].map((name) => new ServerlessTemplate(name, { imageName: "a:1", adoptId: "abc" })),
  smokeTest: ({ one }) => new SmokeTest("bad", { endpointId: one.endpointId, input: 3 }),
  provider: () => new ServerlessEndpoint("bad", right, { provider: new ServerlessGpuProvider("bad", {}) }),
  providerUrls: () =>
    new ServerlessEndpoint("bad", right, { provider: new ServerlessGpuProvider("bad", { apiKey: "key" }) }),
  commands: () => new ServerlessTemplate("bad", { imageName: "a:1", dockerArgs: "a", command: { cmd: ["b"] } }),
  transformed: () =>
    new ServerlessEndpoint("bad", right, { import: "abc", transformations: [({ props, opts }) => ({ props, opts })] }),
  command: () => new ServerlessTemplate("bad", { imageName: "a:1", command: Promise.resolve({ cmd: "b" }) }),
  output: () => using(gpu.getServerlessTemplateOutput({ id: "typo" }).id),
  noSelector: () => using(gpu.getServerlessTemplateOutput({}).id),
  promise: () => using(gpu.getServerlessTemplate({ id: "typo" }).then(({ id }) => id)),
};

/** With isLater, the resources are declared in a promise that nothing awaits. */
exports.program = (mistake, isLater) => async () => {
  const changed = ${JSON.stringify(EARLY)}.includes(mistake);
  const declare = () => {
    const template = new ServerlessTemplate("template", { imageName: changed ? "image:2" : "image:1" });
    const one = new ServerlessEndpoint("one", { ...right, templateId: template.id, workersMax: changed ? 2 : 1 });
    const two = new ServerlessEndpoint("two", { ...right, workersMax: changed ? 2 : 1 });
    MISTAKES[mistake]?.({ one, two, template });
  };
  if (isLater) Promise.resolve().then(declare);
  else declare();
};
`;

/**
 * Runs `up` of inline programs: one for each argument, in the stack `awaited`, and at the same time
 * in `later`. On a busy machine, gRPC may fail to connect the program to the engine before the
 * program has registered anything. Such an `up` is run again.
 */
export const INLINE = `
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
const { program } = require("./programs.js");

async function up(stack, mistake) {
  const isLater = stack.name === "later";
  const target = isLater && mistake ? ["**::one", "**::two"] : undefined;
  let output;
  let failed;
  do {
    output = "";
    const onOutput = (text) => { output += text; };
    failed = await stack.up({ program: program(mistake, isLater), target, onOutput }).then(() => false, () => true);
  } while (output.includes("14 UNAVAILABLE: No connection established"));
  return { stackName: stack.name, mistake, failed, output };
}

const create = (stackName) =>
  LocalWorkspace.createOrSelectStack({ stackName, projectName: "test", program() {} }, { workDir: __dirname });

/** The names of the resources that a stack has in the end. A refused program must not restore one. */
async function namesOf(stack) {
  const { deployment } = await stack.exportStack();
  return deployment.resources.map(({ urn }) => urn.split("::").pop());
}

(async () => {
  const stacks = await Promise.all(["awaited", "later"].map(create));
  const results = [];
  for (const mistake of [undefined, ...process.argv.slice(2)]) {
    results.push(...(await Promise.all(stacks.map((stack) => up(stack, mistake)))));
  }
  const names = await Promise.all(stacks.map(namesOf));
  require("fs").writeFileSync("results.json", JSON.stringify({ results, names }));
})();
`;
