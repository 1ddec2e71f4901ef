import * as z from "zod";
import type { Endpoint } from "../endpoints/record";
import { DELETE_OPTIONS, SAVE_OPTIONS } from "../records/callOptions";
import type { RecordCalls } from "../records/calls";
import { type Collection, createCollection, type SaveOptions } from "../records/collection";
import type { CreateRecordOptions } from "../records/createRecord";
import { type DeleteUnusedOptions, deleteUnused, unusedBy } from "../records/deleteUnused";
import { inputChecks } from "../records/input";
import type { Readers } from "../records/readers";
import { recordOperations } from "../records/records";
import type { Template } from "../templates/template";
import type { CallContext } from "../transport/call";
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
   * @throws InUseError immediately if a template or, over REST v2, an endpoint uses the credential,
   * because this user would lose the credential without any warning; names the users
   * @throws UnexpectedResponseError if the client cannot tell whether the credential is in use
   * @throws DELETE_TIMEOUT if the service does not accept the deletion within `releaseTimeoutMs`
   */
  delete(id: string, options?: DeleteUnusedOptions): ResponsePromise<void>;
}

/** The requests for registry credentials. Each function sends one request, without retries. */
export type RegistryAuthCalls = RecordCalls<RegistryAuth, RegistryAuthInput>;

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
      isUser: (endpoint, registryAuth: RegistryAuth) => endpoint.containerRegistryAuthId === registryAuth.id,
      remedy:
        "Its workers could no longer pull their image. Give the endpoint another credential, or delete the endpoint if nobody " +
        "needs it, then delete the credential again. An endpoint with imageName has its own containerRegistryAuthId. For an endpoint with templateId, " +
        "change the template, and roll the change out with templateRevision",
    });
  const rules = isInNoEndpoint ? [isInNoEndpoint, isInNoTemplate] : [isInNoTemplate];
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
