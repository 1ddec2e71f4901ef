import * as z from "zod";
import type { ServiceName } from "../contract/limits";
import { BusinessRuleError, RejectedError } from "../errors";
import { readMyself } from "../records/graphqlCalls";
import type { Kept, KeptFields } from "../records/keptFields";
import { hideJobSecret } from "../secret";
import { decode } from "../transport/decode";
import type { GraphqlTransport, Literal } from "../transport/graphql";
import type { Attempt } from "../transport/retryingCall";
import { ENDPOINT_FIELDS, KEPT_FIELDS } from "./fields";
import { areSeveral } from "./networkVolumes";
import type { Endpoint, EndpointSettings } from "./record";
import { toSaveInput } from "./wireFormat";

type Input = Record<string, Literal | undefined>;

/**
 * The sources of endpoints that a change over GraphQL would damage, and how to change them instead.
 */
const SOURCES: Readonly<Record<string, string>> = {
  flashEnvironmentId: "It was deployed by the service's Flash tool. Change it there",
  repo: "It is built from a repository. Change it in the service's console",
  hubRelease: "It was deployed from the service's hub. Change it in the service's console",
};

/**
 * Refuses to change an endpoint whose source a save could detach.
 * @throws BusinessRuleError that names the tool to change it with
 */
export function refuseOtherSources({ id, name, kept = {} }: Endpoint): void {
  const source = Object.keys(SOURCES).find((field) => kept[field] !== undefined);
  if (source === undefined) return;
  throw new BusinessRuleError(
    `endpoint ${id} ("${name}") was not changed: GraphQL cannot change it without detaching it from its source. ` +
      `${SOURCES[source]}, or over REST v2 (SERVERLESS_GPU_API=v2). To delete it over GraphQL, set its workersMin and ` +
      "workersMax to 0 there first",
  );
}

/**
 * Returns the input of a change: the kept fields as they were read, and the settings of the change.
 * A field that the endpoint cannot have together with the others is `undefined`.
 */
export function changeInput(
  fields: KeptFields,
  before: Endpoint,
  changes: Partial<EndpointSettings>,
  service: ServiceName | undefined,
): Input {
  const kept = fields.input(before.kept);
  const after = { ...before, ...changes };
  const isSent = (field: keyof EndpointSettings) =>
    !Object.hasOwn(KEPT_FIELDS, field) || after[field] !== before[field];
  const sent = ENDPOINT_FIELDS.filter(isSent).map((field) => [field, after[field]] as const);
  // The service keeps a single volume that a save leaves out.
  const setsSeveral = areSeveral(after.networkVolumeIds) && after.networkVolumeIds !== before.networkVolumeIds;
  return {
    id: before.id,
    ...kept,
    ...toSaveInput(Object.fromEntries(sent), service, after),
    ...(setsSeveral && { networkVolumeId: null }),
    ...standbyOf(kept, before, after),
  };
}

/**
 * Returns the number of standby workers. If it was equal to `workersMin`, it stays equal, and it is
 * at most `workersMax`.
 */
function standbyOf({ workersStandby }: Input, before: Endpoint, after: Endpoint): Input {
  if (typeof workersStandby !== "number") return {};
  const follows = workersStandby === before.workersMin;
  return { workersStandby: Math.min(follows ? after.workersMin : workersStandby, after.workersMax) };
}

/**
 * Length of the shortest value that messages do not show. Shorter ones are hardly secret, such as
 * `true`.
 */
const SHORTEST_HIDDEN_VALUE = 8;

const secretsSchema = z.looseObject({
  id: z.string(),
  env: z.array(z.looseObject({ key: z.string(), value: z.string().nullish() })).nullish(),
});

/**
 * Reads the secret fields of one endpoint, for a save. Services without the read of one endpoint
 * are asked for the list. Messages do not show the values.
 */
export async function readSecrets(
  transport: GraphqlTransport,
  fields: KeptFields,
  { id, name }: Endpoint,
  attempt: Attempt,
): Promise<Kept> {
  const operation = `the variables of endpoint ${id}`;
  const selection = () => `id ${fields.secretSelection()}`;
  const readOne = async () => {
    const myself = await readMyself(
      transport,
      operation,
      `endpoint(id: ${JSON.stringify(id)}) { ${selection()} }`,
      attempt,
    );
    return decode(z.looseObject({ endpoint: secretsSchema.nullable() }), myself, operation).endpoint;
  };
  const readList = async () => {
    const myself = await readMyself(transport, operation, `endpoints { ${selection()} }`, attempt);
    const { endpoints } = decode(z.looseObject({ endpoints: z.array(secretsSchema) }), myself, operation);
    return endpoints.find((each) => each.id === id);
  };
  const lacksRead = (error: unknown) => error instanceof RejectedError && error.refusedFields?.includes("endpoint");
  const read = await fields.send(async () => {
    if (fields.secretSelection() === "") return undefined;
    return readOne().catch((error: unknown) => {
      if (lacksRead(error)) return readList();
      throw error;
    });
  });
  if (!read?.env) return {};
  const env = read.env.map(({ key, value }) => ({ key, value: value ?? "" }));
  for (const { value } of env) if (value.length >= SHORTEST_HIDDEN_VALUE && !name.includes(value)) hideJobSecret(value);
  return { env };
}
