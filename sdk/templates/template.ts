import { CONTAINER_TABLE } from "../containers/fields";
import type { ContainerInput, EnvChanges } from "../containers/record";
import {
  defaultsOf,
  type FieldTable,
  type Kept,
  type NormalForms,
  type SettingChanges,
  type TableOf,
  workerFields,
} from "../records/fields";
import { kindOf } from "../records/kind";

// Programs load this file on startup, so it must not import any libraries.

/**
 * The settings to create a serverless template with. `null` sets the default. A field that is left
 * out gets the default.
 */
export interface TemplateInput extends Omit<ContainerInput, "imageName"> {
  /** Name of the template. Unique among the templates of the service. */
  readonly name: string;
  /** The image that the workers run, with its tag: `ghcr.io/me/llama:1.4.0`. */
  readonly imageName: string;
  /**
   * Description of the template, in Markdown.
   * @default ""
   */
  readonly readme?: string | null | undefined;
}

/**
 * Changes of a template. Fields that are left out keep their value. So do variables that `env`
 * leaves out; `null` removes a variable, and `env: null` removes all.
 */
export interface TemplateChanges extends SettingChanges<Omit<TemplateInput, "env">> {
  /** The environment variables to set. `null` removes a variable. */
  readonly env?: EnvChanges | null | undefined;
}

/** The settings of a template in normal form. Every field is set. */
export interface TemplateSettings extends NormalForms<TemplateInput> {}

/** A template as the service has it, in normal form. */
export interface Template extends TemplateSettings {
  /** Identifier that the service gave the template. */
  readonly id: string;
  /** `true` for an endpoint template, `false` for a pod template. */
  readonly isServerless: boolean;
  /** `true` if other accounts can use the template. */
  readonly isPublic: boolean;
  /**
   * Fields of the service that the client does not manage. A change sends them as they are.
   * @internal
   */
  readonly kept: Kept;
}

/** Templates of endpoints and of pods share one list and one name space. */
export const TEMPLATE = kindOf("template", { hasUniqueNames: true });

const TABLE: TableOf<TemplateInput, TemplateSettings, "text" | "id" | "whole number" | "env" | "ports"> = {
  name: { type: "text", mustBe: "a name, not empty", isInEveryRecord: true, v2: "name" },
  ...CONTAINER_TABLE,
  readme: { type: "text", mustBe: "a description", default: "", v2: null },
};

/** All fields of a template that can be set, for code that treats all fields alike. */
export const TEMPLATE_FIELDS: FieldTable = TABLE;

/** The defaults of all optional fields, in normal form. */
export const TEMPLATE_DEFAULTS = defaultsOf(TEMPLATE_FIELDS) as Omit<TemplateSettings, "name" | "imageName">;

/** The fields whose change needs new workers. The others are for people. */
export const WORKER_FIELDS = workerFields(TEMPLATE_FIELDS) as readonly (keyof TemplateSettings)[];
