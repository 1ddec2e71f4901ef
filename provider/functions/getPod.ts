import * as pulumi from "@pulumi/pulumi";
import type { Pod } from "../../sdk/pods/podRecord";
import type { PodIncludes } from "../../sdk/pods/pods";
import {
  type DataSource,
  type DataSourceContext,
  type InputsOf,
  type InvokeOutputOptions,
  invoke,
  invokeOutput,
} from "./invoke";

/** Selects a pod, and the additional parts of its record. */
export interface GetPodArgs extends PodIncludes {
  /** Id of the pod. */
  readonly podId: string;
}

/** A pod's record. */
export interface GetPodResult extends Omit<Pod, "env"> {
  /** Environment variables, as a secret, because they may hold keys. Empty if the service shows none. */
  readonly env: pulumi.Output<Record<string, string>>;
}

const POD: DataSource<GetPodArgs, GetPodResult> = {
  name: "getPod",
  find: findPod,
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
  return invoke(POD, args);
}

/**
 * Does the same as `getPod` for arguments that are outputs. The result is unknown until the arguments are known.
 * @example
 * export const image = getPodOutput({ podId: someOutput }).image;
 */
export function getPodOutput(args: InputsOf<GetPodArgs>, options?: InvokeOutputOptions): pulumi.Output<GetPodResult> {
  return invokeOutput(POD, args, options);
}

async function findPod({ client }: DataSourceContext, { podId, ...includes }: GetPodArgs): Promise<GetPodResult> {
  return withSecretEnv(await client.pods.get(podId, includes));
}

function withSecretEnv({ env, ...pod }: Pod): GetPodResult {
  return { ...pod, env: pulumi.secret(env ?? {}) };
}
