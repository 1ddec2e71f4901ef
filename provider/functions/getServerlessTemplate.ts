import * as pulumi from "@pulumi/pulumi";
import type { GetServerlessTemplateArgs, GetServerlessTemplateResult } from "./findTemplate";
import { type InputsOf, type InvokeOutputOptions, invoke, invokeOutput } from "./invoke";
import { TEMPLATE, TEMPLATE_ENV } from "./sources";

export type { GetServerlessTemplateArgs, GetServerlessTemplateResult };

/**
 * Returns a template by its id or by its exact name. The values of its variables are not part of it: see
 * `getServerlessTemplateEnvOutput`.
 * @throws NotFoundError if no template has the id or the name
 * @throws AuthenticationError if the service does not accept the key
 */
export function getServerlessTemplate(args: GetServerlessTemplateArgs): Promise<GetServerlessTemplateResult> {
  return invoke(TEMPLATE, args);
}

/** Does the same as `getServerlessTemplate` for arguments that are outputs. The result is unknown until they are known. */
export function getServerlessTemplateOutput(
  args: InputsOf<GetServerlessTemplateArgs>,
  options?: InvokeOutputOptions,
): pulumi.Output<GetServerlessTemplateResult> {
  return invokeOutput(TEMPLATE, args, options);
}

/** Returns all variables of a template with their values, as a secret output. */
export function getServerlessTemplateEnvOutput(
  args: InputsOf<GetServerlessTemplateArgs>,
  options?: InvokeOutputOptions,
): pulumi.Output<Readonly<Record<string, string>>> {
  return pulumi.secret(invokeOutput(TEMPLATE_ENV, args, options));
}
