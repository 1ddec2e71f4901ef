import type * as pulumi from "@pulumi/pulumi";

/** The output of a copied resource that has placeholders in place of its secrets. */
export const HIDDEN_SECRETS = "__hiddenSecrets";

/**
 * Returns handlers that do not compare a resource whose secrets are placeholders, as in the first
 * preview of a rehearsal. The engine then compares the inputs, which never replaces the resource.
 */
export function comparingKnown(
  handlers: Required<pulumi.dynamic.ResourceProvider>,
): Required<pulumi.dynamic.ResourceProvider> {
  return {
    ...handlers,
    diff: async (id, olds, news) => (HIDDEN_SECRETS in olds ? {} : handlers.diff(id, olds, news)),
  };
}
