import type { Reply, Row, Site } from "../site";
import { outcomeOf, type Scenario } from "./scenario";

const FIELDS =
  "id name gpuIds idleTimeout locations flashBootType scalerType scalerValue workersMin workersMax networkVolumeId";

type Input = Readonly<Record<string, string | undefined>>;

/** Saves the own endpoint with no worker, unless `more` says otherwise. Its values are GraphQL; `undefined` leaves a field out. */
export function saveOwn({ endpoint, graphql }: Site, more: Input = {}, selection = FIELDS): Promise<Reply> {
  const { id, name, gpuIds, templateId } = endpoint;
  const strings = Object.entries({ id, name, gpuIds, templateId }).map(([key, value]) => [key, JSON.stringify(value)]);
  const input: Input = { ...Object.fromEntries(strings), workersMin: "0", workersMax: "0", ...more };
  const written = Object.entries(input).filter(([, value]) => value !== undefined);
  const fields = written.map(([key, value]) => `${key}: ${value}`).join(", ");
  return graphql(`mutation { saveEndpoint(input: { ${fields} }) { ${selection} } }`);
}

/** Returns fields of the saved endpoint, or the outcome of a save that was refused. */
export function shown(reply: Reply, ...fields: string[]): object {
  const saved = reply.body?.data?.saveEndpoint;
  if (!saved) return outcomeOf(reply) as object;
  return Object.fromEntries(fields.map((field) => [field, saved[field]]));
}

export const savedFields: Scenario = {
  name: "fields of saveEndpoint",
  async play(site) {
    const { note } = site;
    const changed = await saveOwn(site, { idleTimeout: "31", scalerValue: "7", locations: '"US"' });
    note("save.modify", shown(changed, "idleTimeout", "scalerValue"));
    note("save.fields", shown(changed, "gpuIds", "workersMin", "workersMax", "networkVolumeId"));
    note("save.round-trip", shown(changed, "name"));
    note("save.locations", shown(changed, "locations"));
    const omitted = await saveOwn(site);
    note("save.reset", shown(omitted, "idleTimeout", "scalerValue"));
    note("save.keep", shown(omitted, "locations", "scalerType"));
    note("save.clear", shown(await saveOwn(site, { locations: "null" }), "locations"));
    note("save.data-center", shown(await saveOwn(site, { locations: '"EU-RO-1"' }), "locations"));
    note("save.any-region", shown(await saveOwn(site, { locations: '""' }), "locations"));
    note("save.scaler-type", shown(await saveOwn(site, { scalerType: '"REQUEST_COUNT"' }), "scalerType"));
    note("save.gpu-list", shown(await saveOwn(site, { gpuIds: '"AMPERE_16,ADA_24"' }), "gpuIds"));
    note({ observed: "save.newer-tiers" }, shown(await saveOwn(site, { gpuIds: '"HOPPER_141"' }), "gpuIds"));
    await saveOwn(site);
  },
};

export const flashBoot: Scenario = {
  name: "FlashBoot",
  async play(site) {
    site.note({ observed: "save.flash-boot-shown" }, shown(await saveOwn(site), "flashBootType"));
    const on = shown(await saveOwn(site, { flashBootType: "FLASHBOOT" }), "name", "flashBootType");
    site.note({ observed: "save.flash-boot-suffix" }, on);
    const off = shown(await saveOwn(site, { flashBootType: "OFF" }), "name", "flashBootType");
    site.note({ contract: "save.flash-boot-off", observed: "save.flash-boot-off-observed" }, off);
    await saveOwn(site, { flashBootType: "FLASHBOOT" });
    const cleared = shown(await saveOwn(site, { flashBootType: "null" }), "flashBootType");
    site.note({ contract: "save.flash-boot-null", observed: "save.flash-boot-null-observed" }, cleared);
    await saveOwn(site, { flashBootType: "OFF" });
  },
};

/** Inputs that are refused. If one is accepted, the endpoint has no workers either. */
const REFUSED: readonly (readonly [Row, Input])[] = [
  ["save.required", { gpuIds: undefined }],
  ["save.null-default", { idleTimeout: "null" }],
  ["save.unknown-tier", { gpuIds: '"NO_SUCH_TIER"' }],
  ["save.unknown-location", { locations: '"NO_SUCH_PLACE"' }],
  ["save.unknown-scaler-type", { scalerType: '"NO_SUCH_TYPE"' }],
  ["save.ranges", { idleTimeout: "-1" }],
  [{ observed: "save.whole-scaler-value" }, { scalerValue: "4.5" }],
];

export const refusedSaves: Scenario = {
  name: "refusals of saveEndpoint",
  async play(site) {
    for (const [row, input] of REFUSED) site.note(row, outcomeOf(await saveOwn(site, input)));
    await saveOwn(site);
  },
};
