import * as pulumi from "@pulumi/pulumi";
import type { Template, TemplateSettings } from "../../sdk/templates/record";
import { findSelected, type RecordSelector } from "./findRecord";
import { type DataSource, type InputsOf, type InvokeOutputOptions, invoke, invokeOutput } from "./invoke";

/** Selects a template by its id or by its exact name. */
export type GetServerlessTemplateArgs = RecordSelector;

/** A template at the service, without the values of its variables, which may be secret. */
export interface GetServerlessTemplateResult extends Omit<TemplateSettings, "env"> {
  /** Id of the template. */
  readonly id: string;
  /** Names of the variables. */
  readonly envNames: readonly string[];
  /** `true` for a template of endpoints, `false` for one of pods. */
  readonly isServerless: boolean;
  /** `true` if other accounts can use the template. */
  readonly isPublic: boolean;
}

const TEMPLATE: DataSource<GetServerlessTemplateArgs, GetServerlessTemplateResult> = {
  name: "getServerlessTemplate",
  find: async ({ client }, args) => withoutValues(await findSelected("getServerlessTemplate", client.templates, args)),
};

const ENV: DataSource<GetServerlessTemplateArgs, Readonly<Record<string, string>>> = {
  name: "getServerlessTemplateEnv",
  find: async ({ client }, args) => (await findSelected("getServerlessTemplateEnv", client.templates, args)).env,
};

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
  return pulumi.secret(invokeOutput(ENV, args, options));
}

function withoutValues({ env, kept: _kept, ...template }: Template): GetServerlessTemplateResult {
  return { ...template, envNames: Object.keys(env).sort() };
}
