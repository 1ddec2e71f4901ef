// Reads OpenAPI documents, 3.0 and 3.1, in JSON or YAML, from a file or a URL.
const fs = require("node:fs");
const { parse } = require("yaml");

/** @typedef {Readonly<Record<string, any>>} Json */

/**
 * Reads a document.
 * @param {string} place a file or a URL
 * @returns {Promise<Json>}
 */
async function readDocument(place) {
  const text = /^https?:/i.test(place) ? await download(place) : fs.readFileSync(place, "utf8");
  let document;
  try {
    // JSON is also YAML.
    document = parse(text);
  } catch {
    throw new Error(`${place} is neither JSON nor YAML`);
  }
  if (typeof document?.paths === "object" && document.paths !== null) return document;
  throw new Error(`${place} is not an OpenAPI document: it has no paths`);
}

/** @param {string} url */
async function download(url) {
  const response = await fetch(url);
  if (response.ok) return response.text();
  throw new Error(`${url} responds with ${response.status}. Download the document, and give the file`);
}

/**
 * Returns the operation at a path, whatever its prefix and the names of its parameters are.
 * @param {Json} document
 * @param {string} method
 * @param {string} path
 * @returns {Json | undefined} with the parameters of its path
 */
function operationOf(document, method, path) {
  for (const [name, given] of Object.entries(document.paths)) {
    const item = resolve(given, document);
    const operation = item?.[method.toLowerCase()];
    if (!operation || normalPath(name) !== normalPath(path)) continue;
    return { ...operation, parameters: [...(item.parameters ?? []), ...(operation.parameters ?? [])] };
  }
  return undefined;
}

/** @param {string} path */
function normalPath(path) {
  return path
    .replace(/^\/v2(?=\/)/, "")
    .replace(/\/$/, "")
    .replace(/\{[^}]*\}/g, "{}");
}

/**
 * Returns the schema of a JSON body.
 * @param {Json | undefined} given a response or a request body
 * @param {Json} document
 * @returns {Json}
 */
function schemaOf(given, document) {
  const content = resolve(given, document)?.content ?? {};
  const type = Object.keys(content).find((each) => /^application\/(.+\+)?json\b/i.test(each));
  return (type && resolve(content[type].schema, document)) || {};
}

/**
 * Returns a part of the document with its references resolved and the parts of `allOf` merged. The
 * schemas of properties stay as they are.
 * @param {Json | undefined} given
 * @param {Json} document
 * @param {readonly string[]} followed
 * @returns {any}
 */
function resolve(given, document, followed = []) {
  if (!given) return given;
  const { $ref, allOf, ...own } = given;
  if (typeof $ref === "string") {
    if (followed.includes($ref)) throw new Error(`the reference ${$ref} leads back to itself`);
    const target = resolve(targetOf($ref, document), document, [...followed, $ref]);
    return merge(target, resolve({ ...own, ...(allOf && { allOf }) }, document));
  }
  if (!Array.isArray(allOf)) return given;
  return [...allOf.map((part) => resolve(part, document, followed)), own].reduce(merge);
}

/**
 * @param {string} reference
 * @param {Json} document
 * @returns {Json}
 */
function targetOf(reference, document) {
  if (!reference.startsWith("#/"))
    throw new Error(`the reference ${reference} leads out of the document: bundle it first`);
  const keys = reference
    .slice(2)
    .split("/")
    .map((key) => decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~"));
  /** @type {any} */
  let target = document;
  for (const key of keys) target = target?.[key];
  if (target === undefined) throw new Error(`the reference ${reference} leads nowhere`);
  return target;
}

/**
 * Merges two schemas that both must hold. `required` is a list in a schema, but `true` or `false`
 * in a parameter.
 * @param {Json} one
 * @param {Json} other
 * @returns {Json}
 */
function merge(one, other) {
  const properties = { ...one.properties };
  for (const [name, schema] of Object.entries(other.properties ?? {})) {
    properties[name] = name in properties ? { allOf: [properties[name], schema] } : schema;
  }
  const required = [...new Set([one.required, other.required].flatMap((list) => (Array.isArray(list) ? list : [])))];
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

/**
 * Returns a schema without `null`, its variants (a value must match one of them), and whether it
 * accepts `null`.
 * @param {Json | undefined} given
 * @param {Json} document
 * @returns {{ schema: Json, variants: Json[], isNullable: boolean } | undefined}
 */
function unwrap(given, document) {
  const whole = resolve(given, document);
  if (!whole) return undefined;
  const { oneOf, anyOf, ...own } = whole;
  /** @type {Json[]} */
  const all = (oneOf ?? anyOf ?? []).map((/** @type {Json} */ each) => resolve(each, document));
  const variants = all.filter(({ type }) => type !== "null");
  const types = [own.type ?? []].flat();
  const isNullable = types.includes("null") || own.nullable === true || variants.length < all.length;
  const [only] = variants;
  const inner = variants.length === 1 && only ? unwrap(only, document) : undefined;
  if (inner) return { ...inner, schema: merge(own, inner.schema), isNullable: isNullable || inner.isNullable };
  const words = own.const === undefined ? own.enum : [own.const];
  const real = types.filter((type) => type !== "null");
  return { schema: { ...own, type: real[0], ...(words && { enum: words }) }, variants, isNullable };
}

module.exports = { operationOf, readDocument, resolve, schemaOf, unwrap };
