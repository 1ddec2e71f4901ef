import type { Endpoint } from "../endpoints/record";
import { InvalidInputError } from "../errors";
import { CREATE_OPTIONS, DELETE_OPTIONS, KNOWN_OPTIONS } from "../records/callOptions";
import { changeRecord } from "../records/changeRecord";
import { type Collection, createCollection, type KnownOptions, readExisting } from "../records/collection";
import { type CreateRecordOptions, createRecord } from "../records/createRecord";
import { type DeleteUnusedOptions, deleteUnused, unusedBy } from "../records/deleteUnused";
import { type Readers, readersOf } from "../records/readers";
import { aFunction, type OptionChecks } from "../transport/callOptions";
import type { ObservedOptions } from "../transport/requestOptions";
import { checkedCall, type ResponsePromise } from "../transport/responsePromise";
import type { CallContext } from "../transport/retryingCall";
import { VOLUME, type VolumeCalls } from "./graphqlCalls";
import { parseVolume, parseVolumeChanges } from "./input";
import type { Volume, VolumeChanges, VolumeInput } from "./record";

/** Options of `update`. */
export interface VolumeUpdateOptions extends KnownOptions {
  /**
   * Called before a volume is renamed to a name that others have in its data center. An error that it throws ends the
   * update, and nothing is changed. Without it, the volume is renamed: names need not be unique at the service.
   */
  readonly onNameTaken?: (others: readonly Volume[]) => void;
}

const UPDATE_OPTIONS: OptionChecks<VolumeUpdateOptions> = { ...KNOWN_OPTIONS, onNameTaken: aFunction };

/** Creates, changes, lists and deletes network volumes (observed: the contract has only their ids). */
export interface Volumes extends Readers<Volume> {
  /**
   * Creates a network volume. If the response is lost, it checks whether the volume was created before it tries again, so
   * that there is never a second one.
   * @throws InvalidInputError if a field is not valid; nothing was sent
   * @throws BusinessRuleError if the data center does not exist or has no volumes; names those that have
   * @throws CreateUncertainError if it cannot tell whether the volume was created, or which of several new ones it is
   */
  create(input: VolumeInput, options?: CreateRecordOptions<Volume>): ResponsePromise<Volume>;
  /**
   * Changes name or size.
   * @throws InvalidInputError if the volume would shrink, or a field is not valid; nothing was changed
   * @throws NotFoundError if the volume does not exist
   */
  update(id: string, changes: VolumeChanges, options?: VolumeUpdateOptions): ResponsePromise<Volume>;
  /**
   * Deletes a network volume with all its data, and proves that it is gone. A volume that does not exist counts as deleted.
   * @throws InUseError at once if an endpoint mounts it; names the endpoint
   * @throws DeleteTimeoutError if the service does not accept the deletion in time
   */
  delete(id: string, options?: DeleteUnusedOptions): ResponsePromise<void>;
}

interface VolumeAccount extends Collection<Volume> {
  readonly calls: VolumeCalls;
}

/** Returns the network volumes of one account. `endpoints` are those that may mount them. */
export function createVolumes(context: CallContext, calls: VolumeCalls, endpoints: Collection<Endpoint>): Volumes {
  const account: VolumeAccount = { ...createCollection(context, VOLUME, calls), calls };
  const isUnused = unusedBy(
    endpoints,
    (endpoint, volume: Volume) => endpoint.networkVolumeId.split(",").includes(volume.id),
    "Delete the endpoint, or set its networkVolumeId to another volume, then delete the volume again",
  );
  return {
    ...readersOf(account),
    create: (input, given) => checkedCall(given, CREATE_OPTIONS, (options) => createVolume(account, input, options)),
    update: (id, changes, given) =>
      checkedCall(given, UPDATE_OPTIONS, (options) => updateVolume(account, id, changes, options)),
    delete: (id, given) =>
      checkedCall(given, DELETE_OPTIONS, (options) => deleteUnused(account, id, [isUnused], options)),
  };
}

/** A name does not identify a volume: name, data center and size together do, if the volume is new. */
async function createVolume(
  account: VolumeAccount,
  input: VolumeInput,
  options: CreateRecordOptions<Volume> & ObservedOptions,
): Promise<Volume> {
  const wanted = parseVolume(input);
  const creation = {
    settings: wanted,
    isSame: ({ dataCenterId, size }: Volume) => dataCenterId === wanted.dataCenterId && size === wanted.size,
  };
  return createRecord(account, creation, options);
}

async function updateVolume(
  account: VolumeAccount,
  id: string,
  changes: VolumeChanges,
  { onNameTaken, known, ...options }: VolumeUpdateOptions & ObservedOptions,
): Promise<Volume> {
  const fields = parseVolumeChanges(id, changes);
  const volume = await readExisting(account, id, options);
  const { name = volume.name, size = volume.size } = fields;
  if (size < volume.size) {
    const message = `is ${size}, less than the ${volume.size} GB that the volume has. A volume cannot shrink`;
    throw new InvalidInputError(`the change of network volume ${id}`, [{ property: "size", message }]);
  }
  if (onNameTaken && name !== volume.name) {
    const { records } = await account.list.read({}, options);
    const isNamesake = (each: Volume) => each.name === name && each.dataCenterId === volume.dataCenterId;
    const others = records.filter((each) => isNamesake(each) && each.id !== id);
    if (others.length > 0) onNameTaken(others);
  }
  return account.recall(await changeRecord(account, volume, { name, size }, options), known);
}
