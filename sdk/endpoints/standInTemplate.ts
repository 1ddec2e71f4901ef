import { BusinessRuleError, NotFoundError, RejectedError } from "../errors/errors";
import { saveRecord } from "../records/records";
import type { ObservedOptions, RequestOptions } from "../transport/requestOptions";
import type { EndpointCollection } from "./calls";
import type { Endpoint } from "./record";
import { AT_ZERO } from "./workerLimits";

/*
 * An endpoint whose template was deleted, at a service whose saves must name a template that exists
 * (contract): a template of its own takes the place of the deleted one until the endpoint is gone.
 * Otherwise nothing could scale it to zero, and its workers would continue to be billed.
 */

/** A template, with only the fields that this file needs. */
interface NamedTemplate {
  readonly id: string;
  readonly name: string;
}

/** The template functions that deletions of endpoints need. */
export interface TemplateFunctions {
  listReadable(options: RequestOptions): PromiseLike<{ readonly records: readonly NamedTemplate[] }>;
  create(
    input: { readonly name: string; readonly imageName: string },
    options: RequestOptions,
  ): PromiseLike<NamedTemplate>;
  delete(id: string, options: RequestOptions): PromiseLike<void>;
}

/** The image of a stand-in template. No worker is ever started from it. */
const IMAGE = "busybox";

function nameOf(endpointId: string): string {
  return `stand-in-until-${endpointId}-is-deleted`;
}

/**
 * Scales an endpoint to zero after the service rejected the save because the endpoint's template no
 * longer exists. To do so, this function gives the endpoint a stand-in template, and returns that
 * template's id.
 * @throws the rejection if it has a different reason
 */
export async function scaleWithStandIn(
  collection: EndpointCollection,
  templates: TemplateFunctions,
  endpoint: Endpoint,
  refusal: unknown,
  options: ObservedOptions,
): Promise<string> {
  const { calls } = collection;
  const { changeWithout } = calls;
  if (!namesDeadId(refusal) || !changeWithout || !endpoint.templateId) throw refusal;
  const given = requestPart(options);
  const { records } = await templates.listReadable(given);
  if (records.some(({ id }) => id === endpoint.templateId)) throw refusal;
  const name = nameOf(endpoint.id);
  // Reuse the stand-in template that a killed deletion left behind, if there is one.
  const left = records.find((each) => each.name === name);
  const standIn = left ?? (await templates.create({ name, imageName: IMAGE }, given));
  // A volume may also be gone, so don't send the volumes. The service keeps them if they are
  // omitted.
  const change = changeWithout(["networkVolumeId", "networkVolumeIds"]);
  try {
    await saveRecord(
      { ...collection, calls: { ...calls, change } },
      endpoint,
      { ...AT_ZERO, templateId: standIn.id },
      options,
    );
  } catch (error) {
    if (!(error instanceof RejectedError || error instanceof NotFoundError)) throw error;
    await templates.delete(standIn.id, given);
    throw refusal;
  }
  return standIn.id;
}

/**
 * Returns `true` if the service could not find an id. Even an error about a volume counts, because
 * the template may be missing as well.
 */
function namesDeadId(error: unknown): boolean {
  const isRefusal = error instanceof NotFoundError || error instanceof BusinessRuleError;
  return (
    isRefusal && /template|volume/i.test(error.message) && /\b(find|found|exists?|nonexistent)\b/i.test(error.message)
  );
}

/** Deletes a template that replaced the template of a deleted endpoint. */
export async function deleteStandIn(
  { warn }: EndpointCollection,
  templates: TemplateFunctions,
  { id, templateId }: { readonly id: string; readonly templateId: string },
  options: ObservedOptions,
): Promise<void> {
  const given = requestPart(options);
  try {
    const { records } = await templates.listReadable(given);
    if (!records.some((each) => each.id === templateId && each.name === nameOf(id))) return;
    await templates.delete(templateId, given);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    warn?.(`the temporary template ${templateId} of the deleted endpoint ${id} may still exist: ${reason}`);
  }
}

function requestPart({ signal, timeoutMs, maxRetries, headers }: ObservedOptions): RequestOptions {
  return { signal, timeoutMs, maxRetries, headers };
}
