import * as pulumi from "@pulumi/pulumi";
import type { Pod, PodIncludes } from "../sdk/pods";
import { CONFIG_NAMESPACE, providerSettings } from "./config";

/** Which pod to look up, and what to add to its record. */
export interface GetPodArgs extends PodIncludes {
  /** Identifier of the pod. */
  readonly podId: string;
}

/** The arguments of `getPodOutput`: the same, each of which may be an output. */
export type GetPodOutputArgs = { readonly [K in keyof GetPodArgs]: pulumi.Input<GetPodArgs[K]> };

/** A pod's record. */
export type GetPodResult = Omit<Pod, "env"> & {
  /** Environment variables, secret: they hold keys. Empty when the service shows none. */
  readonly env: pulumi.Output<Record<string, string>>;
};

/**
 * Looks a pod up by its id (contract, REST).
 * @throws NotFoundError when there is no such pod
 * @throws AuthenticationError when the key is not accepted
 * @example
 * const pod = await getPod({ podId: "xyz789", includeMachine: true });
 */
export async function getPod({ podId, ...includes }: GetPodArgs): Promise<GetPodResult> {
  // Loaded here, so that programs without look-ups start without the client.
  const { clientFor } = require("./clients") as typeof import("./clients");
  const config = new pulumi.Config(CONFIG_NAMESPACE);
  const settings = providerSettings((name) => config.get(name));
  const { env, ...pod } = await clientFor(settings).pods.get(podId, includes);
  return { ...pod, env: pulumi.secret(env ?? {}) } as GetPodResult;
}

/**
 * `getPod` for arguments that are outputs of other resources. Until they are known, the result is unknown.
 * @example
 * const pod = getPodOutput({ podId: someOutput });
 * export const image = pod.image;
 */
export function getPodOutput(args: GetPodOutputArgs): pulumi.Output<GetPodResult> {
  return pulumi.output(args).apply((resolved) => getPod(resolved as GetPodArgs));
}
