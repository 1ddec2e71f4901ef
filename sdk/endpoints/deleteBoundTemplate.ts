import { InUseError } from "../errors";
import { type ObservedOptions, type RequestOptions, requestOptions } from "../transport/requestOptions";
import { type Attempt, makeCall } from "../transport/retryingCall";
import type { EndpointCollection } from "./calls";

/** Deletes a template that nothing uses, and proves that it is gone. */
export type DeleteTemplate = (id: string, options: RequestOptions) => PromiseLike<void>;

/**
 * Proves that the template of a deleted endpoint is gone, and deletes it otherwise. One that
 * another endpoint has, or uses, stays.
 */
export async function deleteBoundTemplate(
  collection: EndpointCollection,
  deleteTemplate: DeleteTemplate,
  { id, templateId }: { readonly id: string; readonly templateId: string },
  options: ObservedOptions,
): Promise<void> {
  const { readTemplate } = collection.calls;
  if (!readTemplate) return;
  const operation = `the read of template ${templateId}, which belonged to endpoint ${id}`;
  const attempt = (each: Attempt) => readTemplate(operation, templateId, each);
  const call = { name: "podTemplate", operation, repeatability: "safe", attempt } as const;
  const template = await makeCall(collection, { ...requestOptions(options), ...call });
  if (!template) return;
  const { boundEndpointId = id } = template;
  try {
    if (boundEndpointId !== id) throw new InUseError(`it belongs to endpoint ${boundEndpointId} now`);
    const { signal, timeoutMs, maxRetries, headers } = options;
    await deleteTemplate(templateId, { signal, timeoutMs, maxRetries, headers });
  } catch (error) {
    if (!(error instanceof InUseError)) throw error;
    collection.warn?.(`template ${templateId} of the deleted endpoint ${id} stays: ${error.message}`);
  }
}
