import { changedEnv, hideEnv } from "../containers/input";
import { InvalidInputError } from "../errors/errors";
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
import { deleteEndpoint } from "./deleteEndpoint";
import { DELETE_ENDPOINT_OPTIONS, type DeleteOptions } from "./deleteOptions";
import { FIELDS } from "./fields";
import { parseEndpointFields } from "./input";
import { drawTemplateName, type ParsedChanges, withWholeContainer } from "./ownContainer";
import { newPoolWarnings } from "./places";
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
 * Creates, changes, lists and deletes endpoints (contract, GraphQL). In addition to the listed
 * errors, every call can throw connection errors, such as `AuthenticationError` and
 * `ConnectionError`.
 */
export interface Endpoints extends Readers<Endpoint> {
  /**
   * Creates an endpoint. If the response is lost, the client checks whether the endpoint was
   * created before it tries again, so that it never creates a second one.
   * @throws InvalidInputError if a field is not valid; nothing was sent
   * @throws QuotaExceededError if `workersMax` exceeds what is left of the account's quota; the
   * error names the endpoints that use the quota
   * @throws CreateUncertainError if the client cannot find out whether the endpoint was created, or
   * which of several new endpoints it is
   */
  create(input: EndpointInput, options?: CreateEndpointOptions): ResponsePromise<Endpoint>;
  /**
   * Changes fields of an endpoint. Omitted fields keep their value. Over GraphQL, the client
   * changes the image, environment variables and other container settings by saving the template
   * that belongs to the endpoint.
   * @throws InvalidInputError if a field is not valid; nothing was sent
   * @throws NotFoundError if the endpoint does not exist
   * @throws BusinessRuleError if the change affects container settings and, over GraphQL, the
   * endpoint has no container of its own
   * @throws InUseError if the change affects container settings and, over GraphQL, another endpoint
   * uses the template that belongs to this endpoint
   * @throws QuotaExceededError if `workersMax` exceeds what is left of the account's quota; the
   * error names the endpoints that use the quota
   */
  update(id: string, changes: EndpointChanges, options?: UpdateRecordOptions<Endpoint>): ResponsePromise<Endpoint>;
  /**
   * Sets `workersMin` and `workersMax` to 0 and leaves everything else unchanged.
   * @throws NotFoundError if the endpoint does not exist
   */
  scaleToZero(id: string, options?: RequestOptions): ResponsePromise<Endpoint>;
  /**
   * Deletes an endpoint. The client scales the endpoint to zero, waits until its workers have
   * stopped, deletes it, and verifies that it is gone. Over GraphQL, the client also verifies that
   * the template that belonged to the endpoint is gone. An endpoint that does not exist counts as
   * deleted. If a deletion fails or is aborted, the client restores the worker counts, and the
   * error says whether the endpoint is running again.
   * @throws InvalidInputError if `drain` is `false` and the API cannot delete an endpoint that has
   * workers; nothing was sent
   * @throws InUseError if, over GraphQL, another endpoint uses the template that belongs to this
   * endpoint; nothing was changed
   * @throws DELETE_TIMEOUT if the workers do not stop in time; the endpoint still exists
   * @throws INTERRUPTED if the signal aborts after the endpoint was scaled to zero
   */
  delete(id: string, options?: DeleteOptions): ResponsePromise<void>;
  /**
   * Replaces all workers of an endpoint. The client scales it to zero, waits until the workers have
   * completed their jobs and stopped, and sets `workersMin` and `workersMax`. Waiting jobs stay in
   * the queue. If the call was interrupted, call it again to finish the remaining steps.
   * @throws NotFoundError if the endpoint does not exist
   * @throws RECYCLE_TIMEOUT if the workers do not stop in time; the error says whether the
   * endpoint's worker counts were restored
   * @throws INTERRUPTED if the signal aborts after the endpoint was scaled to zero
   */
  recycleWorkers(id: string, workers: WorkerLimits, options?: RecycleOptions): ResponsePromise<Endpoint>;
  /**
   * Applies the current version of a template to an endpoint's workers. REST v2 copies a template
   * to an endpoint only once, so later changes to the template do not reach the endpoint; this call
   * copies the template again. Over GraphQL, the service rolls out template changes by itself,
   * except to endpoints that have a copy made by REST v2. GraphQL does not show whether an endpoint
   * has such a copy, so this call always saves the endpoint, which links it to the template again.
   * @throws NotFoundError if the endpoint or the template does not exist
   */
  applyTemplate(id: string, templateId: string, options?: KnownOptions): ResponsePromise<Endpoint>;
  /**
   * Returns the workers of an endpoint that have not shut down, and says for each of them whether
   * it runs an older release.
   * @throws NotFoundError if the endpoint does not exist
   */
  workers(id: string, options?: RequestOptions): ResponsePromise<readonly EndpointWorker[]>;
  /**
   * Returns the latest releases of an endpoint, newest first. Their changes include the values of
   * environment variables, so do not print them. GraphQL does not show releases. Over GraphQL, this
   * method sends nothing and returns `undefined`.
   * @throws NotFoundError if the endpoint does not exist
   */
  releases(id: string, options?: ReleasesOptions): ResponsePromise<readonly EndpointRelease[] | undefined>;
  /**
   * Returns the account's discount, or `null` if there is none. REST v2 does not show discounts.
   */
  getServerlessDiscount(options?: RequestOptions): ResponsePromise<ServerlessDiscount | null>;
}

/** The options of `releases`. */
export interface ReleasesOptions extends RequestOptions {
  /**
   * The maximum number of releases to return (integer, ≥ 1). One request is sent for every 100
   * releases.
   * @default 20
   */
  readonly limit?: number | undefined;
}

const RELEASES_OPTIONS: OptionChecks<ReleasesOptions> = {
  ...REQUEST_OPTIONS,
  limit: optionCheck((limit) => Number.isSafeInteger(limit) && Number(limit) >= 1, "must be a whole number, 1 or more"),
};

const CREATE_ENDPOINT_OPTIONS: OptionChecks<CreateEndpointOptions> = { ...CREATE_OPTIONS, templateName: aString };

/**
 * Returns the fields that, together with the name, identify an endpoint that was created although
 * the response was lost.
 */
function identityOf({ imageName }: NewEndpoint) {
  return [imageName ? "imageName" : "templateId", "gpuIds", "instanceIds", "type"] as const;
}

/**
 * Returns the changes.
 * @throws InvalidInputError if the service cannot make one of the changes
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

/**
 * Returns the changes with all environment variables of the endpoint. Their values are hidden in
 * messages.
 */
function wholeChanges(before: Endpoint, changes: ParsedChanges): Partial<EndpointSettings> {
  const whole = withWholeContainer(before, changes, changedEnv);
  hideEnv(whole.env ?? {}, [whole.name ?? before.name, whole.imageName ?? before.imageName]);
  return whole;
}

/**
 * Creates the functions that read and write endpoints. `templates` accesses the templates of the
 * account.
 */
export function createEndpoints(endpoints: EndpointCollection, templates: TemplateFunctions): Endpoints {
  const { accepted, hiddenIn, random, warn } = endpoints;
  function parse<T extends EndpointChanges>(what: string, input: T, isNew: boolean) {
    const fields = parseEndpointFields(what, input, { ...accepted, isNew });
    const { gpuIds }: Partial<EndpointSettings> = fields;
    for (const message of newPoolWarnings(gpuIds, accepted)) warn?.(message);
    return fields;
  }
  return {
    ...recordOperations(endpoints, {
      createOptions: CREATE_ENDPOINT_OPTIONS,
      parse(input: EndpointInput, options: CreateEndpointOptions): NewEndpoint {
        const { env = {}, ...fields } = parse("the new endpoint", input, true);
        hideEnv(env, [fields.name, fields.imageName ?? ""]);
        // Use the same template name when the request is repeated, so that the service rejects a
        // second template.
        const { templateName = drawTemplateName(fields.name, random) } = options;
        return { ...fields, ...(input.env !== undefined && { env }), ...(fields.imageName && { templateName }) };
      },
      parseChanges: (id, changes: EndpointChanges): ParsedChanges =>
        parse(`the change of endpoint ${id}`, changes, false),
      merge: (before, changes: ParsedChanges) => refuseFixed(before, wholeChanges(before, changes)),
      isSame(endpoint, wanted) {
        const unknown = [...hiddenIn(endpoint), ...(endpoint.unshown ?? [])];
        const shown = identityOf(wanted).filter((field) => !unknown.includes(field));
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
