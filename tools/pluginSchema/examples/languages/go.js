const { ANY } = require("../program");
const { block, pascal } = require("../text");

/** @typedef {import("../program").Node} Node */

/** @type {Readonly<Record<string, string>>} */
const TYPES = { string: "String", integer: "Int", number: "Float64", boolean: "Bool", [ANY]: "" };

/** @type {(node: Node) => string} */
function value(node) {
  if (node.is === "reference") {
    if (node.output === "") return node.name;
    if (node.from === "function") return `${node.name}.${pascal(node.output)}()`;
    return node.output === "id" ? `${node.name}.ID()` : `${node.name}.${pascal(node.output)}`;
  }
  if (node.is === "literal") return `pulumi.${TYPES[node.type]}(${JSON.stringify(node.value)})`;
  if (node.is === "list") return `pulumi.${TYPES[node.type]}Array{${node.items.map(value).join(", ")}}`;
  if (node.is === "object") return fields(`&serverlessgpu.${node.type}Args{`, node.entries, pascal);
  return fields(`pulumi.${TYPES[node.type]}Map{`, node.entries, (key) => `"${key}"`);
}

/**
 * Returns a literal with its values in a column, as gofmt writes it: a value of several lines
 * begins a new column.
 * @param {string} open
 * @param {readonly import("../program").Entry[]} entries
 * @param {(key: string) => string} nameOf
 */
function fields(open, entries, nameOf) {
  const rows = entries.map(([key, each]) => ({ name: `${nameOf(key)}:`, text: value(each) }));
  const isLong = (/** @type {number} */ at) => rows[at]?.text.includes("\n") ?? true;
  const lines = rows.map(({ name, text }, at) => {
    if (isLong(at)) return `${name} ${text},`;
    let [first, last] = [at, at];
    while (!isLong(first - 1)) first -= 1;
    while (!isLong(last + 1)) last += 1;
    const width = Math.max(...rows.slice(first, last + 1).map((row) => row.name.length));
    return `${name.padEnd(width)} ${text},`;
  });
  return block(open, lines, "}", "\t");
}

/**
 * Returns the name of a function in Go: one that is named after a resource begins with Lookup.
 * @param {string} type
 * @param {readonly string[]} resources
 */
function functionName(type, resources) {
  const noun = type.replace(/^get/, "");
  return `${resources.includes(noun) ? "Lookup" : "Get"}${noun}Output`;
}

/**
 * @param {import("../program").Program} program
 * @param {readonly string[]} resources names of all resources
 */
function go({ secrets, statements, outputs }, resources) {
  // It declares `err`.
  const first = statements.findIndex(({ is }) => is === "resource");
  const lines = statements.map(({ is, name, type, args, isUsed }, at) => {
    if (is === "function") {
      const called = functionName(type, resources);
      const given = args.length > 0 ? `, ${fields(`serverlessgpu.${called}Args{`, args, pascal)}` : "";
      return `${name} := serverlessgpu.${called}(ctx${given})`;
    }
    const given = fields(`&serverlessgpu.${type}Args{`, args, pascal);
    const call = `serverlessgpu.New${type}(ctx, "${name}", ${given})`;
    return block(
      `${isUsed ? `${name}, err :=` : `_, err ${at === first ? ":=" : "="}`} ${call}\nif err != nil {`,
      ["return err"],
      "}",
      "\t",
    );
  });
  const config = [
    `settings := config.New(ctx, "")`,
    ...secrets.map((name) => `${name} := settings.RequireSecret("${name}")`),
  ];
  const body = [
    ...(secrets.length > 0 ? config : []),
    ...lines,
    ...outputs.map(([name, output]) => `ctx.Export("${name}", ${value(output)})`),
    "return nil",
  ];
  const main = block("pulumi.Run(func(ctx *pulumi.Context) error {", body, "})", "\t");
  const imports = [
    `"github.com/pulumi/pulumi/sdk/v3/go/pulumi"`,
    ...(secrets.length > 0 ? [`"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"`] : []),
    `"pulumi-serverless-gpu/sdk/go/serverlessgpu"`,
  ];
  return `package main\n\n${block("import (", imports, ")", "\t")}\n\n${block("func main() {", [main], "}", "\t")}`;
}

module.exports = { go };
