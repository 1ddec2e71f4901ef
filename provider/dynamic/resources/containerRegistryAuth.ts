import * as pulumi from "@pulumi/pulumi";
import type { RegistryAuth, RegistryAuthInput } from "../../../sdk/registryAuths/registryAuth";
import { RECORD_TYPES } from "../../engine/resourceTypes";
import { followAdoption } from "../program/preview";
import { warnOfSettings } from "../program/settingsWarnings";
import type { ArgsOf } from "./args";
import { type RecordClass, registration } from "./registration";

const REGISTRY_AUTH_CLASS: RecordClass<RegistryAuth> = {
  ...RECORD_TYPES.ContainerRegistryAuth,
  loadKind() {
    const {
      REGISTRY_AUTH_KIND,
    }: typeof import("../../kinds/registryAuthKind") = require("../../kinds/registryAuthKind");
    return REGISTRY_AUTH_KIND;
  },
};

/** The arguments of a `ContainerRegistryAuth`. */
export interface ContainerRegistryAuthArgs extends ArgsOf<Omit<RegistryAuthInput, "name">> {
  /**
   * Name of the credential. Must be unique in the account. Changing it replaces the credential.
   * @default the resource's logical name, a hyphen and 7 random hexadecimal digits
   */
  name?: pulumi.Input<string | undefined>;
  /**
   * Id of an existing credential to adopt instead of creating one. Adopting it overwrites its user
   * name and password. If you don't set `name`, the credential keeps its name. While `adoptId` is
   * in state, removing the resource releases the credential instead of deleting it. If you remove
   * `adoptId`, the next `up` makes it the stack's own. Only one resource in one stack can manage a
   * credential.
   */
  adoptId?: pulumi.Input<string> | undefined;
  /**
   * How long a deletion waits until RunPod accepts it, in seconds (integer, ≥ 1).
   * @default 60
   */
  deleteTimeout?: pulumi.Input<number> | undefined;
}

/**
 * A credential that RunPod uses to pull private images from a registry.
 *
 * The user name and password change in place. Over REST v2, a change replaces the credential.
 * RunPod never shows either value, so changes made elsewhere are not detected. Deleting a
 * credential fails if a template uses it.
 *
 * @example
 * const ghcr = new ContainerRegistryAuth("ghcr", { username: "me", password: config.requireSecret("ghcr") });
 * new ServerlessTemplate("llama", { imageName: "ghcr.io/me/llama:1.4.0", containerRegistryAuthId: ghcr.id });
 */
export class ContainerRegistryAuth extends pulumi.CustomResource {
  /**
   * The type by which policy packs recognize the class.
   * @internal
   */
  static readonly __pulumiType = REGISTRY_AUTH_CLASS.type;

  /** The name of the credential. */
  declare readonly name: pulumi.Output<string>;
  /** User name at the registry, as the program last set it. */
  declare readonly username: pulumi.Output<string>;
  /** Password at the registry, as the program last set it. */
  declare readonly password: pulumi.Output<string>;

  constructor(name: string, args: ContainerRegistryAuthArgs, options: pulumi.CustomResourceOptions = {}) {
    const secret = { ...args, username: pulumi.secret(args.username), password: pulumi.secret(args.password) };
    super(...registration(REGISTRY_AUTH_CLASS, name, secret, options));
    warnOfSettings(this);
    followAdoption(this, secret, REGISTRY_AUTH_CLASS);
  }
}
