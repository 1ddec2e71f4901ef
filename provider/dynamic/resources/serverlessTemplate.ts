import * as pulumi from "@pulumi/pulumi";
import type { Template, TemplateInput, TemplateSettings } from "../../../sdk/templates/template";
import { RECORD_TYPES } from "../../resourceTypes";
import { noteOfPlainKeys } from "../program/plainKeys";
import { followAdoption } from "../program/preview";
import { warnOfSettings } from "../program/settingsWarnings";
import type { ArgsOf } from "./args";
import { type ContainerArgs, commandProblems, declaredContainer, warnOfTag } from "./containerArgs";
import { type RecordClass, registration } from "./registration";

const TEMPLATE_CLASS: RecordClass<Template> = {
  ...RECORD_TYPES.ServerlessTemplate,
  loadKind() {
    const { TEMPLATE_KIND }: typeof import("../../template/templateKind") = require("../../template/templateKind");
    return TEMPLATE_KIND;
  },
};

/**
 * The arguments of a `ServerlessTemplate`. The provider does not manage a field that the program
 * never set. A field that the program removes, or sets to `null`, returns to the default given
 * here.
 */
export interface ServerlessTemplateArgs
  extends ArgsOf<Omit<TemplateInput, "name" | "env">>,
    Pick<ContainerArgs, "command"> {
  /**
   * Name of the template. Unique at the service, including the templates of pods.
   * @default the resource's logical name, a hyphen and 7 random hexadecimal digits
   */
  name?: pulumi.Input<string | undefined>;
  /**
   * Environment of the workers: at most 50 variables. A value that the program marks as secret
   * stays secret, and a variable whose name contains TOKEN, SECRET, PASSW, KEY or CREDENTIAL is
   * always secret. Variables that others have set at the service are kept there, unless
   * `removeUnknownEnv` is set, and are not in state. A variable that the program removes is
   * removed.
   * @default {}
   */
  env?: pulumi.Input<Record<string, pulumi.Input<string>> | null> | undefined;
  /**
   * Id of an existing serverless template. A new resource adopts it, and changes it to match the
   * program, instead of creating one. Without `name` the template keeps its name. Each template
   * belongs to one resource of one stack.
   */
  adoptId?: pulumi.Input<string> | undefined;
  /**
   * `true` removes the variables of the template that the program does not set: those of an
   * interrupted run, and those that others have set at the service. A refresh finds new ones, and
   * the next `up` removes them. Otherwise a refresh only logs their names.
   * @default false
   */
  removeUnknownEnv?: pulumi.Input<boolean> | undefined;
  /**
   * How long a deletion waits until the service releases the template, in seconds (integer, ≥ 1).
   * The service refuses to delete a template for up to two minutes after its last use.
   * @default 300 (5 minutes)
   */
  deleteTimeout?: pulumi.Input<number> | undefined;
}

/**
 * A template: the image, environment and disk of the workers of serverless endpoints.
 *
 * Changes are made in place. Give `revision` to the endpoint as `templateRevision`, so that a
 * change reaches its workers. For a rollout with a new template, use the option `replaceOnChanges:
 * ["imageName", "env"]`: Pulumi creates a new template, moves the endpoint to it, and deletes the
 * old one.
 *
 * A deletion fails at once if an endpoint uses the template. Otherwise it waits until the service
 * releases it, and verifies that it is gone.
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
   * Counts changes (integer, ≥ 0) to what workers run: image, environment, disk, command, ports or
   * credential. Saves count, and so do changes that a refresh finds: workers may not have those
   * yet.
   */
  declare readonly revision: pulumi.Output<number>;

  /**
   * Reads a template without managing it: Pulumi neither changes nor deletes it. Fails if no
   * template has this id. `env` is empty, because it may hold other people's secrets.
   * @param name logical name of the resource
   * @param id id of the template
   */
  static get(name: string, id: pulumi.Input<pulumi.ID>, options?: pulumi.CustomResourceOptions): ServerlessTemplate {
    return new ServerlessTemplate(name, undefined, { ...options, id });
  }

  /**
   * @param name logical name of the resource, unique in the stack
   * @param args `undefined` only together with `options.id`, as in `get`
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

/** Every setting of the template is an output. `env` holds the variables that the program sets. */
export interface ServerlessTemplate extends Outputs<TemplateSettings> {}
