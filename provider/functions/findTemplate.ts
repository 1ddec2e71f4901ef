import type { Template, TemplateSettings } from "../../sdk/templates/record";
import type { DataSourceContext } from "./dataSource";
import { findSelected, type RecordSelector } from "./findRecord";

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

/** Returns a template by its id or by its exact name. */
export async function findTemplate(
  { client }: DataSourceContext,
  args: GetServerlessTemplateArgs,
): Promise<GetServerlessTemplateResult> {
  return withoutValues(await findSelected("getServerlessTemplate", client.templates, args));
}

/** Returns all variables of a template with their values. */
export async function findTemplateEnv(
  { client }: DataSourceContext,
  args: GetServerlessTemplateArgs,
): Promise<Readonly<Record<string, string>>> {
  return (await findSelected("getServerlessTemplateEnv", client.templates, args)).env;
}

function withoutValues({ env, kept: _kept, ...template }: Template): GetServerlessTemplateResult {
  return { ...template, envNames: Object.keys(env).sort() };
}
