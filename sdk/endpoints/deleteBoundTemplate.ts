import { InUseError } from "../errors/errors";
import type { ObservedOptions, RequestOptions } from "../transport/requestOptions";
import type { EndpointCollection } from "./calls";

/** Deletes an unused template and verifies that it is gone. */
type DeleteTemplate = (id: string, options: RequestOptions) => PromiseLike<void>;

/**
 * Verifies that the template of a deleted endpoint is gone, and deletes it if it is not. A template
 * that belongs to another endpoint or is used by one is kept.
 */
export async function deleteBoundTemplate(
  collection: EndpointCollection,
  deleteTemplate: DeleteTemplate,
  { id, templateId }: { readonly id: string; readonly templateId: string },
  options: ObservedOptions,
): Promise<void> {
  const template = await collection.calls.readTemplate?.(templateId, options);
  if (!template) return;
  const { boundEndpointId = id } = template;
  try {
    if (boundEndpointId !== id) throw new InUseError(`it now belongs to endpoint ${boundEndpointId}`);
    const { signal, timeoutMs, maxRetries, headers } = options;
    await deleteTemplate(templateId, { signal, timeoutMs, maxRetries, headers });
  } catch (error) {
    if (!(error instanceof InUseError)) throw error;
    collection.warn?.(`template ${templateId} of the deleted endpoint ${id} was not deleted: ${error.message}`);
  }
}
