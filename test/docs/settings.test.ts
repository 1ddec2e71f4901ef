import { readFileSync } from "node:fs";
import path from "node:path";
import { FIELDS, KEPT_FIELDS } from "../../sdk/endpoints/fields";
import { TABLES } from "../support/recordTables";

const PAGE = readFileSync(path.resolve(__dirname, "../../docs/explanation/settings.md"), "utf8");

/** Settings that can be neither set nor read. */
const OUT_OF_REACH = ["bindEndpoint", "cloudStorageConfig", "modelName", "requestTTL"];

const ROWS = [...PAGE.matchAll(/^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|/gm)].map(
  ([, name = "", graphql = "", v2 = ""]) => ({
    name,
    graphql: graphql.split(",")[0],
    v2,
  }),
);

/** The names of the fields in a table, whatever the type of its rows. */
const TABLE: Readonly<Record<string, { readonly v2: unknown }>> = FIELDS;

function expected(name: string): { readonly graphql: string; readonly v2: string } {
  const field = TABLE[name];
  if (field) return { graphql: "yes", v2: field.v2 === null ? "no" : "yes" };
  const kept = KEPT_FIELDS[name];
  if (!kept) return { graphql: "no", v2: "no" };
  return { graphql: kept.isReadOnly ? "refused" : "carried", v2: "no" };
}

test("the page of all settings says how this package handles each setting", () => {
  expect(ROWS).toEqual(ROWS.map(({ name }) => ({ name, ...expected(name) })));
});

test("the page of all settings lists every setting once", () => {
  // The parts of a template are settings of their own.
  const kept = Object.keys(KEPT_FIELDS).filter((name) => name !== "template" && !(name in FIELDS));
  const known = [...Object.keys(FIELDS), ...kept, ...OUT_OF_REACH];
  expect(ROWS.map(({ name }) => name).sort()).toEqual(known.sort());
});

test("the page of the resource contains a row for every setting of an endpoint", () => {
  const page = readFileSync(path.resolve(__dirname, "../../docs/serverless-endpoint.md"), "utf8");
  const rows = [...page.matchAll(/^\| `(\w+)`/gm)].map(([, name = ""]) => name);
  expect(Object.keys(FIELDS).filter((name) => !rows.includes(name))).toEqual([]);
});

test("the page on drift lists every field whose absence from a response is a value", () => {
  const page = readFileSync(path.resolve(__dirname, "../../docs/how-it-works.md"), "utf8");
  const [, section = ""] = /### What is compared\n(.*?)\n##/s.exec(page) ?? [];
  const listed = [...section.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, names = ""]) => names.split(", "));
  const unset = Object.values(TABLES).flatMap((table) =>
    Object.keys(table).filter((name) => table[name]?.isUnsetIfAbsent),
  );
  expect(unset.length).toBeGreaterThan(10);
  expect(listed.sort()).toEqual([...new Set(unset)].sort().map((name) => `\`${name}\``));
});
