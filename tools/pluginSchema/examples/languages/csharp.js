const { block, pascal } = require("../text");

/** @typedef {import("../program").Node} Node */

/** @type {(node: Node) => string} */
function value(node) {
  if (node.is === "reference") {
    if (node.from === "function") return `${node.name}.Apply(each => each.${pascal(node.output)})`;
    return node.output === "" ? node.name : `${node.name}.${pascal(node.output)}`;
  }
  if (node.is === "literal") return JSON.stringify(node.value);
  if (node.is === "list") return `new[] { ${node.items.map(value).join(", ")} }`;
  if (node.is === "object") {
    const fields = node.entries.map(([key, each]) => `${pascal(key)} = ${value(each)},`);
    return block(`new ServerlessGpu.Inputs.${node.type}Args\n{`, fields, "}", "    ");
  }
  if (node.isAny) {
    const entries = node.entries.map(([key, each]) => `["${key}"] = ${value(each)},`);
    return block("new Dictionary<string, object?>\n{", entries, "}", "    ");
  }
  const entries = node.entries.map(([key, each]) => `{ "${key}", ${value(each)} },`);
  return block("new()\n{", entries, "}", "    ");
}

/** @param {import("../program").Program} program */
function csharp({ secrets, statements, outputs }) {
  const lines = statements.map(({ is, name, type, args, isUsed }) => {
    const fields = args.map(([key, each]) => `${pascal(key)} = ${value(each)},`);
    const given = args.length > 0 ? block("new()\n{", fields, "}", "    ") : "";
    const call =
      is === "resource"
        ? `new ServerlessGpu.${type}("${name}", ${given})`
        : `ServerlessGpu.${pascal(type)}.Invoke(${given})`;
    return `${isUsed ? `var ${name} = ` : ""}${call};`;
  });
  const results = outputs.map(([name, output]) => `["${name}"] = ${value(output)},`);
  return [
    "using System.Collections.Generic;",
    "using Pulumi;",
    "using ServerlessGpu = Pulumi.ServerlessGpu;",
    "",
    block(
      "return await Deployment.RunAsync(() =>\n{",
      [
        ...(secrets.length > 0 ? ["var config = new Config();"] : []),
        ...secrets.map((name) => `var ${name} = config.RequireSecret("${name}");`),
        ...lines,
        block("return new Dictionary<string, object?>\n{", results, "};", "    "),
      ],
      "});",
      "    ",
    ),
  ].join("\n");
}

module.exports = { csharp };
