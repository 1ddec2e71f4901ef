import { CONTAINER_TABLE } from "../containers/fields";
import type { ContainerInput, EnvChanges } from "../containers/record";
import {
  type FieldTable,
  type Kept,
  type NormalForms,
  type SettingChanges,
  type ShownRecord,
  type TableOf,
  workerFields,
} from "../records/fields";
import { kindOf } from "../records/kind";

// Programs load this file on startup, so it must not import any libraries.

/**
 * The settings for creating a serverless template. Fields that are left out or `null` are set to
 * their default.
 */
export interface TemplateInput extends Omit<ContainerInput, "imageName"> {
  /** The name of the template. It must be unique among all templates of the service. */
  readonly name: string;
  /** The image that the workers run, with its tag: `ghcr.io/me/llama:1.4.0`. */
  readonly imageName: string;
  /**
   * A description of the template, in Markdown.
   * @default ""
   */
  readonly readme?: string | null | undefined;
}

/**
 * Changes to a template. Fields that are left out keep their values, and so do environment
 * variables that are not in `env`. `null` removes a variable, and `env: null` removes all
 * variables.
 */
export interface TemplateChanges extends SettingChanges<Omit<TemplateInput, "env">> {
  /** The environment variables to set. `null` removes a variable. */
  readonly env?: EnvChanges | null | undefined;
}

/** The settings of a template in normal form. Every field is set. */
export interface TemplateSettings extends NormalForms<TemplateInput> {}

/** A template as the service returns it, in normal form. */
export interface Template extends TemplateSettings, ShownRecord {
  /** The id that the service assigned to the template. */
  readonly id: string;
  /** `true` for an endpoint template, `false` for a pod template. */
  readonly isServerless: boolean;
  /** `true` if other accounts can use the template. */
  readonly isPublic: boolean;
  /**
   * Fields that the client does not manage. A change sends them back unchanged.
   * @internal
   */
  readonly kept: Kept;
}

/** Endpoint templates and pod templates share one list and one namespace. */
export const TEMPLATE = kindOf("template", { hasUniqueNames: true });

const TABLE: TableOf<TemplateInput, TemplateSettings, "text" | "id" | "whole number" | "env" | "ports"> = {
  name: { type: "text", mustBe: "a name that is not empty", isInEveryRecord: true, v2: "name" },
  ...CONTAINER_TABLE,
  readme: { type: "text", mustBe: "a description", default: "", isUnsetIfAbsent: true, v2: null },
};

/** All settable fields of a template, for code that treats all fields alike. */
export const TEMPLATE_FIELDS: FieldTable = TABLE;

/**
 * The fields whose changes take effect only in new workers. The other fields are only
 * informational.
 */
export const WORKER_FIELDS = workerFields(TEMPLATE_FIELDS) as readonly (keyof TemplateSettings)[];
