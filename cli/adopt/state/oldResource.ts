/**
 * Replaces a secret value of a state. The reader drops the value itself, so that nothing can print
 * it.
 */
export const OLD_SECRET: unique symbol = Symbol("secret");

/** A resource of another provider, as its state holds it. */
export interface OldResource {
  /** The URN or address that the command to remove the resource from the old state needs. */
  readonly address: string;
  /** The type, such as `runpod:index:Endpoint` or `runpod_endpoint`. */
  readonly type: string;
  /** The logical name. */
  readonly name: string;
  /** The record's id; `undefined` if the state does not contain it. */
  readonly id: string | undefined;
  /** The settings of the old program. Secret values are replaced by `SECRET`. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The resource options that the old program sets. */
  readonly options: readonly ("protect" | "retainOnDelete")[];
  /** The name of the explicit provider; `undefined` if the resource uses the default provider. */
  readonly provider: string | undefined;
  /** The URL of the explicit provider's service, if it sets one. */
  readonly providerUrl: string | typeof OLD_SECRET | undefined;
  /**
   * The addresses of the resources that depend on this one. The old tool refuses to remove it while
   * they exist.
   */
  readonly dependents: readonly string[];
  /** Why the new program must not declare the resource; `undefined` if it may. */
  readonly obstacle: string | undefined;
}

/** The resources in a state that belong to a RunPod provider. */
export interface OldState {
  readonly tool: "pulumi" | "terraform";
  /** `true` if the state contains no resources of any provider. */
  readonly isEmpty: boolean;
  readonly resources: readonly OldResource[];
  /** Warnings to print along with the resources. */
  readonly warnings: readonly string[];
}
