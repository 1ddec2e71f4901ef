import { type Declared, idOf, type Options } from "./program";

/*
 * Changes of a program, and what the check must say of each. The resources of a change begin with
 * its id, so that a single preview and a single rehearsal show many of them.
 */

/** A level of findings that is a danger, or `ok`. */
export type Wanted = "ok" | "data" | "deleted" | "replaced" | "renamed" | "zero" | "impossible";

export interface Change {
  readonly id: string;
  readonly title: string;
  readonly wanted: Wanted;
  readonly before: readonly Declared[];
  readonly after: readonly Declared[];
}

/** What is known of the stack: how its URNs begin. */
export type UrnOf = (kind: Declared["kind"], name: string, parent?: Declared["kind"]) => string;

type Values = Readonly<Record<string, unknown>>;

/** What all programs share, and no change touches. */
export const SHARED: readonly Declared[] = [
  { name: "image", kind: "ServerlessTemplate", properties: { name: "image", imageName: "me/a:1" } },
  { name: "picture", kind: "ServerlessTemplate", properties: { name: "picture", imageName: "me/b:1" } },
];

const ON_GPU = { gpuIds: ["ADA_24"], templateId: idOf("image"), workersMin: 0, workersMax: 3, idleTimeout: 5 };

const endpoint = (name: string, values: Values = {}, options: Options = {}): Declared => ({
  name,
  kind: "ServerlessEndpoint",
  properties: { name, ...ON_GPU, ...values },
  options,
});
const volume = (name: string, values: Values = {}, options: Options = {}): Declared => ({
  name,
  kind: "NetworkVolume",
  properties: { name, size: 20, dataCenterId: "EU-RO-1", ...values },
  options,
});
const template = (name: string, values: Values = {}): Declared => ({
  name,
  kind: "ServerlessTemplate",
  properties: { name, imageName: "me/c:1", ...values },
});
const login = (name: string): Declared => ({
  name,
  kind: "ContainerRegistryAuth",
  properties: { name, username: "me", password: "word" },
});

type Row = readonly [title: string, wanted: Wanted, before: readonly Declared[], after: readonly Declared[]];

/** Gives the resources of each change a setting of their own, so that no two changes look alike. */
function distinct(each: Declared, at: number): Declared {
  const own = {
    ServerlessEndpoint: { executionTimeoutMs: 600_000 + at * 1000 },
    ServerlessTemplate: { containerDiskInGb: 20 + at },
  };
  return { ...each, properties: { ...each.properties, ...own[each.kind as keyof typeof own] } };
}

/** Numbers the changes, and puts their ids before the names of resources. */
function numbered(prefix: string, rows: readonly Row[]): Change[] {
  return rows.map(([title, wanted, before, after], at) => {
    const id = `${prefix}${String(at + 1).padStart(2, "0")}`;
    const own = new Set([...before, ...after].map(({ name }) => name));
    const text = (all: readonly Declared[]) =>
      JSON.parse(JSON.stringify(all), (key, value) => {
        const isName = ["name", "parent", "$id"].includes(key) || /^\d+$/.test(key);
        if (!isName || typeof value !== "string") return value;
        if (value.startsWith("urn:")) return value.replace(/[^:]+$/, (name) => `${id}${name}`);
        return own.has(value) || value.startsWith("own-") ? `${id}${value}` : value;
      }).map((each: Declared) => distinct(each, at)) as Declared[];
    return { id, title, wanted, before: text(before), after: text(after) };
  });
}

const BALANCER = { type: "LOAD_BALANCER", scalerType: "REQUEST_COUNT" };
const AGAIN = { replaceOnChanges: ["idleTimeout"] };

/** Changes that must stop a merge, and which the service would carry out. */
export const regressions = (urnOf: UrnOf) =>
  numbered("r", [
    ["workersMax 3 → 0", "zero", [endpoint("a")], [endpoint("a", { workersMax: 0 })]],
    ["both counts to 0", "zero", [endpoint("a", { workersMin: 1 })], [endpoint("a", { workersMax: 0 })]],
    [
      "0 and another template",
      "zero",
      [endpoint("a")],
      [endpoint("a", { workersMax: 0, templateId: idOf("picture") })],
    ],
    ["0 by a schedule that never raises it", "zero", [endpoint("a")], [endpoint("a", { schedule: NEVER })]],
    ["0 together with protect", "zero", [endpoint("a")], [endpoint("a", { workersMax: 0 }, { protect: true })]],
    ["removed", "deleted", [endpoint("a")], []],
    ["removed with its template", "deleted", [template("t"), endpoint("a", { templateId: idOf("t") })], []],
    ["removed while another is created", "deleted", [endpoint("a")], [endpoint("b", { ...OTHER, workersMax: 2 })]],
    ["renamed without an alias", "renamed", [endpoint("a")], [endpoint("b")]],
    ["renamed with a changed setting", "renamed", [endpoint("a")], [endpoint("b", { idleTimeout: 9 })]],
    [
      "renamed with its template",
      "renamed",
      [template("t"), endpoint("a", { templateId: idOf("t") })],
      [template("u"), endpoint("b", { templateId: idOf("u") })],
    ],
    [
      "a template renamed",
      "renamed",
      [template("t"), endpoint("a", { templateId: idOf("t") })],
      [template("u"), endpoint("a", { templateId: idOf("u") })],
    ],
    ["a credential renamed", "renamed", [login("l")], [login("m")]],
    ["another parent without an alias", "renamed", [endpoint("a")], [endpoint("a", {}, { parent: "image" })]],
    [
      "renamed with an alias that has a typo",
      "renamed",
      [endpoint("a")],
      [endpoint("b", {}, { aliases: [urnOf("ServerlessEndpoint", "aa")] })],
    ],
    ["another type", "replaced", [endpoint("a", QUEUE)], [endpoint("a", BALANCER)]],
    ["replaced by an option", "replaced", [endpoint("a")], [endpoint("a", { idleTimeout: 9 }, AGAIN)]],
    ["replaced and scaled to zero", "zero", [endpoint("a")], [endpoint("a", { idleTimeout: 9, workersMax: 0 }, AGAIN)]],
    ["a volume deleted", "data", [volume("v")], []],
    [
      "a volume replaced",
      "data",
      [volume("v")],
      [volume("v", { size: 30 }, { replaceOnChanges: ["size"], deleteBeforeReplace: true })],
    ],
    ["a volume renamed without an alias", "data", [volume("v")], [volume("w")]],
    ["a volume of another parent", "data", [volume("v")], [volume("v", {}, { parent: "image" })]],
  ]);

const QUEUE = { scalerType: "REQUEST_COUNT" };
const OTHER = { gpuIds: ["AMPERE_80"], templateId: idOf("picture"), workersMin: 1, idleTimeout: 60 };
const NEVER = { timeZone: "UTC", rules: [{ cron: "0 0 * * *", workersMax: 0 }] };

/** Changes that the service would refuse. */
export const impossible = () =>
  numbered("i", [
    [
      "a replacement whose old endpoint keeps the name",
      "impossible",
      [endpoint("a", {}, { retainOnDelete: true })],
      [endpoint("a", { idleTimeout: 9 }, { retainOnDelete: true, ...AGAIN })],
    ],
    ["more workers than the quota", "impossible", [endpoint("a")], [endpoint("a", { workersMax: 900 })]],
    [
      "a location that excludes its volume",
      "impossible",
      [volume("v"), endpoint("a", { networkVolumeId: idOf("v") })],
      [volume("v"), endpoint("a", { networkVolumeId: idOf("v"), locations: ["US-TX-3"] })],
    ],
  ]);

/** Changes that must pass. `adopted` exists before the stack. */
export const harmless = (urnOf: UrnOf) =>
  numbered("h", [
    ["nothing", "ok", [endpoint("a")], [endpoint("a")]],
    ["workersMax 3 → 1", "ok", [endpoint("a")], [endpoint("a", { workersMax: 1 })]],
    ["workersMax 3 → 6", "ok", [endpoint("a")], [endpoint("a", { workersMax: 6 })]],
    ["workersMin 1 → 0", "ok", [endpoint("a", { workersMin: 1 })], [endpoint("a")]],
    ["workersMax 0 → 3", "ok", [endpoint("a", { workersMax: 0 })], [endpoint("a")]],
    [
      "workersMax stays 0",
      "ok",
      [endpoint("a", { workersMax: 0 })],
      [endpoint("a", { workersMax: 0, idleTimeout: 9 })],
    ],
    ["another pool", "ok", [endpoint("a")], [endpoint("a", { gpuIds: ["AMPERE_24"] })]],
    ["another template", "ok", [endpoint("a")], [endpoint("a", { templateId: idOf("picture") })]],
    ["another name at the service", "ok", [endpoint("a")], [endpoint("a", { name: "own-b" })]],
    ["another idleTimeout", "ok", [endpoint("a")], [endpoint("a", { idleTimeout: 60 })]],
    ["a new endpoint", "ok", [], [endpoint("a")]],
    ["a new endpoint without workers", "ok", [], [endpoint("a", { workersMax: 0 })]],
    ["a new volume", "ok", [], [volume("v")]],
    ["a larger volume", "ok", [volume("v")], [volume("v", { size: 30 })]],
    [
      "renamed with an alias",
      "ok",
      [endpoint("a")],
      [{ ...endpoint("b", {}, { aliases: [urnOf("ServerlessEndpoint", "a")] }), properties: endpoint("a").properties }],
    ],
    [
      "another parent with an alias",
      "ok",
      [endpoint("a")],
      [endpoint("a", {}, { parent: "image", aliases: [urnOf("ServerlessEndpoint", "a")] })],
    ],
    ["removed, but retained", "ok", [endpoint("a", {}, { retainOnDelete: true })], []],
    ["released", "ok", [endpoint("a", { name: "adopted", adoptId: "adopted" })], []],
    [
      "protect and retainOnDelete with a change",
      "ok",
      [endpoint("a")],
      [endpoint("a", { idleTimeout: 9 }, { protect: true, retainOnDelete: true })],
    ],
    [
      "0 in a program that ignores the change",
      "ok",
      [endpoint("a")],
      [endpoint("a", { workersMax: 0 }, { ignoreChanges: ["workersMax"] })],
    ],
    [
      "another environment of its template",
      "ok",
      [template("t"), endpoint("a", { templateId: idOf("t") })],
      [template("t", { env: { MODEL: "b" } }), endpoint("a", { templateId: idOf("t") })],
    ],
    [
      "another image",
      "ok",
      [template("t"), endpoint("a", { templateId: idOf("t") })],
      [template("t", { imageName: "me/c:2" }), endpoint("a", { templateId: idOf("t") })],
    ],
    [
      "a template of the next version",
      "ok",
      [template("t"), endpoint("a", { templateId: idOf("t") })],
      [template("u", { imageName: "me/c:2" }), endpoint("a", { templateId: idOf("u") })],
    ],
    [
      "locations in another order",
      "ok",
      [endpoint("a", PLACES)],
      [endpoint("a", { locations: ["EU-CZ-1", "EU-RO-1"] })],
    ],
    ["replaceOnChanges without a change", "ok", [endpoint("a")], [endpoint("a", {}, AGAIN)]],
  ]);

const PLACES = { locations: ["EU-RO-1", "EU-CZ-1"] };
