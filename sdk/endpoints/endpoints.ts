import { CREATE_OPTIONS, KNOWN_OPTIONS } from "../records/callOptions";
import { type FindOptions, getRecord, type KnownOptions, readExisting } from "../records/collection";
import { readersOf } from "../records/readers";
import { readWhole, withHidden } from "../records/wholeList";
import { aFunction, type OptionChecks } from "../transport/callOptions";
import type { ObservedOptions, RequestOptions } from "../transport/requestOptions";
import { checkedCall, type ResponsePromise, withResponse } from "../transport/responsePromise";
import { DELETE_OPTIONS, RECYCLE_OPTIONS } from "./callOptions";
import { type Account, applyTemplate, changeEndpoint, fetchDiscount } from "./calls";
import { type CreateOptions, createEndpoint } from "./createEndpoint";
import { type DeleteOptions, deleteEndpoint } from "./deleteEndpoint";
import { parseEndpointFields } from "./input";
import { type ListedEndpoints, toListedEndpoints } from "./listRecords";
import type { Endpoint, EndpointInput, EndpointSettings, ServerlessDiscount } from "./record";
import { type RecycleOptions, recycleWorkers } from "./recycleWorkers";

/** Options of `update`. */
export interface UpdateOptions extends KnownOptions {
  /**
   * Called before an endpoint is renamed to a name that others have. An error that it throws ends the update, and nothing
   * is changed. Without it, the endpoint is renamed: names need not be unique at the service.
   */
  readonly onNameTaken?: (others: readonly Endpoint[]) => void;
}

const UPDATE_OPTIONS: OptionChecks<UpdateOptions> = { ...KNOWN_OPTIONS, onNameTaken: aFunction };

/**
 * Creates, changes, lists and deletes endpoints (contract, GraphQL). Every call may also throw the errors of the
 * connection, such as `AuthenticationError` and `ConnectionError`.
 */
export interface Endpoints {
  /**
   * Creates an endpoint. If the response is lost, it checks whether the endpoint was created before it tries again, so
   * that there is never a second one.
   * @throws InvalidInputError if a field is not valid; nothing was sent
   * @throws QuotaExceededError if `workersMax` exceeds the rest of the account's quota; names the endpoints that use it
   * @throws CreateUncertainError if it cannot tell whether the endpoint was created, or which of several new ones it is
   */
  create(input: EndpointInput, options?: CreateOptions): ResponsePromise<Endpoint>;
  /**
   * Changes fields of an endpoint. Fields that are left out keep their value.
   * @throws InvalidInputError if a field is not valid; nothing was sent
   * @throws NotFoundError if the endpoint does not exist
   * @throws QuotaExceededError if `workersMax` exceeds the rest of the account's quota; names the endpoints that use it
   */
  update(id: string, changes: Partial<EndpointInput>, options?: UpdateOptions): ResponsePromise<Endpoint>;
  /**
   * Returns all endpoints of the account.
   * @throws UnexpectedResponseError if a record cannot be read, because the list would be incomplete; names the endpoint
   * @throws AuthenticationError if the service does not accept the API key
   */
  list(options?: RequestOptions): ResponsePromise<Endpoint[]>;
  /**
   * Returns the endpoints whose records can be read, and what is known of the others.
   * @throws AuthenticationError if the service does not accept the API key
   */
  listReadable(options?: RequestOptions): ResponsePromise<ListedEndpoints>;
  /**
   * Returns an endpoint, or `undefined` if it is proven that there is none.
   * @throws UnexpectedResponseError if its record cannot be read, or if it is in no list and a record has no id
   */
  find(id: string, options?: FindOptions): ResponsePromise<Endpoint | undefined>;
  /**
   * Returns an endpoint.
   * @throws NotFoundError if it does not exist
   */
  get(id: string, options?: KnownOptions): ResponsePromise<Endpoint>;
  /**
   * Sets `workersMin` and `workersMax` to 0 and leaves everything else as it is.
   * @throws NotFoundError if the endpoint does not exist
   */
  scaleToZero(id: string, options?: RequestOptions): ResponsePromise<Endpoint>;
  /**
   * Deletes an endpoint: scales it to zero, waits until its pods have shut down, deletes it and proves that it is gone.
   * An endpoint that does not exist counts as deleted. A deletion that fails or is aborted puts back the numbers of workers
   * from before it; the error says whether the endpoint runs again.
   * @throws InvalidInputError if `drain` is `false` and the interface cannot delete an endpoint with its workers; nothing was sent
   * @throws DeleteTimeoutError if its pods do not shut down in time; the endpoint still exists
   * @throws InterruptedError if the signal aborts after the endpoint was scaled to zero
   */
  delete(id: string, options?: DeleteOptions): ResponsePromise<void>;
  /**
   * Replaces all workers: scales to zero, waits until they have completed their jobs and stopped, and sets `workersMin` and
   * `workersMax`. Jobs that wait stay in the queue. Repeated after an interruption, it does the rest.
   * @throws NotFoundError if the endpoint does not exist
   * @throws RecycleTimeoutError if the workers do not stop in time; the error says whether the endpoint has its workers again
   * @throws InterruptedError if the signal aborts after the endpoint was scaled to zero
   */
  recycleWorkers(
    id: string,
    workers: Pick<EndpointSettings, "workersMin" | "workersMax">,
    options?: RecycleOptions,
  ): ResponsePromise<Endpoint>;
  /**
   * Gives the workers the present version of a template. REST v2 copies a template once, so its changes reach no endpoint.
   * Over GraphQL it sends nothing and returns `undefined`, because there the service rolls changes out by itself.
   * @throws NotFoundError if the endpoint or the template does not exist
   */
  applyTemplate(id: string, templateId: string, options?: KnownOptions): ResponsePromise<Endpoint | undefined>;
  /** Returns the account's discount, or `null` if it has none. REST v2 shows none. */
  getServerlessDiscount(options?: RequestOptions): ResponsePromise<ServerlessDiscount | null>;
}

/** Returns the management interface of one account. */
export function createEndpoints(account: Account): Endpoints {
  return {
    ...readersOf(account),
    // This list calls its records `endpoints`.
    listReadable: (given) =>
      withResponse(given, async (options) => toListedEndpoints(await readWhole(account, options))),
    create: (input, given) => checkedCall(given, CREATE_OPTIONS, (options) => createEndpoint(account, input, options)),
    update: (id, changes, given) =>
      checkedCall(given, UPDATE_OPTIONS, (options) => updateEndpoint(account, id, changes, options)),
    scaleToZero: (id, given) =>
      withResponse(given, async (options) => {
        const endpoint = await getRecord(account, id, options);
        return changeEndpoint(account, endpoint, { workersMin: 0, workersMax: 0 }, options);
      }),
    delete: (id, given) => checkedCall(given, DELETE_OPTIONS, (options) => deleteEndpoint(account, id, options)),
    recycleWorkers: (id, workers, given) =>
      checkedCall(given, RECYCLE_OPTIONS, (options) => recycleWorkers(account, id, workers, options)),
    applyTemplate: (id, templateId, given) =>
      checkedCall(given, KNOWN_OPTIONS, (options) => applyTemplate(account, id, templateId, options)),
    getServerlessDiscount: (given) => withResponse(given, (options) => fetchDiscount(account, options)),
  };
}

async function updateEndpoint(
  account: Account,
  id: string,
  changes: Partial<EndpointInput>,
  { onNameTaken, known, ...options }: UpdateOptions & ObservedOptions,
): Promise<Endpoint> {
  const fields = parseEndpointFields(`the change of endpoint ${id}`, changes, { ...account, isNew: false });
  const endpoint = await readExisting(account, id, options);
  if (onNameTaken && fields.name !== undefined && fields.name !== endpoint.name) {
    const listed = await account.list.read({}, options);
    const { records } = await withHidden(account, listed, fields.name, options);
    const others = records.filter((each) => each.name === fields.name && each.id !== id);
    if (others.length > 0) onNameTaken(others);
  }
  return changeEndpoint(account, endpoint, fields, options, known);
}
