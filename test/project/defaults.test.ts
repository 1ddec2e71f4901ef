import { readFileSync } from "node:fs";
import path from "node:path";
import schema from "../../plugin/schema.json";
import { FIELDS } from "../../sdk/endpoints/fields";
import type { FieldTable } from "../../sdk/records/fields";
import { pages, readPage } from "../docs/markdown";
import { TABLES } from "../support/recordTables";
import { REPOSITORY } from "../support/sources";

/** Returns a default as a text begins with it. Empty defaults have words of their own. */
function wordOf(value: unknown): string | undefined {
  return ["number", "boolean", "string"].includes(typeof value) && value !== "" ? String(value) : undefined;
}

/** Returns the first word of a text about a default. A number may have separators. */
function firstWord(text: string): string {
  return (
    text
      .replace(/["`]/g, "")
      .replace(/(?<=\d),(?=\d{3})/g, "")
      .match(/^[\w-]+/)?.[0] ?? ""
  );
}

/** Returns what is wrong with a text about the default of a field. */
function difference(field: string, value: unknown, text: string): string[] {
  const word = wordOf(value);
  const isOther = word === undefined ? /^\d|^[A-Z]{2}/.test(firstWord(text)) : firstWord(text) !== word;
  return isOther ? [`${field} has the default ${JSON.stringify(value)}, and the text says "${text}"`] : [];
}

/** Returns the fields of a table whose text states another default. */
const different = (table: FieldTable, textOf: (field: string) => string | undefined): string[] =>
  Object.entries(table).flatMap(([field, { default: value }]) => difference(field, value, textOf(field) ?? ""));

test.each(
  Object.entries(TABLES),
)("the documented arguments of %s state the defaults of its table, and so does the plugin's schema", (name, table) => {
  const resources: Readonly<Record<string, { inputProperties: Record<string, { description: string }> }>> =
    schema.resources;
  const inputs = resources[`serverless-gpu:index:${name}`]?.inputProperties ?? {};
  const byDefault = (field: string) => /Default: (.*)/.exec(inputs[field]?.description ?? "")?.[1];
  expect(different(table, byDefault)).toEqual([]);
});

test("the page about endpoints states the defaults of the table", () => {
  const page = readFileSync(path.join(REPOSITORY, "docs/serverless-endpoint.md"), "utf8");
  const rows = new Map(
    [...page.matchAll(/^\| `(\w+)`ᴿ? \| ([^|]*) \|/gm)].map(([, field = "", cell = ""]) => [field, cell]),
  );
  expect(different(FIELDS, (field) => rows.get(field))).toEqual([]);
});

/**
 * How a sentence states a default: "`idleTimeout` (10 seconds by default)", or
 * "`workersMin: 0`, the default".
 */
const STATED = [/`(\w+)` \(([^()]*) by default\)/g, /`(\w+): ([^`]+)`,\s+the\s+default/g];

test("the sentences of pages that state the default of an endpoint's field state that of the table", () => {
  const texts = pages().map(readPage);
  const stated = texts.flatMap((text) => STATED.flatMap((sentence) => [...text.matchAll(sentence)]));
  const known = stated.filter(([, field = ""]) => Object.hasOwn(FIELDS, field));
  expect(known.map(([, field]) => field).sort()).toEqual(["idleTimeout", "workersMin"]);
  const fields: FieldTable = FIELDS;
  expect(known.flatMap(([, field = "", text = ""]) => difference(field, fields[field]?.default, text))).toEqual([]);
});
