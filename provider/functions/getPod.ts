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

/** Which pod to look up, and what to add to its record. */
export interface GetPodArgs extends PodIncludes {
  /** Identifier of the pod. */
  readonly podId: string;
}

/** A pod's record. */
export interface GetPodResult extends Omit<Pod, "env"> {
  /** Environment variables, secret: they hold keys. Empty when the service shows none. */
  readonly env: pulumi.Output<Record<string, string>>;
}

const POD: DataSource<GetPodArgs, GetPodResult> = {
  name: "getPod",
  find: findPod,
  fromMock: (mocked) => withSecretEnv(mocked as unknown as Pod),
};

/**
 * Looks a pod up by its id (contract, REST).
 * @throws NotFoundError when there is no such pod
 * @throws AuthenticationError when the key is not accepted
 * @example
 * const pod = await getPod({ podId: "xyz789", includeMachine: true });
 */
export function getPod(args: GetPodArgs): Promise<GetPodResult> {
  return invoke(POD, args);
}

/**
 * `getPod` for arguments that are outputs of other resources. Until they are known, the result is unknown.
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
