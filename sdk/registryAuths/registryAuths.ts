import * as z from "zod";
import type { Endpoint } from "../endpoints/record";
import { ServerlessGpuError } from "../errors/errors";
import { DELETE_OPTIONS, SAVE_OPTIONS } from "../records/callOptions";
import type { RecordCalls } from "../records/calls";
import { type Collection, createCollection, type SaveOptions } from "../records/collection";
import type { CreateRecordOptions } from "../records/createRecord";
import { type DeleteUnusedOptions, type DeletionRule, deleteUnused, unusedBy } from "../records/deleteUnused";
import { inputChecks } from "../records/input";
import type { Listed } from "../records/listed";
import type { Readers } from "../records/readers";
import { recordOperations } from "../records/records";
import type { Template } from "../templates/template";
import type { Attempt, CallContext } from "../transport/call";
import { makeCall } from "../transport/makeCall";
import type { ResponsePromise } from "../transport/responsePromise";
import {
  REGISTRY_AUTH,
  REGISTRY_AUTH_FIELDS,
  type RegistryAuth,
  type RegistryAuthInput,
  type RegistryLogin,
} from "./registryAuth";

/**
 * Creates, changes, lists and deletes credentials for image registries. They are not in the
 * contract (observed).
 */
export interface RegistryAuths extends Readers<RegistryAuth> {
  /**
   * Creates a credential. If the response is lost, checks whether the credential was created before
   * trying again.
   * @throws InvalidInputError if a field is not valid; nothing was sent
   * @throws NameTakenError if a credential with this name exists; nothing was created
   * @throws CreateUncertainError if the client cannot tell whether the credential was created
   */
  create(input: RegistryAuthInput, options?: CreateRecordOptions<RegistryAuth>): ResponsePromise<RegistryAuth>;
  /**
   * Replaces the user name and the password. The credential keeps its id, so templates that use it
   * need no change.
   * @throws InvalidInputError if a field is not valid; nothing was sent
   * @throws NotFoundError if the credential does not exist
   */
  update(id: string, login: RegistryLogin, options?: SaveOptions<RegistryAuth>): ResponsePromise<RegistryAuth>;
  /**
   * Deletes a credential and verifies that it is gone. A credential that does not exist counts as
   * deleted.
   * @throws InUseError immediately if a template or an endpoint's own container uses the
   * credential, because that template or endpoint would lose the credential without any warning;
   * names the templates and endpoints. GraphQL does not show an endpoint's own container, so REST
   * v2 is asked. If the key may not use REST v2, `onWarning` says that such endpoints are not known
   * @throws UnexpectedResponseError if the client cannot tell whether the credential is in use
   * @throws DELETE_TIMEOUT if the service does not accept the deletion within `releaseTimeoutMs`
   */
  delete(id: string, options?: DeleteUnusedOptions): ResponsePromise<void>;
}

/** The requests for registry credentials. Each function sends one request, without retries. */
export type RegistryAuthCalls = RecordCalls<RegistryAuth, RegistryAuthInput> & {
  /**
   * Reads the endpoints with a container of their own, over an API that shows its credential.
   * @default the API of the client shows it
   */
  readonly ownContainers?: (operation: string, attempt: Attempt) => Promise<Listed<Endpoint>>;
};

export const registryAuthSchema: z.ZodType<RegistryAuth> = z.looseObject({ id: z.string().min(1), name: z.string() });

/** The beginning of messages about a change that the API cannot make. */
export const FIXED_LOGIN = `REST v2 cannot change the user or the password of ${REGISTRY_AUTH.one}`;

/** Explains how to change the user name or the password over REST v2. */
export const ANOTHER_LOGIN =
  `${FIXED_LOGIN}. Nothing was changed. Give the credential another name: a new one is then created, and the old one is ` +
  "deleted when nothing uses it";

/**
 * Validates the settings of a new credential, and a new user name and password. Hides the password.
 */
export const REGISTRY_AUTH_CHECKS = inputChecks<RegistryAuthInput, RegistryAuthInput, RegistryLogin>(
  REGISTRY_AUTH,
  REGISTRY_AUTH_FIELDS,
  { hidden: "password", changesAll: true },
);

/**
 * How long the service may take to accept a deletion, in milliseconds. A deletion that fails may
 * succeed when it is sent again.
 */
const DELETE_TIMEOUT_MS = 60_000;

/** Explains how to release a credential that an endpoint uses. */
const OF_ENDPOINT =
  "Its workers could no longer pull their image. Give the endpoint another credential, or delete the endpoint if nobody " +
  "needs it, then delete the credential again. An endpoint with imageName has its own containerRegistryAuthId. For an endpoint with templateId, " +
  "change the template, and roll the change out with templateRevision";

const usesIt = (endpoint: Endpoint, { id }: RegistryAuth) => endpoint.containerRegistryAuthId === id;

/**
 * Returns the rule that no endpoint's own container may use the credential, for an API that does
 * not show it. If the key may not use the other API, a warning says that this is not known.
 */
function unusedElsewhere(
  context: CallContext,
  list: NonNullable<RegistryAuthCalls["ownContainers"]>,
): DeletionRule<RegistryAuth> {
  return {
    remedy: OF_ENDPOINT,
    async usageOf(record, options) {
      const operation = "the list of endpoints over REST v2";
      const attempt = (each: Attempt) => list(operation, each);
      try {
        const call = { name: "listEndpoints", operation, repeatability: "safe", ...options, attempt } as const;
        const { records, unreadable } = await makeCall(context, call);
        const users = records
          .filter((each) => usesIt(each, record))
          .map(({ id, name }) => `endpoint "${name}" (${id})`);
        const [odd] = unreadable;
        return {
          users,
          doubt: odd && `endpoint ${odd.id ?? "without an id"} cannot be read over REST v2: ${odd.problem}`,
        };
      } catch (error) {
        if (!(error instanceof ServerlessGpuError)) throw error;
        if (!REFUSED.includes(error.status ?? 0)) return { users: [], doubt: error.message };
        context.warn?.(
          `it is not known whether an endpoint that was made over REST v2 uses ${record.id} ("${record.name}"), because ` +
            `GraphQL does not show that, and REST v2 rejects this key: ${error.message}`,
        );
        return { users: [] };
      }
    },
  };
}

/** The statuses that say that a key or a service has no REST v2. */
const REFUSED: readonly number[] = [401, 403, 404, 410];

/**
 * Returns the functions that read and write the registry credentials of one account. `templates`
 * may use them, and so may those `endpoints` that have their own container.
 */
export function createRegistryAuths(
  context: CallContext,
  calls: RegistryAuthCalls,
  templates: Collection<Template>,
  endpoints: Collection<Endpoint> | undefined,
): RegistryAuths {
  const registryAuths = createCollection(context, REGISTRY_AUTH, calls);
  const isInNoTemplate = unusedBy(templates, {
    isUser: (template, registryAuth: RegistryAuth) => template.containerRegistryAuthId === registryAuth.id,
    remedy:
      "The template would lose it without any warning. Give the template another credential, or delete the template if " +
      "nobody needs it, then delete the credential again",
  });
  const isInNoEndpoint =
    endpoints &&
    unusedBy(endpoints, {
      isUser: usesIt,
      remedy: OF_ENDPOINT,
    });
  const isUsedNowhereElse = calls.ownContainers && unusedElsewhere(context, calls.ownContainers);
  const rules = [isInNoEndpoint, isUsedNowhereElse, isInNoTemplate].filter((rule) => rule !== undefined);
  return recordOperations(registryAuths, {
    ...REGISTRY_AUTH_CHECKS,
    parseChanges: (id, { username, password }) => REGISTRY_AUTH_CHECKS.parseChanges(id, { username, password }),
    merge: ({ name }, login) => ({ name, ...login }),
    isSame: () => true,
    delete: (id, options) =>
      deleteUnused(registryAuths, id, rules, { releaseTimeoutMs: DELETE_TIMEOUT_MS, ...options }),
    updateOptions: SAVE_OPTIONS,
    deleteOptions: DELETE_OPTIONS,
  });
}
