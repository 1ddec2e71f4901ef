import * as pulumi from "@pulumi/pulumi";
import { isSecretName, type SecretInput, type SecretRecord } from "../../../sdk/secrets/secret";
import { RECORD_TYPES } from "../../engine/resourceTypes";
import { followAdoption } from "../program/preview";
import { warnOfSettings } from "../program/settingsWarnings";
import type { ArgsOf } from "./args";
import { type RecordClass, registration } from "./registration";

const SECRET_CLASS: RecordClass<SecretRecord> = {
  ...RECORD_TYPES.Secret,
  loadKind() {
    const { SECRET_KIND }: typeof import("../../kinds/secretKind") = require("../../kinds/secretKind");
    return SECRET_KIND;
  },
};

/** The arguments of a `Secret`. */
export interface SecretArgs extends ArgsOf<Pick<SecretInput, "description">> {
  /**
   * Name of the secret: 1 to 191 letters, digits and `_ . - /`, starting with a letter or `_`. It
   * must not start with `RUNPOD`. Must be unique in the account, ignoring case. Changing it
   * replaces the secret.
   * @default the resource's logical name, a hyphen and 7 random hexadecimal digits
   */
  name?: pulumi.Input<string | undefined>;
  /**
   * Value of the secret: at least 1 character, less than 16 MiB. It is stored in state as a secret.
   * RunPod never returns it. The value changes in place. Mutually exclusive with `valueEnv`.
   */
  value?: pulumi.Input<string> | undefined;
  /**
   * Name of the environment variable that contains the value when `pulumi up` writes it. State then
   * contains neither the value nor a hash of it. Requires `valueVersion`.
   */
  valueEnv?: pulumi.Input<string> | undefined;
  /** Version of the value in `valueEnv` (integer, ≥ 0). Changing it writes the value again. */
  valueVersion?: pulumi.Input<number> | undefined;
  /**
   * Id of an existing secret to adopt instead of creating one. Adopting it overwrites its value and
   * description. If you don't set `name`, the secret keeps its name. While `adoptId` is in state,
   * removing the resource releases the secret instead of deleting it. If you remove `adoptId`, the
   * next `up` makes it the stack's own. Only one resource in one stack can manage a secret.
   */
  adoptId?: pulumi.Input<string> | undefined;
  /**
   * How long a deletion waits until RunPod accepts it, in seconds (integer, ≥ 1).
   * @default 60
   */
  deleteTimeout?: pulumi.Input<number> | undefined;
}

/**
 * A secret in the account. Use its `reference` as the value of an environment variable, and workers
 * get the secret's value instead.
 *
 * The template then contains a reference rather than a key. Workers get a new value the next time
 * they start. To replace them, pass `version` to the endpoint as `templateRevision` and set
 * `recycleWorkers`. If someone else changes the value, the next `up` after a refresh restores the
 * program's value. Deleting a secret fails if a template refers to it.
 *
 * @example
 * const token = new Secret("hf-token", { value: config.requireSecret("hfToken") });
 * const template = new ServerlessTemplate("llama", {
 *   imageName: "ghcr.io/me/llama:1.4.0",
 *   env: { HF_TOKEN: token.reference },
 * });
 * new ServerlessEndpoint("llama", {
 *   gpuIds: "ADA_24",
 *   templateId: template.id,
 *   templateRevision: token.version,
 *   recycleWorkers: true,
 * });
 */
export class Secret extends pulumi.CustomResource {
  /**
   * The type by which policy packs recognize the class.
   * @internal
   */
  static readonly __pulumiType = SECRET_CLASS.type;

  /** The name of the secret. */
  declare readonly name: pulumi.Output<string>;
  /** Value, as the program last set it; absent if `valueEnv` is used. */
  declare readonly value: pulumi.Output<string | undefined>;
  /** The description, or `""` if there is none. */
  declare readonly description: pulumi.Output<string>;
  /**
   * Text to use as the value of an environment variable. It is replaced by the secret's value when
   * a worker starts.
   */
  declare readonly reference: pulumi.Output<string>;
  /**
   * Increases whenever this resource writes the value (integer, ≥ 0). Use it as `templateRevision`.
   */
  declare readonly version: pulumi.Output<number>;
  /** When anyone last wrote the value (ISO 8601). */
  declare readonly valueLastUpdatedAt: pulumi.Output<string>;

  constructor(name: string, args: SecretArgs, options: pulumi.CustomResourceOptions = {}) {
    const { value } = args;
    const secret = value === undefined ? args : { ...args, value: pulumi.secret(value) };
    super(...registration(SECRET_CLASS, name, secret, options, nameProblems(name, args)));
    warnOfSettings(this);
    followAdoption(this, secret, SECRET_CLASS);
  }
}

/** An automatic name starts with the logical name. */
function nameProblems(logicalName: string, { name, adoptId }: SecretArgs) {
  if (name !== undefined || adoptId !== undefined || isSecretName(`${logicalName}-0123456`)) return [];
  const message = `is required: the resource's own name "${logicalName}" cannot be the beginning of a secret's name`;
  return [{ property: "name", message }];
}
