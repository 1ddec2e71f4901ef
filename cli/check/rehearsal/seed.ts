import type { Seed } from "../../../emulator";
import { isObject } from "../../../provider/engine/properties";
import type { ServiceName } from "../../../sdk/connection/settings";
import { FIELDS } from "../../../sdk/endpoints/fields";
import { splitList } from "../../../sdk/endpoints/normalForms";
import type { FieldTable } from "../../../sdk/records/fields";
import { TEMPLATE_FIELDS } from "../../../sdk/templates/template";
import { COLLECTIONS, classOf } from "../../stack";
import { type CopiedResource, deeplyRevealed, PLACEHOLDER } from "./rewriteState";

type Values = Readonly<Record<string, unknown>>;

const KINDS = Object.values(COLLECTIONS);

/** The records of an account by kind and id, in the client's normal form. */
export type Records = Readonly<Record<(typeof KINDS)[number], Map<string, Values>>>;

/** The hidden outputs that matter here: the bound template, and the account. */
const KEPT = ["__template", "__account"];

/** Returns the records that a state holds. */
export function recordsOfState(resources: readonly CopiedResource[]): Records {
  const records = noRecords();
  for (const { type, id, pendingReplacement = false, outputs = {} } of resources) {
    const kind = (COLLECTIONS as Readonly<Record<string, keyof Records>>)[classOf(type) ?? ""];
    if (kind === undefined || !id || pendingReplacement) continue;
    const plain = Object.entries(outputs).filter(([name]) => KEPT.includes(name) || !name.startsWith("__"));
    records[kind].set(id, Object.fromEntries(plain.map(([name, value]) => [name, deeplyRevealed(value)])));
  }
  return records;
}

export function noRecords(): Records {
  return Object.fromEntries(KINDS.map((kind) => [kind, new Map()])) as unknown as Records;
}

/** Returns an emulator seed that contains these records. Their ids stay the same. */
export function seedOf(records: Records, service?: ServiceName): Seed {
  const endpoints = [...records.endpoints].map(([id, values]) => ({ id, values }));
  const own = endpoints.filter(({ values }) => isText(values.imageName));
  const volumes = [...records.volumes].map(([id, { name, size, dataCenterId, highPerformance }]) => ({
    id,
    name: String(name ?? id),
    size: Number(size ?? 10),
    dataCenterId: String(dataCenterId ?? PLACE),
    isNextGenStorage: highPerformance === true,
  }));
  const bound = new Set(own.map(({ id, values }) => ownTemplate(id, values).id));
  const known = new Set(volumes.map(({ id }) => id));
  const named = endpoints.flatMap(({ values }) => [values.networkVolumeId, values.networkVolumeIds].flatMap(listOf));
  const others = volumes.length === 0 ? [] : [...new Set(named)].filter((id) => !known.has(id));
  return {
    registryAuths: [...records.registryAuths].map(([id, { name }]) => ({
      id,
      name: String(name ?? id),
      username: PLACEHOLDER,
      password: PLACEHOLDER,
    })),
    secrets: [...records.secrets].map(([id, { name, description }]) => ({
      id,
      name: String(name ?? id),
      value: PLACEHOLDER,
      description: String(description ?? ""),
    })),
    volumes: [...volumes, ...others.map((id) => ({ id, name: id, size: 10, dataCenterId: PLACE }))],
    templates: [
      ...[...records.templates].filter(([id]) => !bound.has(id)).map(([id, values]) => ({ ...templateOf(values), id })),
      ...own.map(({ id, values }) => ({ ...templateOf(values), ...ownTemplate(id, values), boundEndpointId: id })),
      ...foreignTemplates(records),
    ],
    endpoints: endpoints.map(({ id, values }) => ({ ...endpointOf(id, values, service), id })),
    // The emulator validates the seed.
  } satisfies Record<keyof Records, unknown> as unknown as Seed;
}

/** The data center of a volume that neither the state nor the account describes. */
const PLACE = "EU-RO-1";

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const listOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(String) : isText(value) ? splitList(value) : [];

/** Returns the templates that endpoints use but neither the state nor the account describes. */
function foreignTemplates({ endpoints, templates }: Records): string[] {
  const used = [...endpoints.values()].flatMap(({ templateId, imageName }) =>
    isText(templateId) && !isText(imageName) && !templates.has(templateId) ? [templateId] : [],
  );
  return [...new Set(used)];
}

function ownTemplate(id: string, { name, __template: bound }: Values) {
  return { id: isText(bound) ? bound : `of-${id}`, name: `${name}__template__${id}` };
}

function endpointOf(id: string, values: Values, service?: ServiceName): Record<string, unknown> {
  const isOwn = isText(values.imageName);
  const { templateId } = isOwn ? { templateId: ownTemplate(id, values).id } : values;
  const name = String(values.name ?? id);
  const fields = inputOf(FIELDS, values, Object.keys(TEMPLATE_FIELDS), service);
  return { ...fields, name, templateId };
}

function templateOf(values: Values): Record<string, unknown> {
  const { env } = values;
  const variables = isObject(env) ? Object.entries(env).map(([key, value]) => ({ key, value: String(value) })) : [];
  return { ...inputOf(TEMPLATE_FIELDS, values, ["env"]), env: variables, isServerless: true };
}

/** Returns the fields that are set, in the form of an emulator seed. */
function inputOf(
  table: FieldTable,
  values: Values,
  without: readonly string[],
  service?: ServiceName,
): Record<string, unknown> {
  const given = Object.entries(table).filter(([name]) => !without.includes(name) && isSet(values[name]));
  return Object.fromEntries(
    given.map(([name, { graphqlList, toService }]) => {
      const plain = Array.isArray(values[name]) ? values[name].join(",") : values[name];
      const value = toService ? toService(plain, service) : plain;
      if (graphqlList === true) return [name, listOf(value)];
      if (typeof graphqlList === "string") return [name, listOf(value).map((each) => ({ [graphqlList]: each }))];
      return [name, value];
    }),
  );
}

const isSet = (value: unknown) => value !== undefined && value !== null && value !== "";
