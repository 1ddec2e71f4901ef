/**
 * Stands for a secret value of a state. The value itself is dropped where the state is read, so
 * that nothing can print it.
 */
export const OLD_SECRET: unique symbol = Symbol("secret");

/** A resource of another provider, as its state holds it. */
export interface OldResource {
  /** The URN or the address, for the command that removes it from the old state. */
  readonly address: string;
  /** The type, such as `runpod:index:Endpoint` or `runpod_endpoint`. */
  readonly type: string;
  /** The logical name. */
  readonly name: string;
  /** The id at the service; `undefined` if the state does not hold it. */
  readonly id: string | undefined;
  /** The settings of the old program. A secret one is `SECRET`. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The resource options that are set. */
  readonly options: readonly ("protect" | "retainOnDelete")[];
  /** The name of the explicit provider; `undefined` for the default one. */
  readonly provider: string | undefined;
  /** The URL of the explicit provider's service, if it sets one. */
  readonly providerUrl: string | typeof OLD_SECRET | undefined;
  /** The addresses of the resources without which the old tool does not let go of this one. */
  readonly dependents: readonly string[];
  /** Why the new program must not have it; `undefined` if it may. */
  readonly obstacle: string | undefined;
}

/** The resources of a state that belong to a provider for RunPod. */
export interface OldState {
  readonly tool: "pulumi" | "terraform";
  /** `true` if the state has no resources at all, of any provider. */
  readonly isEmpty: boolean;
  readonly resources: readonly OldResource[];
  /** What the reader of the list must know beside the resources. */
  readonly warnings: readonly string[];
}
