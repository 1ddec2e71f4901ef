import { BusinessRuleError, NotFoundError, RejectedError } from "../errors";
import { saveRecord } from "../records/records";
import type { ObservedOptions, RequestOptions } from "../transport/requestOptions";
import type { EndpointCollection } from "./calls";
import type { Endpoint } from "./record";
import { AT_ZERO } from "./workerLimits";

/*
 * An endpoint whose template was deleted, at a service whose saves must name a template that exists
 * (contract): a template of its own takes the place of the deleted one until the endpoint is gone.
 * Otherwise nothing could scale it to zero, and its workers would be billed on.
 */

/** A template, as far as this file needs it. */
interface NamedTemplate {
  readonly id: string;
  readonly name: string;
}

/** What deletions of endpoints need of the account's templates. */
export interface TemplateFunctions {
  listReadable(options: RequestOptions): PromiseLike<{ readonly records: readonly NamedTemplate[] }>;
  create(
    input: { readonly name: string; readonly imageName: string },
    options: RequestOptions,
  ): PromiseLike<NamedTemplate>;
  delete(id: string, options: RequestOptions): PromiseLike<void>;
}

/** No worker starts with it. */
const IMAGE = "busybox";

function nameOf(endpointId: string): string {
  return `stand-in-until-${endpointId}-is-deleted`;
}

/**
 * Scales an endpoint to zero whose save was refused because its template does not exist any more.
 * Returns the id of the template that it has now.
 * @throws the refusal if that is not the reason
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
  // One that a killed deletion has left is used again.
  const left = records.find((each) => each.name === name);
  const standIn = left ?? (await templates.create({ name, imageName: IMAGE }, given));
  // A volume may be gone as well. A save keeps the volumes that it leaves out.
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

/** Returns `true` if the service does not find an id: that of a volume hides that of a template. */
function namesDeadId(error: unknown): boolean {
  const isRefusal = error instanceof NotFoundError || error instanceof BusinessRuleError;
  return (
    isRefusal && /template|volume/i.test(error.message) && /\b(find|found|exists?|nonexistent)\b/i.test(error.message)
  );
}

/** Deletes the template if it took the place of a deleted endpoint's. */
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
    warn?.(`template ${templateId}, which stood in for that of the deleted endpoint ${id}, may stay: ${reason}`);
  }
}

function requestPart({ signal, timeoutMs, maxRetries, headers }: ObservedOptions): RequestOptions {
  return { signal, timeoutMs, maxRetries, headers };
}
