// Writes the examples of a resource or function, in the form that Pulumi's registry and its code
// generators expect in a description.
const { csharp } = require("./languages/csharp");
const { go } = require("./languages/go");
const { java } = require("./languages/java");
const { python } = require("./languages/python");
const { typescript } = require("./languages/typescript");
const { yaml } = require("./languages/yaml");
const { resolveProgram } = require("./program");
const { EXAMPLES } = require("./sources");

const LANGUAGES = { typescript, python, csharp, go, java, yaml };

/**
 * Returns a schema in which the description of every resource and function has an example.
 * @template {Parameters<typeof resolveProgram>[1]} T
 * @param {T} schema
 * @returns {T}
 */
function withExamples(schema) {
  const resources = Object.keys(schema.resources).map(nameOf);
  const described = (/** @type {Record<string, import("../types").Schema>} */ all) =>
    Object.fromEntries(
      Object.entries(all).map(([token, each]) => [
        token,
        { ...each, description: `${each.description}\n\n${exampleOf(token, schema, resources)}` },
      ]),
    );
  return { ...schema, resources: described(schema.resources), functions: described(schema.functions) };
}

/**
 * @param {string} token
 * @param {Parameters<typeof resolveProgram>[1]} schema
 * @param {readonly string[]} resources
 */
function exampleOf(token, schema, resources) {
  const example = EXAMPLES[nameOf(token)];
  if (!example) throw new Error(`${token} has no example: add one to tools/pluginSchema/examples/sources.js`);
  const program = resolveProgram(example, schema);
  const programs = Object.entries(LANGUAGES).map(
    ([language, write]) => `\`\`\`${language}\n${write(program, resources)}\n\`\`\``,
  );
  return [
    "{{% examples %}}\n## Example Usage\n{{% example %}}",
    `### ${example.title}`,
    ...programs,
    "{{% /example %}}\n{{% /examples %}}",
    ...(example.imported ? [`## Import\n\nBy the id:\n\n${importOf(token, program, example.imported)}`] : []),
  ].join("\n\n");
}

/**
 * @param {string} token
 * @param {import("./program").Program} program
 * @param {string} id
 */
function importOf(token, { statements }, id) {
  const name = statements.find(({ type }) => type === nameOf(token))?.name;
  return `\`\`\`sh\npulumi import ${token} ${name} ${id}\n\`\`\``;
}

/** @param {string} token */
const nameOf = (token) => token.replace(/^.*:/, "");

module.exports = { withExamples };
