import type { Client } from "../../sdk/client/client";
import type { UnreadableRecord } from "../../sdk/records/listed";
import { type CheckResult, failed, ok, skipped, together, warning } from "./check";

/** The account's lists, as far as they could be read. */
export interface Lists {
  readonly endpoints?: readonly Named[];
  /** The endpoints that cannot be read. */
  readonly unreadable?: readonly UnreadableRecord[];
  readonly templates?: readonly Named[];
  readonly volumes?: readonly (Named & { readonly dataCenterId: string })[];
  /** Why the list of endpoints could not be read. */
  readonly problem?: string;
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Reads the account's lists. A list that the API does not offer is left out. */
export async function readLists({ endpoints, templates, volumes }: Client): Promise<Lists> {
  const lists = await Promise.allSettled([
    endpoints.listReadable().then(({ records, unreadable }) => ({ endpoints: records, unreadable })),
    templates.listReadable().then(({ records }) => ({ templates: records })),
    volumes.listReadable().then(({ records }) => ({ volumes: records })),
  ]);
  const [ofEndpoints] = lists;
  const problem = ofEndpoints?.status === "rejected" ? { problem: String(ofEndpoints.reason?.message) } : {};
  return Object.assign({}, ...lists.map((list) => (list.status === "fulfilled" ? list.value : {})), problem);
}

/**
 * Warns about endpoints that cannot be read, and about duplicate names. RunPod accepts them, and
 * two stacks that create the same name at the same moment don't see each other's record.
 */
export function checkNames({ endpoints, unreadable = [], volumes, problem }: Lists): CheckResult {
  if (problem !== undefined)
    return failed(
      `the list of endpoints could not be read: ${problem}`,
      "Run doctor again. Until then, names are unchecked.",
    );
  if (!endpoints) return skipped("the list of endpoints was not read");
  const places = new Map((volumes ?? []).map(({ id, dataCenterId }) => [id, ` in ${dataCenterId}`]));
  const found = [
    ...unreadable.map(({ id = "without an id", name = "without a name", problem }) =>
      warning(
        `endpoint ${id} ("${name}") cannot be read: ${problem}`,
        "Until then, no command and no program can change it.",
      ),
    ),
    ...twice("endpoints", endpoints, () => ""),
    ...twice("network volumes", volumes ?? [], ({ id }) => places.get(id) ?? ""),
  ];
  if (found.length > 0) return together(found);
  return ok("no two endpoints, and no two network volumes of a data center, have the same name");
}

/** Returns a warning for each name that several records in the same place share. */
function twice(nouns: string, records: readonly Named[], placeOf: (record: Named) => string): CheckResult[] {
  const idsOf = new Map<string, string[]>();
  for (const record of records) {
    const name = `"${record.name}"${placeOf(record)}`;
    idsOf.set(name, [...(idsOf.get(name) ?? []), record.id]);
  }
  return [...idsOf].flatMap(([name, ids]) => {
    if (ids.length < 2) return [];
    return warning(
      `${ids.length} ${nouns} have the name ${name}: ${ids.join(", ")}`,
      "Find out which stack has which id (pulumi stack --show-ids), and rename one in its program. Delete one only if no stack " +
        "and no person needs it: you may be charged for it.",
    );
  });
}
