import type { InputProblem } from "../../sdk/errors";
import { fixedIn } from "../../sdk/records/fields";
import { VOLUME, VOLUME_FIELDS, type Volume, type VolumeInput } from "../../sdk/volumes/volume";
import { VOLUME_CHECKS } from "../../sdk/volumes/volumes";
import { checkVolume } from "../catalog/catalogCheck";
import { fieldsIn } from "../fields/managed";
import { log } from "../log";
import { type Properties, SECONDS } from "../properties";
import { whenUnused } from "../records/deletion";
import { warnOfDuplicates } from "../records/duplicates";
import { type RecordHandlers, recordHandlers } from "../records/recordHandlers";
import type { RecordKind } from "../records/recordKind";
import { refuseRename } from "../records/rename";

/** The rules of a `NetworkVolume`. */
export const VOLUME_KIND: RecordKind<Volume, VolumeInput> = {
  ...VOLUME,
  table: VOLUME_FIELDS,
  // A data center can have both standard and high-performance volumes, and no two of them may have
  // the same name.
  nameSuffix: ({ highPerformance }) => (highPerformance === true ? "-fast" : ""),
  checkFields: VOLUME_CHECKS.check,
  problemsOfChange,
  refusesAdoption: ({ size }, inputs) =>
    typeof inputs.size === "number" && inputs.size < size
      ? `it has ${size} GB, and a volume cannot shrink to ${inputs.size}: set size to ${size} or more`
      : undefined,
  records: ({ volumes }) => volumes,
  async beforeSave(connection, save) {
    if (save.isSaved) await checkVolume(connection, save);
    return {};
  },
  create: ({ client: { volumes } }, fields, { onNameTaken }) =>
    volumes.create(fields, {
      // Names must be unique only within a data center, because only there could volumes with the
      // same name be confused.
      onNameTaken(existing) {
        const here = existing.filter(({ dataCenterId }) => dataCenterId === fields.dataCenterId);
        return here.length > 0 ? onNameTaken(here) : undefined;
      },
      onDuplicates(created, others) {
        const here = others.filter(({ dataCenterId }) => dataCenterId === created.dataCenterId);
        if (here.length > 0) warnOfDuplicates(VOLUME.noun, created, here);
      },
    }),
  update({ client: { volumes } }, { id, fields: { name, size }, outputs }) {
    const changes = { ...(name !== undefined && { name }), ...(size !== undefined && { size }) };
    return volumes.update(id, changes, { ...refuseRename(VOLUME.noun, id, name), known: outputs });
  },
  delete: whenUnused(
    VOLUME,
    ({ volumes }) => volumes,
    ({ size, dataCenterId }) => `all data on its ${size} GB in ${dataCenterId} is lost`,
  ),
  ownRules: { deleteTimeout: SECONDS },
  toFields: (volume, { highPerformance }) => ({
    ...fieldsIn(VOLUME_FIELDS, volume),
    // RunPod doesn't return this field.
    highPerformance: highPerformance ?? false,
  }),
  furtherOutputs: ({ storageType }) => ({ storageType }),
};

/**
 * Returns a problem if the volume would shrink, which is not possible. A replacement may be
 * smaller.
 */
function problemsOfChange(oldInputs: Properties, inputs: Properties): InputProblem[] {
  const isReplaced = fixedIn(VOLUME_FIELDS, oldInputs, inputs).length > 0;
  const [before, after] = [oldInputs.size, inputs.size];
  if (isReplaced || typeof before !== "number" || typeof after !== "number" || after >= before) return [];
  const message =
    `is ${after}, but the volume has ${before} GB and cannot shrink: set ${before} or more, or ` +
    "declare another volume and copy the data";
  return [{ property: "size", message }];
}

const HANDLERS = recordHandlers(VOLUME_KIND);

/**
 * The handlers of a `NetworkVolume`. They log a warning before a replacement, because the volume's
 * data is lost.
 */
export const VOLUME_HANDLERS: RecordHandlers<Volume> = {
  ...HANDLERS,
  async diff(id, outputs: Properties, inputs: Properties) {
    const result = await HANDLERS.diff(id, outputs, inputs);
    const { name, dataCenterId, size } = outputs;
    if (result.replaces?.length) {
      log(
        String(name ?? id),
        `warning: network volume ${id} ("${name}", ${size} GB in ${dataCenterId}) is replaced by an empty one: ALL ITS DATA IS ` +
          "LOST. An option that is added together with this change is not in state yet. To keep the data, take the change back, " +
          "add the resource option protect: true, or retainOnDelete: true to keep the old volume, run pulumi up, and then change it",
      );
    }
    return result;
  },
};
