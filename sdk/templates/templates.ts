import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { changedEnv, hideEnv } from "../containers/input";
import type { BoundTemplate } from "../endpoints/calls";
import type { Endpoint } from "../endpoints/record";
import { DELETE_OPTIONS, SAVE_OPTIONS } from "../records/callOptions";
import type { ReadByIds, RecordCalls } from "../records/calls";
import type { Collection, SaveOptions, Writable } from "../records/collection";
import type { CreateRecordOptions } from "../records/createRecord";
import { type DeleteUnusedOptions, deleteUnused, unusedBy } from "../records/deleteUnused";
import type { OutputOnlyField } from "../records/fields";
import type { Readers } from "../records/readers";
import { recordOperations } from "../records/records";
import type { ResponsePromise } from "../transport/responsePromise";
import { type ParsedTemplateChanges, TEMPLATE_CHECKS } from "./input";
import {
  type Template,
  type TemplateChanges,
  type TemplateInput,
  type TemplateSettings,
  WORKER_FIELDS,
} from "./template";

/**
 * Creates, changes, lists and deletes templates. The contract mentions only their ids (observed).
 * The lists also contain pod templates, which share the same namespace.
 */
export interface Templates extends Readers<Template> {
  /**
   * Creates a template for endpoints. If the response is lost, checks whether the template was
   * created before trying again.
   * @throws InvalidInputError if a field is not valid; nothing was sent
   * @throws NameTakenError if a template with this name exists; nothing was created
   * @throws CreateUncertainError if the client cannot tell whether the template was created
   */
  create(input: TemplateInput, options?: CreateRecordOptions<Template>): ResponsePromise<Template>;
  /**
   * Changes a template. If nothing differs, nothing is sent, because even a save without changes
   * may restart workers.
   * @throws InvalidInputError if a field is not valid; nothing was sent
   * @throws NotFoundError if the template does not exist
   * @throws NameTakenError if another template has the new name
   */
  update(id: string, changes: TemplateChanges, options?: SaveOptions<Template>): ResponsePromise<Template>;
  /**
   * Deletes a template by its current name and verifies that it is gone. The service may reject the
   * deletion for up to two minutes after the template was last used, so the client tries again
   * during that time. A template that does not exist counts as deleted.
   * @throws InUseError immediately if an endpoint uses the template; names the endpoint
   * @throws DELETE_TIMEOUT if the service does not accept the deletion in time
   */
  delete(id: string, options?: DeleteUnusedOptions): ResponsePromise<void>;
}

/** The requests for templates. Each function sends one request, without retries. */
export interface TemplateCalls extends RecordCalls<Template, TemplateSettings, Partial<TemplateSettings>> {
  /** Reads templates that may belong to endpoints. @default endpoints have no such templates */
  readonly readBound?: ReadByIds<BoundTemplate>;
}

const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);

/** The fields of a template that only the service sets. */
export const TEMPLATE_OUTPUTS: Readonly<Record<string, OutputOnlyField>> = {
  id: { selection: "id", schema: z.string().min(1), v2: "id" },
  isServerless: { selection: "isServerless", schema: flag, v2: "serverless" },
  isPublic: { selection: "isPublic", schema: flag, v2: "public" },
};

/** The templates of one account. */
interface TemplateCollection extends Writable<Template, TemplateSettings, Partial<TemplateSettings>> {
  readonly calls: TemplateCalls;
}

/** Returns the functions that read and write templates. `endpoints` may use these templates. */
export function createTemplates(templates: TemplateCollection, endpoints: Collection<Endpoint>): Templates {
  const isUnused = unusedBy(endpoints, {
    isUser: (endpoint, template: Template) => endpoint.templateId === template.id,
    isRefusedByService: true,
    remedy:
      "Give the endpoint another template, or delete the endpoint if nobody needs it, then delete the template again",
  });
  return recordOperations(templates, {
    ...TEMPLATE_CHECKS,
    merge: merged,
    isSame: hasSameWorkers,
    readsSettled: true,
    delete: (id, options) => deleteUnused(templates, id, [isUnused], options),
    updateOptions: SAVE_OPTIONS,
    deleteOptions: DELETE_OPTIONS,
  });
}

/** Returns `true` if both templates give workers the same settings. */
function hasSameWorkers(one: Template, other: TemplateSettings): boolean {
  return WORKER_FIELDS.every((field) => one.unshown?.includes(field) || isDeepStrictEqual(one[field], other[field]));
}

/**
 * Returns the changes with all variables of the template, or `undefined` if nothing differs,
 * because a save may restart workers.
 */
function merged(before: Template, { env, ...fields }: ParsedTemplateChanges): Partial<TemplateSettings> | undefined {
  const changes = { ...fields, ...(env !== undefined && { env: changedEnv(before.env, env) }) };
  const after = { ...before, ...changes };
  const isOpen = before.unshown?.some((field) => Object.hasOwn(changes, field));
  if (!isOpen && isDeepStrictEqual(before, after)) return undefined;
  hideEnv(after.env, [after.name, after.imageName]);
  return changes;
}
