import * as pulumi from "@pulumi/pulumi";
import { movingTagWarning } from "../../engine/inputWarnings";
import { startCommand, TWO_COMMANDS, WRONG_COMMAND } from "../../fields/startCommand";
import { warnAt } from "../program/programChecks";
import { rejectedLater } from "../program/refusal";
import { secretEnv } from "../program/secretEnv";

/** A container's start command as separate lists. */
export interface ContainerCommand {
  /** Arguments of the entrypoint. @default the image's arguments */
  cmd?: pulumi.Input<pulumi.Input<string>[]> | undefined;
  /** The program to start. @default the image's entrypoint */
  entrypoint?: pulumi.Input<pulumi.Input<string>[]> | undefined;
}

/** The container arguments that differ from RunPod's fields. */
export interface ContainerArgs {
  /**
   * Environment variables of the workers, at most 50. Values that the program marks as secret stay
   * secret. Variables whose name contains TOKEN, SECRET, PASSW, KEY or CREDENTIAL are always
   * secret. Variables that were set elsewhere are kept at RunPod but are not in state. Variables
   * that you remove from the program are deleted.
   * @default {}
   */
  env?: pulumi.Input<Record<string, pulumi.Input<string>> | null> | undefined;
  /**
   * Start command as separate `entrypoint` and `cmd` lists. Mutually exclusive with `dockerArgs`.
   * Either way, the output `dockerArgs` contains the command.
   * @default the image's command
   */
  command?: pulumi.Input<ContainerCommand | null> | undefined;
}

type WithArgs = ContainerArgs & { readonly dockerArgs?: unknown };

/** Returns the arguments with `dockerArgs`, and with credentials marked as secret. */
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

/** Returns problems with the arguments that only the program can detect. */
export function commandProblems(args: WithArgs | undefined) {
  const hasTwoCommands = args?.command !== undefined && args.dockerArgs !== undefined;
  return hasTwoCommands ? [{ property: "", message: TWO_COMMANDS }] : [];
}

/** Warns about an image tag that does not identify a single version. */
export function warnOfTag(resource: Parameters<typeof warnAt>[0], imageName: unknown): void {
  const warning = typeof imageName === "string" ? movingTagWarning(imageName) : undefined;
  if (warning !== undefined) warnAt(resource, warning);
}
