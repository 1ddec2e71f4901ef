import type { InputProblem } from "../../sdk/errors/errors";
import { fixedIn } from "../../sdk/records/fields";
import { VOLUME, VOLUME_FIELDS, type Volume, type VolumeInput } from "../../sdk/volumes/volume";
import { VOLUME_CHECKS } from "../../sdk/volumes/volumes";
import { type Properties, SECONDS } from "../engine/properties";
import { fieldsIn } from "../fields/managed";
import { checkVolume } from "../records/catalogCheck";
import { whenUnused } from "../records/deletion";
import { warnOfDuplicates } from "../records/duplicates";
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
    await checkVolume(connection, { ...save, changed: Object.keys(save.settings) });
    return {};
  },
  neverReplaced: ({ size, dataCenterId }) =>
    `cannot be changed, and a new volume would lose all data on these ${size} GB in ${dataCenterId}. Restore the previous value. ` +
    "To move, declare another volume under a new name, copy the data, and remove this one",
  async create({ client: { volumes } }, fields, onNameTaken) {
    const volume = await volumes.create(fields, {
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
    });
    // GraphQL doesn't show the tier that was requested.
    return { highPerformance: fields.highPerformance === true, ...volume };
  },
  async update({ client: { volumes } }, { id, fields: { name, size }, known, onSave }) {
    const changes = { ...(name !== undefined && { name }), ...(size !== undefined && { size }) };
    if (Object.keys(changes).length === 0) return volumes.get(id, { known });
    return volumes.update(id, changes, { ...refuseRename(VOLUME.noun, id, name), known, onSave });
  },
  delete: whenUnused(
    VOLUME,
    ({ volumes }) => volumes,
    ({ size, dataCenterId }) => `all data on its ${size} GB in ${dataCenterId} is lost`,
  ),
  ownRules: { deleteTimeout: SECONDS },
  // GraphQL doesn't show the storage tier.
  toFields: (volume, { highPerformance }) => ({ highPerformance, ...fieldsIn(VOLUME_FIELDS, volume) }),
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
