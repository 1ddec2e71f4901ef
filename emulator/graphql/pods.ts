import type { Profile } from "../model/fidelity";
import type { Pod } from "../pods/podRecord";
import type { Pods } from "../pods/pods";
import type { GraphqlPart } from "./part";

/**
 * Creates the part of the GraphQL API for pods, as RunPod's clients read them. It is not in the
 * contract.
 */
export function podPart(pods: Pods, profile: Profile): GraphqlPart {
  if (profile === "contract") return { schema: "" };
  return {
    schema: `
      extend type Account { pods: [Pod!]! }
      extend type Query { pod(input: PodFilter): Pod }
      input PodFilter { podId: String! }
      type PodMachine { gpuDisplayName: String location: String }
      type PodPort { ip: String isIpPublic: Boolean privatePort: Int publicPort: Int type: String }
      type PodRuntime { ports: [PodPort!] }
      extend type Pod {
        name: String imageName: String containerDiskInGb: Int volumeInGb: Int volumeMountPath: String dockerArgs: String
        dockerId: String env: [String!] ports: String port: Int podType: String gpuCount: Int vcpuCount: Int
        memoryInGb: Int costPerHr: Float machineId: String lastStatusChange: String uptimeSeconds: Int
        machine: PodMachine runtime: PodRuntime
      }
    `,
    operations: {
      pod({ input }: { input?: { podId: string } | null }) {
        const pod = pods.get(input?.podId ?? "");
        return pod ? shownPod(pod) : null;
      },
    },
    myself: { pods: () => pods.list().map(shownPod) },
  };
}

function shownPod(pod: Pod) {
  return {
    ...pod,
    imageName: pod.image,
    dockerArgs: pod.dockerStartCmd.join(" "),
    env: Object.entries(pod.env).map(([name, value]) => `${name}=${value}`),
    ports: pod.ports.join(","),
    gpuCount: pod.gpu?.count ?? 0,
    machine: { gpuDisplayName: pod.gpu?.displayName ?? null, location: null },
    runtime: null,
  };
}
