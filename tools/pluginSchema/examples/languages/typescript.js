const { block } = require("../text");

/** @typedef {import("../program").Node} Node */

/** @type {(node: Node) => string} */
function value(node) {
  if (node.is === "reference") return node.output === "" ? node.name : `${node.name}.${node.output}`;
  if (node.is === "literal") return JSON.stringify(node.value);
  if (node.is === "list") return `[${node.items.map(value).join(", ")}]`;
  return `{ ${node.entries.map(([key, each]) => `${key}: ${value(each)}`).join(", ")} }`;
}

/** @param {import("../program").Program} program */
function typescript({ secrets, statements, outputs }) {
  const pulumi = secrets.length > 0 ? [`import * as pulumi from "@pulumi/pulumi";`] : [];
  const config = secrets.length > 0 ? ["const config = new pulumi.Config();"] : [];
  const lines = statements.map(({ is, name, type, args, isUsed }) => {
    const fields = args.map(([key, each]) => `${key}: ${value(each)},`);
    const given = args.length > 0 ? block("{", fields, "}", "  ") : "";
    const call = is === "resource" ? `new gpu.${type}("${name}", ${given})` : `gpu.${type}Output(${given})`;
    return `${isUsed ? `const ${name} = ` : ""}${call};`;
  });
  return [
    ...pulumi,
    `import * as gpu from "pulumi-serverless-gpu-plugin";`,
    "",
    ...config,
    ...secrets.map((name) => `const ${name} = config.requireSecret("${name}");`),
    ...lines,
    "",
    ...outputs.map(([name, output]) => `export const ${name} = ${value(output)};`),
  ].join("\n");
}

module.exports = { typescript };
