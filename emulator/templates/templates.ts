import { BusinessError } from "../model/businessError";
import { containerOfTemplate, reachesWorkers } from "../model/containerFields";
import type { Profile } from "../model/fidelity";
import { fieldsAfter } from "../model/fieldTable";
import { randomId } from "../model/random";
import { createRecords, type Records, type StoredRecords } from "../records/records";
import type { EmulatorClock } from "../time/virtualClock";
import { exampleContainer, type WorkerContainer } from "../workers/container";
import {
  TEMPLATE_FIELDS,
  type TemplateFields,
  type TemplateInput,
  type TemplateRecord,
  type TemplateSeed,
} from "./templateFields";
import { assertTemplateAllowed } from "./templateRules";

/** The options of templates. */
export interface TemplateOptions {
  /** How long after its last use a template can be deleted, in milliseconds, ≥ 0. */
  readonly releaseMs: number;
  /** Names that other accounts already use. */
  readonly takenNames: readonly string[];
  /** `true` if the name of a deleted template cannot be used again. */
  readonly reserveDeletedNames: boolean;
  /** `true` to keep an endpoint's own template when the endpoint is deleted. */
  readonly keepBound: boolean;
}

/** The parts of the account that templates use. */
interface TemplateSurroundings {
  readonly clock: EmulatorClock;
  readonly profile: Profile;
  readonly random: () => number;
  readonly changed: () => void;
  /** Describes the endpoints and pods that use a template. */
  readonly usersOf: (templateId: string) => readonly string[];
  /** Throws a BusinessError if a template cannot use the credential. */
  readonly assertRegistryAuth: (id: string) => void;
  /** Called after a change that affects workers. */
  readonly onRollOut: (templateId: string) => void;
}

/**
 * How long the observed profile refuses to delete a template after its last use, in milliseconds.
 * At the service it takes two minutes (observed). Like every time of the emulator, this one is
 * short by default.
 */
export const DEFAULT_RELEASE_MS = 1000;

/** The templates of the account. */
export interface Templates extends StoredRecords<TemplateRecord, TemplateSeed, TemplateFields> {
  /**
   * Creates a template, or changes the template with the input's id, in the same way as
   * `saveTemplate`.
   * @throws BusinessError if it violates a rule of the service
   */
  save(input: TemplateInput): TemplateRecord;
  /**
   * Deletes a template by name, in the same way as `deleteTemplate`.
   * @throws BusinessError if it does not exist, is in use, or was in use until recently
   */
  delete(name: string | null | undefined): void;
  /** Binds a template to an endpoint, so that both are deleted together. */
  bind(id: string, endpointId: string): void;
  /** Removes the templates that belong to an endpoint, unless an option keeps them. */
  removeThatOf(endpointId: string): void;
  /** Removes the registry credential from a template. */
  forgetRegistryAuth(id: string): void;
  /** Records that something stopped using the template. */
  released(id: string): void;
  /** Returns the container for a worker that starts now. */
  containerOf(id: string): WorkerContainer;
}

/** The templates, and the parts of the account that their rules refer to. */
interface TemplateState {
  readonly records: Records<TemplateRecord>;
  /** Names of deleted templates that cannot be used again. */
  readonly reserved: Set<string>;
  readonly around: TemplateSurroundings;
  readonly options: TemplateOptions;
}

export function createTemplates(around: TemplateSurroundings, options: TemplateOptions): Templates {
  const { clock, random, changed } = around;
  const records = createRecords<TemplateRecord>({
    clock,
    changed,
    noun: "template",
    newId: () => randomId(random, 10),
  });
  const state: TemplateState = { records, reserved: new Set(), around, options };
  return {
    ...records,
    save(input) {
      if (input.id == null) return createTemplate(state, input, null);
      const current = templateWithId(state, input.id);
      return changeTemplate(state, current, allowedFields(state, current, input));
    },
    create: ({ id, boundEndpointId, ...seed }) =>
      createTemplate(state, { isServerless: true, ...seed }, boundEndpointId ?? null, id ?? undefined),
    delete(name) {
      const record = records.list().find((record) => record.name === name);
      if (!record) throw new BusinessError(`Template "${name}" not found`, "template.unknown-name");
      assertReleased(state, record);
      removeTemplate(state, record.id);
    },
    change: (id, patch) => changeTemplate(state, templateWithId(state, id), patch),
    remove: (id) => removeTemplate(state, id),
    bind: (id, boundEndpointId) => records.change(templateWithId(state, id), { boundEndpointId }),
    removeThatOf(endpointId) {
      if (options.keepBound) return;
      const bound = records.list().filter(({ boundEndpointId }) => boundEndpointId === endpointId);
      for (const { id } of bound) removeTemplate(state, id);
    },
    forgetRegistryAuth: (id) => records.change(templateWithId(state, id), { containerRegistryAuthId: null }),
    released(id) {
      const record = records.find(id);
      if (!record) return;
      record.lastUsedAt = clock.now();
      changed();
    },
    containerOf(id) {
      const template = records.find(id);
      return template ? { ...containerOfTemplate(template), templateId: id } : exampleContainer(id);
    },
    clear() {
      records.clear();
      state.reserved.clear();
    },
  };
}

function templateWithId({ records }: TemplateState, id: string): TemplateRecord {
  const record = records.find(id);
  if (!record) throw new BusinessError(`Template "${id}" not found`, "template.unknown-id");
  return record;
}

function createTemplate(
  state: TemplateState,
  input: TemplateInput,
  boundEndpointId: string | null,
  id?: string,
): TemplateRecord {
  return state.records.add({ ...allowedFields(state, undefined, input), boundEndpointId, lastUsedAt: null }, id);
}

function changeTemplate(
  { records, around }: TemplateState,
  record: TemplateRecord,
  patch: Partial<TemplateFields>,
): TemplateRecord {
  const before = { ...record };
  records.change(record, patch);
  if (reachesWorkers(before, record)) around.onRollOut(record.id);
  return record;
}

function removeTemplate({ records, reserved, options }: TemplateState, id: string): boolean {
  const name = records.find(id)?.name;
  if (name !== undefined && options.reserveDeletedNames) reserved.add(name);
  return records.remove(id);
}

/**
 * Returns a template's fields after an input.
 * @throws BusinessError if they violate a rule of the service
 */
function allowedFields(
  state: TemplateState,
  current: TemplateRecord | undefined,
  input: TemplateInput,
): TemplateFields {
  const { around } = state;
  const fields = fieldsAfter(TEMPLATE_FIELDS, current, input, around.profile);
  assertTemplateAllowed(fields, current);
  if (fields.name !== current?.name) assertUnique(state, fields, current?.id);
  const { containerRegistryAuthId } = fields;
  if (containerRegistryAuthId !== null) around.assertRegistryAuth(containerRegistryAuthId);
  return fields;
}

function assertUnique(
  { records, reserved, options }: TemplateState,
  { name }: TemplateFields,
  exceptId: string | undefined,
): void {
  const isTaken = records.list().some((record) => record.name === name && record.id !== exceptId);
  if (isTaken) throw new BusinessError("Template name must be unique", "template.unique-name");
  if (options.takenNames.includes(name)) throw new BusinessError("Template name must be unique", "template.taken-name");
  if (reserved.has(name)) throw new BusinessError("Template name must be unique", "template.deleted-name");
}

function assertReleased({ around, options }: TemplateState, { id, lastUsedAt }: TemplateRecord): void {
  const [user] = around.usersOf(id);
  if (user) {
    throw new BusinessError(`Template is in use by ${user} and cannot be deleted`, "template.in-use");
  }
  if (lastUsedAt === null || around.clock.now() >= lastUsedAt + options.releaseMs) return;
  throw new BusinessError(
    "Template was in use a short time ago and cannot be deleted yet: try again in 2 minutes",
    "template.recently-used",
  );
}
