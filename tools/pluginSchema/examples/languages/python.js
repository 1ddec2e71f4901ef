const { block, snake } = require("../text");

/** @typedef {import("../program").Node} Node */

/** @type {(node: Node) => string} */
function value(node) {
  if (node.is === "reference") return [snake(node.name), ...(node.output ? [snake(node.output)] : [])].join(".");
  if (node.is === "literal") {
    if (typeof node.value === "boolean") return node.value ? "True" : "False";
    return JSON.stringify(node.value);
  }
  if (node.is === "list") return `[${node.items.map(value).join(", ")}]`;
  const name = (/** @type {string} */ key) => (node.is === "object" ? snake(key) : key);
  return `{${node.entries.map(([key, each]) => `"${name(key)}": ${value(each)}`).join(", ")}}`;
}

/** @param {import("../program").Program} program */
function python({ secrets, statements, outputs }) {
  const lines = statements.map(({ is, name, type, args, isUsed }) => {
    const given = args.map(([key, each]) => `${snake(key)}=${value(each)},`);
    const fields = is === "resource" ? [`"${name}",`, ...given] : given;
    const called = is === "resource" ? `gpu.${type}` : `gpu.${snake(type)}_output`;
    const call = fields.length > 0 ? block(`${called}(`, fields, ")", "    ") : `${called}()`;
    return `${isUsed ? `${snake(name)} = ` : ""}${call}`;
  });
  return [
    "import pulumi",
    "import pulumi_serverless_gpu as gpu",
    "",
    ...(secrets.length > 0 ? ["config = pulumi.Config()"] : []),
    ...secrets.map((name) => `${snake(name)} = config.require_secret("${name}")`),
    ...lines,
    "",
    ...outputs.map(([name, output]) => `pulumi.export("${name}", ${value(output)})`),
  ].join("\n");
}

module.exports = { python };
