import * as pulumi from "@pulumi/pulumi";
import type { Template, TemplateInput, TemplateSettings } from "../../../sdk/templates/template";
import { RECORD_TYPES } from "../../engine/resourceTypes";
import { noteOfPlainKeys } from "../program/plainKeys";
import { followAdoption } from "../program/preview";
import { warnOfSettings } from "../program/settingsWarnings";
import type { ArgsOf } from "./args";
import { type ContainerArgs, commandProblems, declaredContainer, warnOfTag } from "./containerArgs";
import { type RecordClass, registration } from "./registration";

const TEMPLATE_CLASS: RecordClass<Template> = {
  ...RECORD_TYPES.ServerlessTemplate,
  loadKind() {
    const { TEMPLATE_KIND }: typeof import("../../kinds/templateKind") = require("../../kinds/templateKind");
    return TEMPLATE_KIND;
  },
};

/**
 * The arguments of a `ServerlessTemplate`. The provider does not manage a field that the program
 * has never set. If you remove a field from the program or set it to `null`, it returns to the
 * default given here.
 */
export interface ServerlessTemplateArgs
  extends ArgsOf<Omit<TemplateInput, "name" | "env">>,
    Pick<ContainerArgs, "command"> {
  /**
   * Name of the template. Must be unique at RunPod, including pod templates.
   * @default the resource's logical name, a hyphen and 7 random hexadecimal digits
   */
  name?: pulumi.Input<string | undefined>;
  /**
   * Environment variables of the workers, at most 50. Values that the program marks as secret stay
   * secret. Variables whose name contains TOKEN, SECRET, PASSW, KEY or CREDENTIAL are always
   * secret. Variables that were set elsewhere are kept at RunPod, unless `removeUnknownEnv` is set,
   * but are not in state. Variables that you remove from the program are deleted.
   * @default {}
   */
  env?: pulumi.Input<Record<string, pulumi.Input<string>> | null> | undefined;
  /**
   * Id of an existing serverless template to adopt instead of creating one. Adopting it changes it
   * to match the program. If you don't set `name`, the template keeps its name. While `adoptId` is
   * in state, removing the resource releases the template instead of deleting it. If you remove
   * `adoptId`, the next `up` makes it the stack's own. Only one resource in one stack can manage a
   * template.
   */
  adoptId?: pulumi.Input<string> | undefined;
  /**
   * `true` removes variables of the template that the program does not set: those left by an
   * interrupted run, and those set elsewhere. A refresh finds new ones, and the next `up` removes
   * them. If `false`, a refresh only logs their names.
   * @default false
   */
  removeUnknownEnv?: pulumi.Input<boolean> | undefined;
  /**
   * How long a deletion waits until RunPod releases the template, in seconds (integer, ≥ 1). RunPod
   * refuses to delete a template for up to two minutes after its last use.
   * @default 300 (5 minutes)
   */
  deleteTimeout?: pulumi.Input<number> | undefined;
}

/**
 * A template: the image, environment and disk of serverless endpoints' workers.
 *
 * Changes are made in place. Pass `revision` to the endpoint as `templateRevision`, so that changes
 * reach its workers. To roll out changes with a new template instead, use the option
 * `replaceOnChanges: ["imageName", "env"]`: Pulumi creates a new template, moves the endpoint to
 * it, and deletes the old one.
 *
 * Deleting a template fails if an endpoint uses it. Otherwise, the deletion waits until RunPod
 * releases the template, and verifies that it is gone.
 *
 * @example
 * const template = new ServerlessTemplate("llama", {
 *   imageName: "ghcr.io/me/llama:1.4.0",
 *   env: { HF_TOKEN: config.requireSecret("hf"), MODEL: "llama-3" },
 * });
 * new ServerlessEndpoint("llama", { gpuIds: "ADA_24", templateId: template.id, templateRevision: template.revision });
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the engine sets the outputs that the interface below declares.
export class ServerlessTemplate extends pulumi.CustomResource {
  /**
   * The type by which policy packs recognize the class.
   * @internal
   */
  static readonly __pulumiType = TEMPLATE_CLASS.type;

  /**
   * Counts changes (integer, ≥ 0) to what workers run: image, environment, disk, command, ports or
   * credential. It includes changes that a refresh finds, because workers may not run them yet.
   */
  declare readonly revision: pulumi.Output<number>;

  /**
   * Reads an existing template without managing it, so Pulumi neither changes nor deletes it. Fails
   * if the template does not exist. `env` is empty, because it may contain other people's secrets.
   * @param name logical name of the resource
   * @param id id of the template
   */
  static get(name: string, id: pulumi.Input<pulumi.ID>, options?: pulumi.CustomResourceOptions): ServerlessTemplate {
    return new ServerlessTemplate(name, undefined, { ...options, id });
  }

  /**
   * @param name logical name of the resource, unique in the stack
   * @param args only `undefined` together with `options.id`, as in `get`
   */
  constructor(name: string, args: ServerlessTemplateArgs | undefined, options: pulumi.CustomResourceOptions = {}) {
    const properties = args && declaredContainer(name, args);
    super(...registration(TEMPLATE_CLASS, name, properties, options, commandProblems(args)));
    warnOfSettings(this);
    followAdoption(this, properties, TEMPLATE_CLASS);
    warnOfTag({ type: TEMPLATE_CLASS.type, name, options }, args?.imageName);
    noteOfPlainKeys({ type: TEMPLATE_CLASS.type, name, options }, args?.env);
  }
}

type Outputs<T> = { readonly [K in keyof T]: pulumi.Output<T[K]> };

/**
 * Every setting of the template is an output. `env` contains the variables that the program sets.
 */
export interface ServerlessTemplate extends Outputs<TemplateSettings> {}
