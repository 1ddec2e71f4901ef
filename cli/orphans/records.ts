import { RECORD_TYPES, type RecordClass } from "../../provider/engine/resourceTypes";
import type { Client } from "../../sdk/client/client";
import type { Endpoint } from "../../sdk/endpoints/record";
import { UnexpectedResponseError } from "../../sdk/errors/errors";
import type { Listed, NamedRecord } from "../../sdk/records/listed";
import { COLLECTIONS, classOf } from "../stack";

/** The classes of the records of an account. */
export const CLASSES = Object.keys(RECORD_TYPES) as RecordClass[];

/** Returns what messages call a record. */
export const nounOf = ({ type }: { readonly type: RecordClass }): string => RECORD_TYPES[type].noun;

/** The name of a template that belongs to an endpoint. RunPod deletes both together. */
const BOUND = /^(.+)__template__\w+$/;

/** Returns the name of the endpoint that a template belongs to, judging by the template's name. */
export function boundTo(templateName: string): string | undefined {
  return BOUND.exec(templateName)?.[1];
}

/** Returns `true` if a URN has this resource class and, if given, this logical name. */
export function isResourceOf(urn: string, type: string, logicalName?: string): boolean {
  const [, , types = "", name] = urn.split("::");
  return [name, undefined].includes(logicalName) && classOf(types.split("$").at(-1) ?? "") === type;
}

/** A record of the account. */
export interface AccountRecord {
  readonly type: RecordClass;
  readonly id: string;
  readonly name: string;
  /** When the record was created (ISO 8601), if the API shows it. */
  readonly createdAt?: string | undefined;
  /** The endpoint's settings, which determine its cost. */
  readonly endpoint?: Endpoint | undefined;
  /** The size of a volume in GB. */
  readonly sizeInGb?: number | undefined;
}

/**
 * Reads all records of the account.
 * @throws UnexpectedResponseError if a list is cut off or contains an unreadable record
 */
export async function readAccountRecords({
  endpoints,
  templates,
  volumes,
  registryAuths,
  secrets,
}: Client): Promise<AccountRecord[]> {
  const lists: Record<RecordClass, Promise<AccountRecord[]>> = {
    ServerlessEndpoint: whole("ServerlessEndpoint", endpoints.listReadable(), (endpoint) => ({
      endpoint,
      createdAt: endpoint.createdAt,
    })),
    ServerlessTemplate: whole("ServerlessTemplate", templates.listReadable()),
    NetworkVolume: whole("NetworkVolume", volumes.listReadable(), ({ size }) => ({ sizeInGb: size })),
    ContainerRegistryAuth: whole("ContainerRegistryAuth", registryAuths.listReadable()),
    Secret: whole("Secret", secrets.listReadable(), ({ createdAt }) => ({ createdAt: createdAt || undefined })),
  };
  const records = (await Promise.all(Object.values(lists))).flat();
  return records.filter((each) => each.type !== "ServerlessTemplate" || !belongsToOneOf(records, each));
}

/**
 * Returns `true` for a template that belongs to an existing endpoint. REST v2 does not show an
 * endpoint's template, so the template's name decides there.
 */
function belongsToOneOf(records: readonly AccountRecord[], { id, name }: AccountRecord): boolean {
  const endpointName = boundTo(name);
  const isOwner = ({ templateId, name }: Endpoint) => templateId === id || (templateId === "" && name === endpointName);
  return endpointName !== undefined && records.some(({ endpoint }) => endpoint && isOwner(endpoint));
}

async function whole<T extends NamedRecord>(
  type: RecordClass,
  reading: PromiseLike<Listed<T>>,
  more: (record: T) => Omit<AccountRecord, "type" | "id" | "name"> = () => ({}),
): Promise<AccountRecord[]> {
  const { records, unreadable, mayBeCut } = await reading;
  if (!mayBeCut && unreadable.length === 0)
    return records.map((each) => ({ type, id: each.id, name: each.name, ...more(each) }));
  throw new UnexpectedResponseError(
    `the list of ${nounOf({ type })}s is not complete, or an entry in it cannot be read, so orphans could be missing. Nothing was listed`,
  );
}

/**
 * Deletes a record with the same proofs as the provider.
 * @param say receives progress messages
 */
export async function deleteRecord(client: Client, { type, id }: AccountRecord, say: (text: string) => void) {
  if (type === "ServerlessEndpoint") {
    await client.endpoints.delete(id, {
      onProgress: ({ phase, activePods }) =>
        say(`${phase}${phase === "draining" ? `: ${activePods} workers left` : ""}`),
    });
    return;
  }
  await client[COLLECTIONS[type]].delete(id, { onWait: ({ reason }) => say(reason) });
}
