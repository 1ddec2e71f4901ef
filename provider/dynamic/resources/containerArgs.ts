import * as pulumi from "@pulumi/pulumi";
import { startCommand, TWO_COMMANDS, WRONG_COMMAND } from "../../container/startCommand";
import { movingTagWarning } from "../../inputWarnings";
import { warnAt } from "../program/programChecks";
import { rejectedLater } from "../program/refusal";
import { secretEnv } from "../program/secretEnv";

/** The start command of a container in parts. */
export interface ContainerCommand {
  /** Arguments of the entrypoint. @default those of the image */
  cmd?: pulumi.Input<pulumi.Input<string>[]> | undefined;
  /** The program to start. @default that of the image */
  entrypoint?: pulumi.Input<pulumi.Input<string>[]> | undefined;
}

/** The arguments for a container that differ from the fields of the service. */
export interface ContainerArgs {
  /**
   * Environment of the workers: at most 50 variables. A value stays as secret as the program gives
   * it, and a variable whose name contains TOKEN, SECRET, PASSW, KEY or CREDENTIAL is always
   * secret. Variables that others have set at the service are kept there, and are not in state. A
   * variable that the program removes is removed.
   * @default {}
   */
  env?: pulumi.Input<Record<string, pulumi.Input<string>> | null> | undefined;
  /**
   * Start command, in parts. Not together with `dockerArgs`, which is the output for both.
   * @default the image's own
   */
  command?: pulumi.Input<ContainerCommand | null> | undefined;
}

type WithArgs = ContainerArgs & { readonly dockerArgs?: unknown };

/** Returns the arguments with the service's `dockerArgs`, and with secret credentials. */
export function declaredContainer<T extends WithArgs>(name: string, { command, env, ...others }: T) {
  const args = env === undefined ? others : { ...others, env: secretEnv(env) };
  if (command === undefined || args.dockerArgs !== undefined) return args;
  const dockerArgs = pulumi.output(command).apply(async (parts) => {
    if (!parts) return parts;
    const inParts = startCommand(parts);
    return inParts ?? rejectedLater(new pulumi.RunError(`"${name}": ${WRONG_COMMAND}`));
  });
  return { ...args, dockerArgs };
}

/** Returns the problems of arguments that only the program can find. */
export function commandProblems(args: WithArgs | undefined) {
  const hasTwoCommands = args?.command !== undefined && args.dockerArgs !== undefined;
  return hasTwoCommands ? [{ property: "", message: TWO_COMMANDS }] : [];
}

/** Warns of an image whose tag does not name one version. */
export function warnOfTag(resource: Parameters<typeof warnAt>[0], imageName: unknown): void {
  const warning = typeof imageName === "string" ? movingTagWarning(imageName) : undefined;
  if (warning !== undefined) warnAt(resource, warning);
}
