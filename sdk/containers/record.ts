import type { NormalForms } from "../records/fields";

/**
 * What an endpoint's workers run. The container belongs either to the endpoint itself or to its
 * template.
 */
export interface ContainerInput {
  /** The image that the workers run, with its tag: `ghcr.io/me/llama:1.4.0`. */
  readonly imageName?: string | null | undefined;
  /**
   * The environment variables of the workers, at most 50. Names consist of letters, digits and
   * underscores. Errors do not show the values.
   * @default {}
   */
  readonly env?: Readonly<Record<string, string>> | null | undefined;
  /**
   * The size of the container's disk, in GB (integer, ≥ 1).
   * @default 20
   */
  readonly containerDiskInGb?: number | null | undefined;
  /**
   * The start command, either as a command line or as the JSON of `{ "cmd": […], "entrypoint": […]
   * }`. `""` selects the image's own command. A resource can have either this field or `command`,
   * but not both.
   * @default the image's own
   */
  readonly dockerArgs?: string | null | undefined;
  /**
   * The ports that the container exposes, such as `8000/http` or `22/tcp`, in any order. Workers of
   * a queue do not need any ports. The client and a dynamic provider also accept a comma-separated
   * string, and return the ports as a sorted, comma-separated string.
   * @default none
   */
  readonly ports?: string | readonly string[] | null | undefined;
  /**
   * The id of the credential for the image's registry; `""` for none.
   * @default none
   */
  readonly containerRegistryAuthId?: string | null | undefined;
}

/** A container in normal form. Every field is set. */
export interface Container extends NormalForms<ContainerInput> {}

/** Environment variables to set, or to remove if the value is `null`. */
export type EnvChanges = Readonly<Record<string, string | null>>;
