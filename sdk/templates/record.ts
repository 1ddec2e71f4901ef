import type { NormalForms } from "../records/fields";
import type { Kept } from "../records/keptFields";

/**
 * The settings to create a serverless template with. `null` sets the default. A field that is left
 * out gets the default.
 */
export interface TemplateInput {
  /** Name of the template. Unique among the templates of the service. */
  readonly name: string;
  /** Image that the workers run, with its tag: `ghcr.io/me/llama:1.4.0`. */
  readonly imageName: string;
  /**
   * Environment of the workers: at most 50 variables, whose names are letters, digits and
   * underscores. Errors do not show their values.
   * @default {}
   */
  readonly env?: Readonly<Record<string, string>> | null;
  /**
   * Size of the container's disk, in GB (integer, ≥ 1).
   * @default 20
   */
  readonly containerDiskInGb?: number | null;
  /**
   * Start command: a command line, or the JSON of `{ "cmd": […], "entrypoint": […] }`. `""` is the
   * image's own. A resource sets either this or `command`.
   * @default the image's own
   */
  readonly dockerArgs?: string | null;
  /**
   * Ports that the container exposes, such as `8000/http` or `22/tcp`, in any order. Workers of a
   * queue need none. The client and a dynamic provider also accept a comma-separated string, and
   * return a sorted one.
   * @default none
   */
  readonly ports?: string | readonly string[] | null;
  /**
   * Id of the credential for the image's registry; `""` is none.
   * @default none
   */
  readonly containerRegistryAuthId?: string | null;
  /**
   * Description of the template, in Markdown.
   * @default ""
   */
  readonly readme?: string | null;
}

/**
 * Changes of a template. Fields that are left out keep their value. So do variables that `env`
 * leaves out; `null` removes a variable, and `env: null` removes all.
 */
export interface TemplateChanges extends Partial<Omit<TemplateInput, "env">> {
  /** The variables to set, and with `null` those to remove. */
  readonly env?: Readonly<Record<string, string | null>> | null;
}

/** The settings of a template in normal form. Every field is set. */
export interface TemplateSettings extends NormalForms<TemplateInput> {}

/** A template as the service has it, in normal form. */
export interface Template extends TemplateSettings {
  /** Identifier that the service gave the template. */
  readonly id: string;
  /** `true` for a template of endpoints, `false` for one of pods. */
  readonly isServerless: boolean;
  /** `true` if other accounts can use the template. */
  readonly isPublic: boolean;
  /**
   * Fields of the service that the client does not manage. A change sends them as they are.
   * @internal
   */
  readonly kept: Kept;
}
