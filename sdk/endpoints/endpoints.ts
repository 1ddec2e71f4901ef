import { changedEnv, hideEnv } from "../containers/input";
import { InvalidInputError } from "../errors";
import { CREATE_OPTIONS, KNOWN_OPTIONS, UPDATE_OPTIONS } from "../records/callOptions";
import type { KnownOptions, UpdateRecordOptions } from "../records/collection";
import { fixedIn } from "../records/fields";
import type { Readers } from "../records/readers";
import { getRecord } from "../records/reads";
import { recordOperations } from "../records/records";
import { aString, type OptionChecks, optionCheck, REQUEST_OPTIONS } from "../transport/callOptions";
import type { RequestOptions } from "../transport/requestOptions";
import { checkedCall, type ResponsePromise } from "../transport/responsePromise";
import { applyTemplate, type EndpointCollection, fetchDiscount } from "./calls";
import { deleteBoundTemplate } from "./deleteBoundTemplate";
import { DELETE_ENDPOINT_OPTIONS, type DeleteOptions, deleteEndpoint } from "./deleteEndpoint";
import { FIELDS } from "./fields";
import { newTierWarnings, parseEndpointFields } from "./input";
import { drawTemplateName, type ParsedChanges, withWholeContainer } from "./ownContainer";
import { runsOnCpus } from "./processors";
import type {
  CreateEndpointOptions,
  Endpoint,
  EndpointChanges,
  EndpointInput,
  EndpointSettings,
  NewEndpoint,
  ServerlessDiscount,
} from "./record";
import { RECYCLE_OPTIONS, type RecycleOptions, recycleWorkers } from "./recycleWorkers";
import { type EndpointRelease, type EndpointWorker, readReleases, readWorkers } from "./releases";
import { saveWorkers } from "./saveWorkers";
import type { TemplateFunctions } from "./standInTemplate";
import { AT_ZERO, type WorkerLimits } from "./workerLimits";

/**
 * Creates, changes, lists and deletes endpoints (contract, GraphQL). Every call may also throw the
 * errors of the connection, such as `AuthenticationError` and `ConnectionError`.
 */
export interface Endpoints extends Readers<Endpoint> {
  /**
   * Creates an endpoint. If the response is lost, it checks whether the endpoint was created before
   * it tries again, so that there is never a second one.
   * @throws InvalidInputError if a field is not valid; nothing was sent
   * @throws QuotaExceededError if `workersMax` exceeds the rest of the account's quota; names the
   * endpoints that use it
   * @throws CreateUncertainError if it cannot find out whether the endpoint was created, or which
   * of several new ones it is
   */
  create(input: EndpointInput, options?: CreateEndpointOptions): ResponsePromise<Endpoint>;
  /**
   * Changes fields of an endpoint. Fields that are left out keep their value. Over GraphQL, a
   * change of its image, variables or other settings of its container saves the template that
   * belongs to it.
   * @throws InvalidInputError if a field is not valid; nothing was sent
   * @throws NotFoundError if the endpoint does not exist
   * @throws BusinessRuleError if its container is to change, and over GraphQL it has none
   * @throws InUseError if its container is to change, and over GraphQL another endpoint uses the
   * template that belongs to it
   * @throws QuotaExceededError if `workersMax` exceeds the rest of the account's quota; names the
   * endpoints that use it
   */
  update(id: string, changes: EndpointChanges, options?: UpdateRecordOptions<Endpoint>): ResponsePromise<Endpoint>;
  /**
   * Sets `workersMin` and `workersMax` to 0 and leaves everything else as it is.
   * @throws NotFoundError if the endpoint does not exist
   */
  scaleToZero(id: string, options?: RequestOptions): ResponsePromise<Endpoint>;
  /**
   * Deletes an endpoint: scales it to zero, waits until its workers have stopped, deletes it and
   * verifies that it is gone, and over GraphQL the template that belongs to it. An endpoint that
   * does not exist counts as deleted. A deletion that fails or is aborted restores the worker
   * counts; the error says whether the endpoint runs again.
   * @throws InvalidInputError if `drain` is `false` and the interface cannot delete an endpoint
   * with its workers; nothing was sent
   * @throws InUseError if over GraphQL another endpoint uses the template that belongs to it;
   * nothing was changed
   * @throws DELETE_TIMEOUT if its workers do not stop in time; the endpoint still exists
   * @throws INTERRUPTED if the signal aborts after the endpoint was scaled to zero
   */
  delete(id: string, options?: DeleteOptions): ResponsePromise<void>;
  /**
   * Replaces all workers: scales to zero, waits until they have completed their jobs and stopped,
   * and sets `workersMin` and `workersMax`. Waiting jobs stay in the queue. If it was interrupted,
   * call it again to finish the rest.
   * @throws NotFoundError if the endpoint does not exist
   * @throws RECYCLE_TIMEOUT if the workers do not stop in time; the error says whether the
   * endpoint has its workers again
   * @throws INTERRUPTED if the signal aborts after the endpoint was scaled to zero
   */
  recycleWorkers(id: string, workers: WorkerLimits, options?: RecycleOptions): ResponsePromise<Endpoint>;
  /**
   * Gives the workers the current version of a template. REST v2 copies a template once, so later
   * changes reach no endpoint: the template is copied again. Over GraphQL the service rolls changes
   * out by itself, except to an endpoint that holds a copy from REST v2, which GraphQL does not
   * show: the endpoint is saved, which links it to the template again.
   * @throws NotFoundError if the endpoint or the template does not exist
   */
  applyTemplate(id: string, templateId: string, options?: KnownOptions): ResponsePromise<Endpoint>;
  /**
   * Returns the workers of an endpoint that have not shut down, and which of them run an older
   * release.
   * @throws NotFoundError if the endpoint does not exist
   */
  workers(id: string, options?: RequestOptions): ResponsePromise<readonly EndpointWorker[]>;
  /**
   * Returns the latest releases of an endpoint, the newest first. Values of variables are among
   * their changes: do not print these. GraphQL shows none: then it sends nothing and returns
   * `undefined`.
   * @throws NotFoundError if the endpoint does not exist
   */
  releases(id: string, options?: ReleasesOptions): ResponsePromise<readonly EndpointRelease[] | undefined>;
  /** Returns the account's discount, or `null` if it has none. REST v2 shows none. */
  getServerlessDiscount(options?: RequestOptions): ResponsePromise<ServerlessDiscount | null>;
}

/** Options of `releases`. */
export interface ReleasesOptions extends RequestOptions {
  /** The largest number of releases (whole, ≥ 1). Each 100 take a request. @default 20 */
  readonly limit?: number | undefined;
}

const RELEASES_OPTIONS: OptionChecks<ReleasesOptions> = {
  ...REQUEST_OPTIONS,
  limit: optionCheck((limit) => Number.isSafeInteger(limit) && Number(limit) >= 1, "must be a whole number, 1 or more"),
};

const CREATE_ENDPOINT_OPTIONS: OptionChecks<CreateEndpointOptions> = { ...CREATE_OPTIONS, templateName: aString };

/**
 * Returns the fields that, with the name, tell whether a create whose response was lost made an
 * endpoint.
 */
function identityOf({ imageName }: NewEndpoint) {
  return [imageName ? "imageName" : "templateId", "gpuIds", "instanceIds", "type"] as const;
}

/**
 * Returns the changes.
 * @throws InvalidInputError if the service cannot make one of them
 */
function refuseFixed<T extends Partial<EndpointSettings>>(before: Endpoint, changes: T): T {
  const problems = fixedIn(FIELDS, before, changes).map((property) => {
    const { type, instanceIds, gpuIds } = before;
    const processors = runsOnCpus({ instanceIds }) ? `runs on CPUs (${instanceIds})` : `runs on GPUs (${gpuIds})`;
    const fact = property === "type" ? `is of the type ${type}` : processors;
    const message = `cannot be changed: the endpoint ${fact}. Create another endpoint`;
    return { property, message };
  });
  if (problems.length > 0) throw new InvalidInputError(`the change of endpoint ${before.id}`, problems);
  return changes;
}

/** Returns changes with all variables of the endpoint. Messages do not show their values. */
function wholeChanges(before: Endpoint, changes: ParsedChanges): Partial<EndpointSettings> {
  const whole = withWholeContainer(before, changes, changedEnv);
  hideEnv(whole.env ?? {}, [whole.name ?? before.name, whole.imageName ?? before.imageName]);
  return whole;
}

/**
 * Returns the functions that read and write endpoints. `templates` are those of the account.
 */
export function createEndpoints(endpoints: EndpointCollection, templates: TemplateFunctions): Endpoints {
  const { accepted, hiddenIn, random, warn } = endpoints;
  function parse<T extends EndpointChanges>(what: string, input: T, isNew: boolean) {
    const fields = parseEndpointFields(what, input, { ...accepted, isNew });
    const { gpuIds }: Partial<EndpointSettings> = fields;
    for (const message of newTierWarnings(gpuIds, accepted)) warn?.(message);
    return fields;
  }
  return {
    ...recordOperations(endpoints, {
      createOptions: CREATE_ENDPOINT_OPTIONS,
      parse(input: EndpointInput, options: CreateEndpointOptions): NewEndpoint {
        const { env = {}, ...fields } = parse("the new endpoint", input, true);
        hideEnv(env, [fields.name, fields.imageName ?? ""]);
        // The same one when the request is repeated, so that the service refuses a second template.
        const { templateName = drawTemplateName(fields.name, random) } = options;
        return { ...fields, ...(input.env !== undefined && { env }), ...(fields.imageName && { templateName }) };
      },
      parseChanges: (id, changes: EndpointChanges): ParsedChanges =>
        parse(`the change of endpoint ${id}`, changes, false),
      merge: (before, changes: ParsedChanges) => refuseFixed(before, wholeChanges(before, changes)),
      isSame(endpoint, wanted) {
        const shown = identityOf(wanted).filter((field) => !hiddenIn(endpoint).includes(field));
        return shown.every((field) => endpoint[field] === (wanted[field] ?? FIELDS[field].default));
      },
      async delete(id, options) {
        const templateId = await deleteEndpoint(endpoints, templates, id, options);
        if (templateId) await deleteBoundTemplate(endpoints, templates.delete, { id, templateId }, options);
      },
      updateOptions: UPDATE_OPTIONS,
      deleteOptions: DELETE_ENDPOINT_OPTIONS,
    }),
    scaleToZero: (id, given) =>
      checkedCall(given, REQUEST_OPTIONS, async (options) => {
        const endpoint = await getRecord(endpoints, id, options);
        return saveWorkers(endpoints, endpoint, AT_ZERO, options);
      }),
    recycleWorkers: (id, workers, given) =>
      checkedCall(given, RECYCLE_OPTIONS, (options) => recycleWorkers(endpoints, id, workers, options)),
    applyTemplate: (id, templateId, given) =>
      checkedCall(given, KNOWN_OPTIONS, (options) => applyTemplate(endpoints, id, templateId, options)),
    workers: (id, given) => checkedCall(given, REQUEST_OPTIONS, (options) => readWorkers(endpoints, id, options)),
    releases: (id, given) => checkedCall(given, RELEASES_OPTIONS, (options) => readReleases(endpoints, id, options)),
    getServerlessDiscount: (given) =>
      checkedCall(given, REQUEST_OPTIONS, (options) => fetchDiscount(endpoints, options)),
  };
}
