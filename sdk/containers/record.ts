import type { NormalForms } from "../records/fields";

/** What the workers of an endpoint run: its own container, or that of its template. */
export interface ContainerInput {
  /** Image that the workers run, with its tag: `ghcr.io/me/llama:1.4.0`. */
  readonly imageName?: string | null | undefined;
  /**
   * Environment of the workers: at most 50 variables, whose names are letters, digits and
   * underscores. Errors do not show their values.
   * @default {}
   */
  readonly env?: Readonly<Record<string, string>> | null | undefined;
  /**
   * Size of the container's disk, in GB (whole, ≥ 1).
   * @default 20
   */
  readonly containerDiskInGb?: number | null | undefined;
  /**
   * Start command: a command line, or the JSON of `{ "cmd": […], "entrypoint": […] }`. `""` is the
   * image's own. A resource has either this or `command`.
   * @default the image's own
   */
  readonly dockerArgs?: string | null | undefined;
  /**
   * Ports that the container exposes, such as `8000/http` or `22/tcp`, in any order. Workers of a
   * queue need none. The client and a dynamic provider also accept a comma-separated string, and
   * return a sorted one.
   * @default none
   */
  readonly ports?: string | readonly string[] | null | undefined;
  /**
   * Id of the credential for the image's registry; `""` is none.
   * @default none
   */
  readonly containerRegistryAuthId?: string | null | undefined;
}

/** A container in normal form. Every field is set. */
export interface Container extends NormalForms<ContainerInput> {}

/** Variables to set, and with `null` those to remove. */
export type EnvChanges = Readonly<Record<string, string | null>>;
