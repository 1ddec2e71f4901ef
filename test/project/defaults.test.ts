import { readFileSync } from "node:fs";
import path from "node:path";
import schema from "../../plugin/schema.json";
import { FIELDS } from "../../sdk/endpoints/fields";
import type { FieldTable } from "../../sdk/records/fields";
import { REGISTRY_AUTH_FIELDS } from "../../sdk/registryAuths/registryAuth";
import { SECRET_FIELDS } from "../../sdk/secrets/secret";
import { TEMPLATE_FIELDS } from "../../sdk/templates/template";
import { VOLUME_FIELDS } from "../../sdk/volumes/volume";
import { REPOSITORY } from "../support/sources";

const TABLES = {
  ServerlessEndpoint: FIELDS,
  ServerlessTemplate: TEMPLATE_FIELDS,
  NetworkVolume: VOLUME_FIELDS,
  Secret: SECRET_FIELDS,
  ContainerRegistryAuth: REGISTRY_AUTH_FIELDS,
} as const satisfies Record<string, FieldTable>;

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

/** Returns the fields of a table whose text states another default. */
function different(table: FieldTable, textOf: (field: string) => string | undefined): string[] {
  return Object.entries(table).flatMap(([field, { default: value }]) => {
    const word = wordOf(value);
    const text = textOf(field) ?? "";
    const isOther = word === undefined ? /^\d|^[A-Z]{2}/.test(firstWord(text)) : firstWord(text) !== word;
    return isOther ? [`${field} has the default ${JSON.stringify(value)}, and the text says "${text}"`] : [];
  });
}

test.each(
  Object.entries(TABLES),
)("the documented arguments of %s state the defaults of its table, and so does the plugin's schema", (name, table) => {
  const inputs: Record<string, { description: string }> =
    schema.resources[`serverless-gpu:index:${name as keyof typeof TABLES}`].inputProperties;
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
