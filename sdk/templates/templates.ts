import { isDeepStrictEqual } from "node:util";
import { sleep } from "../contract/clock";
import { LIST_LAG_MS } from "../contract/limits";
import type { Endpoint } from "../endpoints/record";
import { CREATE_OPTIONS, DELETE_OPTIONS, KNOWN_OPTIONS } from "../records/callOptions";
import { changeRecord } from "../records/changeRecord";
import {
  type Collection,
  createCollection,
  getRecord,
  type KnownOptions,
  readExisting,
  withKnown,
} from "../records/collection";
import type { CreateRecordOptions } from "../records/createRecord";
import { type DeleteUnusedOptions, deleteUnused, unusedBy } from "../records/deleteUnused";
import { type Readers, readersOf } from "../records/readers";
import { createUnique, explainTakenName } from "../records/uniqueName";
import { type ObservedOptions, type RequestOptions, requestOptions } from "../transport/requestOptions";
import { checkedCall, type ResponsePromise, withResponse } from "../transport/responsePromise";
import { type Attempt, type CallContext, makeCall } from "../transport/retryingCall";
import { TEMPLATE_DEFAULTS, TEMPLATE_FIELDS, WORKER_FIELDS } from "./fields";
import { TEMPLATE, type TemplateCalls } from "./graphqlCalls";
import { hideEnv, parseTemplate, parseTemplateChanges } from "./input";
import type { Template, TemplateChanges, TemplateInput, TemplateSettings } from "./record";

/**
 * Creates, changes, lists and deletes templates (observed: the contract has only their ids). The lists also hold the
 * templates of pods, which share the name space.
 */
export interface Templates extends Readers<Template> {
  /**
   * Creates a template for endpoints. If the response is lost, it checks whether the template was created before it tries
   * again.
   * @throws InvalidInputError if a field is not valid; nothing was sent
   * @throws NameTakenError if a template has the name; nothing was created
   * @throws CreateUncertainError if it cannot tell whether the template was created
   */
  create(input: TemplateInput, options?: CreateRecordOptions<Template>): ResponsePromise<Template>;
  /**
   * Changes a template. Sends nothing if nothing differs: a save alone may restart workers.
   * @throws InvalidInputError if a field is not valid; nothing was sent
   * @throws NotFoundError if the template does not exist
   * @throws NameTakenError if another template has the new name
   */
  update(id: string, changes: TemplateChanges, options?: KnownOptions): ResponsePromise<Template>;
  /**
   * Deletes a template by the name that it has now, and proves that it is gone. Waits while the service refuses, up to two
   * minutes after the last use. A template that does not exist counts as deleted.
   * @throws InUseError at once if an endpoint uses it; names the endpoint
   * @throws DeleteTimeoutError if the service does not accept the deletion in time
   */
  delete(id: string, options?: DeleteUnusedOptions): ResponsePromise<void>;
  /**
   * Returns the ids of the templates that have the image, the variables and the settings of an endpoint's workers, by the
   * endpoint's id. REST v2 does not show the template of an endpoint. Over GraphQL, which shows it, this is empty.
   */
  matchEndpoints(options?: RequestOptions): ResponsePromise<ReadonlyMap<string, readonly string[]>>;
}

/** The templates of one account. */
export interface TemplateAccount extends Collection<Template> {
  readonly calls: TemplateCalls;
}

/** Returns the account that the calls work on. */
export function createTemplateAccount(context: CallContext, calls: TemplateCalls): TemplateAccount {
  return { ...createCollection(context, TEMPLATE, calls), calls };
}

/** Returns the templates of one account. `endpoints` are those that may use them. */
export function createTemplates(account: TemplateAccount, endpoints: Collection<Endpoint>): Templates {
  const isUnused = unusedBy(
    endpoints,
    (endpoint, template: Template) => endpoint.templateId === template.id,
    "Delete the endpoint, or give it another template, then delete the template again",
  );
  return {
    ...readersOf(account),
    create: (input, given) => checkedCall(given, CREATE_OPTIONS, (options) => createTemplate(account, input, options)),
    update: (id, changes, given) =>
      checkedCall(given, KNOWN_OPTIONS, (options) => updateTemplate(account, id, changes, options)),
    delete: (id, given) =>
      checkedCall(given, DELETE_OPTIONS, (options) => deleteUnused(account, id, [isUnused], options)),
    matchEndpoints: (given) => withResponse(given, (options) => matchEndpoints(account, options)),
  };
}

async function matchEndpoints(
  account: TemplateAccount,
  options: ObservedOptions,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { containersOfEndpoints } = account.calls;
  if (!containersOfEndpoints) return new Map();
  const operation = "the containers of endpoints";
  const attempt = (each: Attempt) => containersOfEndpoints(operation, each);
  const call = { name: "listEndpoints", operation, repeatability: "safe", attempt } as const;
  const containers = await makeCall(account, { ...requestOptions(options), ...call });
  const { records: templates } = await account.list.read({}, options);
  const isSame = (one: Template, other: Template) =>
    WORKER_FIELDS.every((field) => isDeepStrictEqual(one[field], other[field]));
  return new Map(
    containers.records.map((container) => {
      const same = templates.filter((template) => template.isServerless && isSame(template, container));
      return [container.id, same.map(({ id }) => id)];
    }),
  );
}

async function createTemplate(
  account: TemplateAccount,
  input: TemplateInput,
  options: CreateRecordOptions<Template> & ObservedOptions,
): Promise<Template> {
  const wanted: TemplateSettings = { ...TEMPLATE_DEFAULTS, imageName: "", ...parseTemplate(input) };
  hideEnv(wanted.env, [wanted.name, wanted.imageName]);
  const creation = {
    settings: wanted,
    isSame: (each: Template) => WORKER_FIELDS.every((field) => isDeepStrictEqual(each[field], wanted[field])),
  };
  const created = await createUnique(account, creation, options);
  return withKnown(created, account.hiddenIn(created), { ...wanted });
}

async function updateTemplate(
  account: TemplateAccount,
  id: string,
  changes: TemplateChanges,
  { known, ...options }: KnownOptions & ObservedOptions,
): Promise<Template> {
  const { env, ...fields } = parseTemplateChanges(id, changes);
  const completed = (read: Template) => withKnown(read, account.hiddenIn(read), known);
  const merge = (before: Template): TemplateSettings => ({
    ...before,
    ...fields,
    env: env === undefined ? before.env : changedEnv(before.env, env),
  });
  let before = completed(await readSettled(account, id, options));
  if (isSame(before, merge(before))) {
    // The list may be older than somebody's last change. A save would be repeated for nothing, but never left out.
    await sleep(account.clock, LIST_LAG_MS, options.signal);
    before = completed(await getRecord(account, id, options));
    if (isSame(before, merge(before))) return before;
  }
  const settings = merge(before);
  hideEnv(settings.env, [settings.name, settings.imageName]);
  try {
    const saved = await changeRecord(account, before, settings, options);
    return withKnown(saved, account.hiddenIn(saved), { ...settings });
  } catch (error) {
    throw await explainTakenName(error, account, settings.name, options);
  }
}

/**
 * Reads a template. After a write of this client it waits for the list's lag: an older record must not be written back.
 * Changes of endpoints follow one another faster, so they do not wait: see `withOwnSave`. This wait also covers a change
 * whose response was lost, and a change that somebody else has taken back.
 */
async function readSettled(account: TemplateAccount, id: string, options: ObservedOptions): Promise<Template> {
  const { clock, lastWrites } = account;
  const settledAt = (lastWrites.get(id) ?? Number.NEGATIVE_INFINITY) + LIST_LAG_MS;
  if (clock.monotonic() < settledAt) await sleep(clock, settledAt - clock.monotonic(), options.signal);
  return readExisting(account, id, options, LIST_LAG_MS);
}

function isSame(before: TemplateSettings, after: TemplateSettings): boolean {
  return Object.keys(TEMPLATE_FIELDS).every((field) =>
    isDeepStrictEqual(before[field as keyof TemplateSettings], after[field as keyof TemplateSettings]),
  );
}

/** Returns the environment after changes: first the changed variables, sorted, then the others as they were. */
function changedEnv(
  before: TemplateSettings["env"],
  changes: Readonly<Record<string, string | null>> | null,
): TemplateSettings["env"] {
  if (changes === null) return {};
  const names = Object.keys(changes).sort();
  const set = names.flatMap((name) => (changes[name] === null ? [] : [[name, changes[name]] as const]));
  const others = Object.entries(before).filter(([name]) => !Object.hasOwn(changes, name));
  return Object.fromEntries([...set, ...others] as [string, string][]);
}
