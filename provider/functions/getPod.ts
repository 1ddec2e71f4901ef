import * as pulumi from "@pulumi/pulumi";
import type { Pod } from "../../sdk/pods/podRecord";
import { type CalledSource, type InputsOf, type InvokeOutputOptions, invoke, invokeOutput } from "./invoke";
import { type GetPodArgs, POD } from "./sources";

export type { GetPodArgs };

/** A pod's record. */
export interface GetPodResult extends Omit<Pod, "env"> {
  /** Environment variables, as a secret, because they may hold keys. Empty if the service shows none. */
  readonly env: pulumi.Output<Record<string, string>>;
}

const SECRET_POD: CalledSource<GetPodArgs, GetPodResult> = {
  ...POD,
  find: async (context, args) => withSecretEnv(await POD.find(context, args)),
  fromMock: (mocked) => withSecretEnv(mocked as unknown as Pod),
};

/**
 * Returns a pod by its id.
 * @throws NotFoundError if the pod does not exist
 * @throws AuthenticationError if the service does not accept the key
 * @example
 * const pod = await getPod({ podId: "xyz789", includeMachine: true });
 */
export function getPod(args: GetPodArgs): Promise<GetPodResult> {
  return invoke(SECRET_POD, args);
}

/**
 * Does the same as `getPod` for arguments that are outputs. The result is unknown until the arguments are known.
 * @example
 * export const image = getPodOutput({ podId: someOutput }).image;
 */
export function getPodOutput(args: InputsOf<GetPodArgs>, options?: InvokeOutputOptions): pulumi.Output<GetPodResult> {
  return invokeOutput(SECRET_POD, args, options);
}

function withSecretEnv({ env, ...pod }: Pod): GetPodResult {
  return { ...pod, env: pulumi.secret(env ?? {}) };
}
