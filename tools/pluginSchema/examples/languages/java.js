const { block, pascal, indented } = require("../text");

/** @typedef {import("../program").Node} Node */

/** @type {(node: Node) => string} */
function value(node) {
  if (node.is === "reference") {
    if (node.output === "") return node.name;
    if (node.from === "function") return `${node.name}.applyValue(each -> each.${node.output}())`;
    return `${node.name}.${node.output}()`;
  }
  if (node.is === "literal") return node.type === "number" ? Number(node.value).toFixed(1) : JSON.stringify(node.value);
  if (node.is === "list") return node.items.map(value).join(", ");
  if (node.is === "object") return built(node.type, node.entries);
  // A map contains values, not outputs, so it is created inside `applyValue`, once the output is
  // known.
  const output = node.entries.find(([, each]) => each.is === "reference")?.[1];
  const entries = node.entries.map(([key, each]) => `"${key}", ${each === output ? "each" : value(each)}`);
  const map = `Map.of(${entries.join(", ")})`;
  return output ? `${value(output)}.applyValue(each -> ${map})` : map;
}

/**
 * @param {string} type
 * @param {readonly import("../program").Entry[]} args
 */
function built(type, args) {
  const lines = args.map(([key, each]) => `.${key}(${value(each)})`);
  return indented([`${type}Args.builder()`, ...lines, ".build()"].join("\n"), "    ");
}

/** @type {(args: readonly import("../program").Entry[]) => string[]} */
const typesIn = (args) =>
  args.flatMap(([, each]) => (each.is === "object" ? [each.type, ...typesIn(each.entries)] : []));

/** @param {import("../program").Program} program */
function java({ secrets, statements, outputs }) {
  const ofPackage = (/** @type {string} */ name) => `com.pulumi.serverlessgpu.${name}`;
  const imports = statements.flatMap(({ is, type, args }) => {
    const nested = typesIn(args).map((each) => ofPackage(`inputs.${each}Args`));
    if (is === "resource") return [ofPackage(type), ofPackage(`${type}Args`), ...nested];
    const given = args.length > 0 ? [ofPackage(`inputs.${pascal(type)}Args`)] : [];
    return [ofPackage("ServerlessgpuFunctions"), ...given];
  });
  const lines = statements.map(({ is, name, type, args, isUsed }) => {
    const call =
      is === "resource"
        ? `new ${type}("${name}", ${built(type, args)})`
        : `ServerlessgpuFunctions.${type}(${args.length > 0 ? built(pascal(type), args) : ""})`;
    return `${isUsed ? `var ${name} = ` : ""}${call};`;
  });
  const body = [
    ...(secrets.length > 0 ? ["var config = ctx.config();"] : []),
    ...secrets.map((name) => `var ${name} = config.requireSecret("${name}");`),
    ...lines,
    ...outputs.map(([name, output]) => `ctx.export("${name}", ${value(output)});`),
  ];
  const main = block("Pulumi.run(ctx -> {", body, "});", "    ");
  const program = block("public static void main(String[] args) {", [main], "}", "    ");
  const map = program.includes("Map.of(") ? ["java.util.Map"] : [];
  const all = [...new Set(["com.pulumi.Pulumi", ...imports.sort(), ...map])].map((name) => `import ${name};`);
  return `package example;\n\n${all.join("\n")}\n\n${block("public class App {", [program], "}", "    ")}`;
}

module.exports = { java };
