// Compares the facts about REST v2 that the client and the emulator rely on with an OpenAPI document of the service:
// `npm run check:spec -- <file or URL>`. The document is yours: none is in the repository.
const fs = require("node:fs");

/** @typedef {Readonly<Record<string, any>>} Json */

/**
 * Returns the differences between the table of facts and an OpenAPI document, one a line.
 * @param {Readonly<Record<string, import("../emulator/restV2/facts").OperationFacts>>} facts
 * @param {Json} document
 * @returns {string[]}
 */
function differences(facts, document) {
  const paths = Object.fromEntries(
    Object.entries(document.paths ?? {}).map(([path, item]) => [normalPath(path), item]),
  );
  return Object.entries(facts).flatMap(([name, operation]) => {
    const found = paths[normalPath(operation.path)]?.[operation.method.toLowerCase()];
    const where = `${name} (${operation.method} ${operation.path})`;
    if (!found) return [`${where}: not in the document`];
    return operationDifferences(operation, found, document).map((difference) => `${where}: ${difference}`);
  });
}

/**
 * @param {import("../emulator/restV2/facts").OperationFacts} operation
 * @param {Json} found
 * @param {Json} document
 * @returns {string[]}
 */
function operationDifferences({ status, body, list, reads = [], query = [] }, found, document) {
  const response = resolve(found.responses?.[status], document);
  if (!response) return [`status ${status} is not in the document`];
  const parameters = (found.parameters ?? []).map((/** @type {Json} */ each) => resolve(each, document).name);
  const whole = schemaOf(response, document);
  const shown = list === undefined ? whole : resolve(whole.properties?.[list]?.items, document);
  return [
    ...query
      .filter((name) => !parameters.includes(name))
      .map((name) => `the query parameter ${name} is not in the document`),
    ...reads
      .filter((field) => !shown?.properties?.[field])
      .map((field) => `the response's ${list ? `${list}[].` : ""}${field} is not in the document`),
    ...(body ? shapeDifferences(body, schemaOf(resolve(found.requestBody, document), document), document, "body") : []),
  ];
}

/**
 * Returns the differences between a shape of ours and a schema. The schema may have more properties.
 * @param {import("../emulator/restV2/shapes").Shape} shape
 * @param {Json} given
 * @param {Json} document
 * @param {string} where
 * @returns {string[]}
 */
function shapeDifferences(shape, given, document, where) {
  const schema = resolve(given, document);
  if (!schema) return [`${where} is not in the document`];
  const variants = schema.oneOf ?? schema.anyOf;
  if (shape.oneOf) {
    if (variants?.length !== shape.oneOf.length) return [`${where} has ${variants?.length ?? 0} variants there`];
    return shape.oneOf.flatMap((each, index) =>
      shapeDifferences(each, variants[index], document, `${where}[${index}]`),
    );
  }
  const types = [schema.type ?? []].flat();
  const isNullable =
    types.includes("null") ||
    schema.nullable === true ||
    variants?.some((/** @type {Json} */ each) => each.type === "null");
  const real = types.filter((type) => type !== "null");
  const type = real[0] ?? variants?.find((/** @type {Json} */ each) => each.type !== "null")?.type;
  const limits = /** @type {const} */ (["minimum", "maximum", "minLength", "minItems", "minProperties"]);
  const words = (/** @type {readonly string[] | undefined} */ list) => [...(list ?? [])].sort().join(", ");
  const required = (/** @type {readonly string[] | undefined} */ list) => words(list) || "nothing";
  return [
    ...differing(`${where}: the type`, shape.type, type, shape.type !== undefined && type !== undefined),
    ...differing(`${where}: null`, shape.nullable ?? false, isNullable ?? false, true),
    ...differing(`${where}: the words`, words(shape.enum), words(schema.enum), true),
    ...limits.flatMap((limit) => differing(`${where}: ${limit}`, shape[limit], schema[limit], true)),
    ...(shape.properties
      ? differing(`${where}: required`, required(shape.required), required(schema.required), true)
      : []),
    ...Object.entries(shape.properties ?? {}).flatMap(([name, each]) =>
      shapeDifferences(each, schema.properties?.[name], document, `${where}.${name}`),
    ),
    ...(shape.items ? shapeDifferences(shape.items, schema.items, document, `${where}[]`) : []),
  ];
}

/**
 * @param {string} what
 * @param {unknown} ours
 * @param {unknown} theirs
 * @param {boolean} counts
 */
function differing(what, ours, theirs, counts) {
  return counts && ours !== theirs ? [`${what} is ${ours ?? "none"} here, ${theirs ?? "none"} in the document`] : [];
}

/**
 * Returns the schema of a JSON body.
 * @param {Json} message
 * @param {Json} document
 * @returns {Json}
 */
function schemaOf(message, document) {
  return resolve(message?.content?.["application/json"]?.schema, document) ?? {};
}

/**
 * Returns a part of the document without references, and with the parts of `allOf` merged.
 * @param {Json} given
 * @param {Json} document
 * @returns {any}
 */
function resolve(given, document) {
  if (!given) return given;
  if (typeof given.$ref === "string") {
    const parts = given.$ref.replace(/^#\//, "").split("/");
    const { $ref: _, ...others } = given;
    const target = parts.reduce((part, key) => part?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], document);
    return resolve({ ...target, ...others }, document);
  }
  if (!Array.isArray(given.allOf)) return given;
  const { allOf, ...own } = given;
  /** @type {Json[]} */
  const parts = [...allOf.map((part) => resolve(part, document)), own];
  return {
    ...Object.assign({}, ...parts),
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: [...new Set(parts.flatMap(({ required = [] }) => required))],
  };
}

/** @param {string} path */
function normalPath(path) {
  return path.replace(/^\/v2(?=\/)/, "").replace(/\{[^}]*\}/g, "{}");
}

/**
 * @param {string} place a file or a URL
 * @returns {Promise<Json>}
 */
async function read(place) {
  const isUrl = /^https?:/.test(place);
  const text = isUrl ? await fetch(place).then((response) => response.text()) : fs.readFileSync(place, "utf8");
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${place} is not JSON. An OpenAPI document in YAML must be converted first`);
  }
}

/** @param {readonly string[]} args */
async function main([place]) {
  if (place === undefined) throw new Error("name an OpenAPI document: npm run check:spec -- <file or URL>");
  const { REST_V2 } = require("../dist/emulator/restV2/facts.js");
  const found = differences(REST_V2, await read(place));
  for (const line of found) console.log(line);
  console.log(found.length === 0 ? "the document has all facts" : `${found.length} differences`);
  process.exitCode = found.length === 0 ? 0 : 1;
}

if (require.main === module) {
  main(process.argv.slice(2)).catch((/** @type {Error} */ error) => {
    console.error(`check:spec: ${error.message}`);
    process.exitCode = 2;
  });
}

module.exports = { differences };
