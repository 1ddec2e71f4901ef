const { block, indented } = require("../text");

/** @typedef {import("../program").Node} Node */

/** @type {(node: Node) => string} */
function value(node) {
  if (node.is === "reference") return `\${${node.name}${node.output ? `.${node.output}` : ""}}`;
  if (node.is === "literal") return isPlain(node.value) ? String(node.value) : JSON.stringify(node.value);
  if (node.is === "list") return `[${node.items.map(value).join(", ")}]`;
  return block("", lines(node.entries), "", "  ").trimEnd();
}

/**
 * Returns `true` for a text that YAML reads as a text without quotes.
 * @param {string | number | boolean} value
 */
const isPlain = (value) => typeof value !== "string" || /^[A-Za-z][\w./-]*(:[\w.-]+)?$/.test(value);

/** @param {readonly import("../program").Entry[]} entries */
function lines(entries) {
  return entries.map(([key, each]) => {
    const text = value(each);
    return text.startsWith("\n") ? `${key}:${text}` : `${key}: ${text}`;
  });
}

/**
 * @param {string} name
 * @param {readonly string[]} content
 */
const section = (name, content) => (content.length > 0 ? [block(`${name}:`, content, "", "  ").trimEnd()] : []);

/** @param {import("../program").Program} program */
function yaml({ secrets, statements, outputs }) {
  const resources = statements.flatMap(({ is, name, type, args }) =>
    is === "resource" ? section(name, [`type: serverless-gpu:${type}`, ...section("properties", lines(args))]) : [],
  );
  const variables = statements.flatMap(({ is, name, type, args }) => {
    if (is === "resource") return [];
    const given = args.length > 0 ? `\n${indented(section("arguments", lines(args)).join(""), "")}` : "";
    return section(name, section("fn::invoke", [`function: serverless-gpu:${type}${given}`]));
  });
  const config = secrets.flatMap((name) => section(name, ["type: string", "secret: true"]));
  return [
    ...section("config", config),
    ...section("variables", variables),
    ...section("resources", resources),
    ...section("outputs", lines(outputs)),
  ].join("\n");
}

module.exports = { yaml };
