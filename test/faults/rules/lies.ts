import type { Kind } from "./held";
import type { Meddler, Request } from "./standIn";

/** The absence of a field in an answer. */
export const ABSENT = Symbol("absent");

/** What a lying service says instead of a value, by the path of the field: `workers.max`. */
export type Lie = Readonly<Record<string, unknown>>;

/** The names under which answers contain records of a kind. */
const FIELDS: Readonly<Record<Kind, RegExp>> = {
  endpoint: /^(endpoints?|saveEndpoint|a\d+)$/,
  template: /^(podTemplates?|templates|saveTemplate|a\d+)$/,
  volume: /^(networkVolumes|createNetworkVolume|updateNetworkVolume)$/,
  auth: /^(containerRegistryCreds|registries|saveRegistryAuth|updateRegistryAuth)$/,
  secret: /^(secrets|secretCreate|secretValueUpdate|secretDescriptionUpdate)$/,
};

type Tree = Record<string, unknown>;

/** Returns a meddler that lies about every record of a kind while `when` says so. */
export function lieAbout(kind: Kind, lie: Lie, when: (request: Request) => boolean = () => true): Meddler {
  return meddlerFor(kind, when, (record) => distort(record, lie));
}

/** The same, with a lie of its own for the record of each name. */
export function lieAboutNamed(
  kind: Kind,
  lies: Readonly<Record<string, Lie>>,
  when: (request: Request) => boolean = () => true,
): Meddler {
  return meddlerFor(kind, when, (record) => distort(record, lies[String(record.name)] ?? {}));
}

function meddlerFor(kind: Kind, when: (request: Request) => boolean, lie: (record: Tree) => void): Meddler {
  return {
    lie(request, answer) {
      if (!when(request) || request.api === "queue") return answer;
      if (request.api === "graphql") visit(answer, FIELDS[kind], lie);
      else if (request.kind === kind && answer !== undefined) visitV2(answer as Tree, FIELDS[kind], lie);
      return answer;
    },
  };
}

function visitV2(answer: Tree, names: RegExp, lie: (record: Tree) => void): void {
  const records = Object.entries(answer).find(([field, value]) => names.test(field) && Array.isArray(value))?.[1];
  // A record of its own may have a field with the name of a list.
  for (const each of "id" in answer || !records ? [answer] : (records as Tree[])) lie(each);
}

/** Lies about the records below all fields with such a name. */
function visit(tree: unknown, names: RegExp, lie: (record: Tree) => void): void {
  if (tree === null || typeof tree !== "object") return;
  for (const [field, value] of Object.entries(tree)) {
    if (!names.test(field)) {
      visit(value, names, lie);
      continue;
    }
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null && typeof each === "object") lie(each as Tree);
    }
  }
}

function distort(record: Tree, lie: Lie): void {
  for (const [path, value] of Object.entries(lie)) {
    const names = path.split(".");
    const last = names.pop() ?? "";
    const parent = names.reduce<unknown>((tree, name) => (tree as Tree | undefined)?.[name], record) as
      | Tree
      | undefined;
    if (!parent || typeof parent !== "object" || !Object.hasOwn(parent, last)) continue;
    if (value === ABSENT) delete parent[last];
    else parent[last] = typeof value === "function" ? value(parent[last]) : value;
  }
}

/** The lies of random sequences: the kind, and what is said about its records. */
const CATALOG: Readonly<Record<string, readonly (readonly [Kind, Lie])[]>> = {
  type: [["endpoint", { type: ABSENT }]],
  gpuIds: [["endpoint", { gpuIds: null, instanceIds: null }]],
  gpu: [["endpoint", { gpu: ABSENT, cpu: ABSENT }]],
  counts: [["endpoint", { gpuCount: null, workersPFBTarget: null, executionTimeoutMs: null, idleTimeout: null }]],
  env: [["endpoint", { env: null }]],
  timeout: [["endpoint", { "workers.idleTimeout": ABSENT, requestUrls: ABSENT }]],
  container: [
    ["endpoint", { image: ABSENT, args: ABSENT, disk: ABSENT, env: ABSENT, ports: ABSENT, registry: ABSENT }],
    ["endpoint", { "template.imageName": null, "template.containerDiskInGb": null, "template.dockerArgs": null }],
    ["template", { dockerArgs: null, containerDiskInGb: null, ports: null, args: ABSENT, disk: ABSENT }],
  ],
  place: [["volume", { dataCenterId: "eu-ro-1", dataCenter: "EU-RO-1A", storageType: null, type: ABSENT }]],
  spelling: [
    [
      "endpoint",
      {
        name: (name: unknown) => `${name} -fb`,
        gpuIds: (ids: unknown) => (typeof ids === "string" ? ids.replaceAll(",", ", ") : ids),
        locations: (places: unknown) => (typeof places === "string" ? places.split(",").reverse().join(", ") : places),
      },
    ],
  ],
};

/** Returns the meddler for a lie of the catalog, for this many answers. */
export function liar(name: string, isLying: (request: Request) => boolean, most: number): Meddler {
  let left = most;
  const when = (request: Request) => request.api !== "queue" && isLying(request) && left-- > 0;
  if (name === "old") return { isOld: (request) => request.write === undefined && when(request) };
  if (name === "cut") return { lie: (request, answer) => (request.write ? answer : cut(answer, when, request)) };
  const all = CATALOG[name] ?? [];
  return {
    lie(request, answer) {
      if (!when(request)) return answer;
      for (const [kind, lie] of all) lieAbout(kind, lie).lie?.(request, answer);
      return answer;
    },
  };
}

/** Leaves out half of the records of a list. */
function cut(answer: unknown, when: (request: Request) => boolean, request: Request): unknown {
  const lists: [Tree, string, unknown[]][] = [];
  const find = (tree: unknown) => {
    if (tree === null || typeof tree !== "object") return;
    for (const [field, value] of Object.entries(tree)) {
      if (Array.isArray(value) && Object.values(FIELDS).some((names) => names.test(field))) {
        lists.push([tree as Tree, field, value]);
      } else find(value);
    }
  };
  if (answer !== null && typeof answer === "object" && !("id" in answer)) find(answer);
  if (lists.length === 0 || !when(request)) return answer;
  for (const [tree, field, value] of lists) tree[field] = value.slice(0, value.length >> 1);
  return answer;
}
