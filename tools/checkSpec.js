// Compares the facts about REST v2 that the client and the emulator rely on with an OpenAPI
// document of the service: `npm run check:spec -- <file or URL>`. The repository does not contain
// such a document.
const { operationOf, readDocument, resolve, schemaOf, unwrap } = require("./openApi");

/** @typedef {import("./openApi").Json} Json */
/** @typedef {import("../emulator/model/shapes").Shape} Shape */
/** @typedef {import("../emulator/restV2/facts").OperationFacts} OperationFacts */

/**
 * Returns the differences between the table of facts and an OpenAPI document, one a line.
 * @param {Readonly<Record<string, OperationFacts>>} facts
 * @param {Json} document
 * @returns {string[]}
 */
function differences(facts, document) {
  return Object.entries(facts).flatMap(([name, operation]) => {
    const found = operationOf(document, operation.method, operation.path);
    const where = `${name} (${operation.method} ${operation.path})`;
    if (!found) return [`${where}: not in the document`];
    return operationDifferences(operation, found, document).map((difference) => `${where}: ${difference}`);
  });
}

/**
 * @param {OperationFacts} operation
 * @param {Json} found
 * @param {Json} document
 * @returns {string[]}
 */
function operationDifferences({ status, body, list, reads = [], query = [] }, found, document) {
  const { [status]: exact, "2XX": any = exact } = found.responses ?? {};
  const response = exact ?? any;
  if (!response) return [`status ${status} is not in the document`];
  const parameters = found.parameters.map((/** @type {Json} */ each) => resolve(each, document).name);
  const shown = propertiesOf(schemaOf(response, document), document);
  const fields = list === undefined ? shown : propertiesOf(unwrap(shown[list], document)?.schema.items, document);
  return [
    ...query
      .filter((name) => !parameters.includes(name))
      .map((name) => `the query parameter ${name} is not in the document`),
    ...reads
      .filter((field) => !(field in fields))
      .map((field) => `the response's ${list ? `${list}[].` : ""}${field} is not in the document`),
    ...(body ? shapeDifferences(body, schemaOf(found.requestBody, document), document, "body") : []),
  ];
}

/**
 * Returns the properties of a schema, with those of all its variants.
 * @param {Json | undefined} given
 * @param {Json} document
 * @returns {Readonly<Record<string, Json>>}
 */
function propertiesOf(given, document) {
  const found = unwrap(given, document);
  if (!found) return {};
  const { schema, variants } = found;
  return Object.assign({}, schema.properties, ...variants.map((each) => propertiesOf(each, document)));
}

const LIMITS = /** @type {const} */ (["minimum", "maximum", "minLength", "minItems", "minProperties"]);

/**
 * Returns the differences between a shape of ours and a schema. The schema may have more
 * properties.
 * @param {Shape} shape
 * @param {Json | undefined} given
 * @param {Json} document
 * @param {string} where
 * @returns {string[]}
 */
function shapeDifferences(shape, given, document, where) {
  const found = unwrap(given, document);
  if (!found) return [`${where} is not in the document`];
  const { schema, variants, isNullable } = found;
  if (shape.oneOf) return variantDifferences(shape.oneOf, variants, document, where);
  const words = (/** @type {readonly string[] | undefined} */ list) => [...(list ?? [])].sort().join(", ");
  const required = (/** @type {readonly string[] | undefined} */ list) => words(list) || "nothing";
  return [
    ...(schema.type === undefined ? [] : differing(`${where}: the type`, shape.type ?? schema.type, schema.type)),
    ...differing(`${where}: null`, shape.nullable ?? false, isNullable),
    ...differing(`${where}: the words`, words(shape.enum), words(schema.enum)),
    ...LIMITS.flatMap((limit) => differing(`${where}: ${limit}`, shape[limit], schema[limit])),
    ...(shape.properties ? differing(`${where}: required`, required(shape.required), required(schema.required)) : []),
    ...Object.entries(shape.properties ?? {}).flatMap(([name, each]) =>
      shapeDifferences(each, schema.properties?.[name], document, `${where}.${name}`),
    ),
    ...(shape.items ? shapeDifferences(shape.items, schema.items, document, `${where}[]`) : []),
  ];
}

/**
 * Compares each of our variants with the most similar variant in the document, because their order
 * has no meaning.
 * @param {readonly Shape[]} ours
 * @param {readonly Json[]} theirs
 * @param {Json} document
 * @param {string} where
 * @returns {string[]}
 */
function variantDifferences(ours, theirs, document, where) {
  if (theirs.length !== ours.length) return [`${where} has ${theirs.length} variants there, ${ours.length} here`];
  return ours.flatMap((each, index) => {
    const all = theirs.map((variant) => shapeDifferences(each, variant, document, `${where}[${index}]`));
    return all.reduce((best, next) => (next.length < best.length ? next : best));
  });
}

/**
 * @param {string} what
 * @param {unknown} ours
 * @param {unknown} theirs
 */
function differing(what, ours, theirs) {
  return ours === theirs ? [] : [`${what} is ${ours ?? "none"} here, ${theirs ?? "none"} in the document`];
}

/** @param {readonly string[]} args */
async function main([place]) {
  if (place === undefined) throw new Error("name an OpenAPI document: npm run check:spec -- <file or URL>");
  const { REST_V2 } = require("../build/emulator/restV2/facts.js");
  const found = differences(REST_V2, await readDocument(place));
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
