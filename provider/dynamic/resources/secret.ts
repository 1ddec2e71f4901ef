import * as pulumi from "@pulumi/pulumi";
import { isSecretName, type SecretInput, type SecretRecord } from "../../../sdk/secrets/secret";
import { RECORD_TYPES } from "../../resourceTypes";
import { followAdoption } from "../program/preview";
import { warnOfSettings } from "../program/settingsWarnings";
import type { ArgsOf } from "./args";
import { type RecordClass, registration } from "./registration";

const SECRET_CLASS: RecordClass<SecretRecord> = {
  ...RECORD_TYPES.Secret,
  loadKind() {
    const { SECRET_KIND }: typeof import("../../secret/secretKind") = require("../../secret/secretKind");
    return SECRET_KIND;
  },
};

/** The arguments of a `Secret`. */
export interface SecretArgs extends ArgsOf<Pick<SecretInput, "description">> {
  /**
   * Name of the secret: 1 to 191 letters, digits and `_ . - /`, of which the first is a letter or
   * `_`. It must not begin with `RUNPOD`. Unique in the account, without regard to case. A change
   * replaces the secret.
   * @default the resource's logical name, a hyphen and 7 random hexadecimal digits
   */
  name?: pulumi.Input<string | undefined>;
  /**
   * Value of the secret: at least 1 character, less than 16 MiB. It is in state, where it is always
   * secret. The service never returns it. A change is written in place. Not together with
   * `valueEnv`.
   */
  value?: pulumi.Input<string> | undefined;
  /**
   * Name of the environment variable that holds the value when `pulumi up` writes it. State then
   * holds neither the value nor a hash of it. Needs `valueVersion`.
   */
  valueEnv?: pulumi.Input<string> | undefined;
  /**
   * Version of the value in `valueEnv` (integer, ≥ 0). A change writes the value again.
   */
  valueVersion?: pulumi.Input<number> | undefined;
  /**
   * Id of an existing secret. A new resource adopts it, and writes this value and description,
   * instead of creating one. Without `name` the secret keeps its name. Each secret belongs to one
   * resource of one stack.
   */
  adoptId?: pulumi.Input<string> | undefined;
  /**
   * How long a deletion waits for the service to accept it, in seconds (integer, ≥ 1).
   * @default 60
   */
  deleteTimeout?: pulumi.Input<number> | undefined;
}

/**
 * A secret of the account: workers get its value in place of its `reference` in an environment
 * variable.
 *
 * A template then holds the reference instead of a key. Workers get a new value when they next
 * start. To replace them, give `version` to the endpoint as `templateRevision`, together with
 * `recycleWorkers`. If somebody else writes the value, the next `up` after a refresh writes the
 * program's value again. A deletion fails at once if a template names the secret.
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
  /** Name of the secret. */
  declare readonly name: pulumi.Output<string>;
  /** Value, as the program last set it; absent with `valueEnv`. */
  declare readonly value: pulumi.Output<string | undefined>;
  /** Description; `""` if it has none. */
  declare readonly description: pulumi.Output<string>;
  /** Text for a variable, which becomes the secret's value when a worker starts. */
  declare readonly reference: pulumi.Output<string>;
  /** Grows whenever this resource writes the value (integer, ≥ 0). Usable as `templateRevision`. */
  declare readonly version: pulumi.Output<number>;
  /** Time of the last write of the value by anybody, as ISO 8601. */
  declare readonly valueLastUpdatedAt: pulumi.Output<string>;

  constructor(name: string, args: SecretArgs, options: pulumi.CustomResourceOptions = {}) {
    const { value } = args;
    const secret = value === undefined ? args : { ...args, value: pulumi.secret(value) };
    super(...registration(SECRET_CLASS, name, secret, options, nameProblems(name, args)));
    warnOfSettings(this);
    followAdoption(this, secret, SECRET_CLASS);
  }
}

/** A name that the program does not set begins with the logical name. */
function nameProblems(logicalName: string, { name, adoptId }: SecretArgs) {
  if (name !== undefined || adoptId !== undefined || isSecretName(`${logicalName}-0123456`)) return [];
  const message = `is required: the resource's own name "${logicalName}" cannot be the beginning of a secret's name`;
  return [{ property: "name", message }];
}
