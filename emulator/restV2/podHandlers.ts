import type { Pod } from "../pods/podRecord";
import type { Pods } from "../pods/pods";
import type { V2Call } from "./handler";
import { V2Refusal } from "./problem";

/** Returns the operations on pods. Workers do not count as pods here. */
export function podHandlers(pods: Pods) {
  return {
    getPod({ id }: V2Call) {
      const pod = pods.get(id);
      if (!pod || pod.endpointId !== undefined) throw new V2Refusal(404, "pod not found", "v2.pod");
      return shownPod(pod);
    },
  };
}

function shownPod(pod: Pod): object {
  const { id, name, image, desiredStatus, networkVolume, volumeInGb, volumeMountPath, machine, publicIp } = pod;
  const isOnCpu = pod.cpuFlavorId !== undefined;
  const ports = Object.entries(pod.portMappings).map(([internal, external]) => ({
    private: Number(internal),
    public: external,
    type: "tcp",
    ip: publicIp,
  }));
  return {
    id,
    name,
    status: desiredStatus,
    actions: desiredStatus === "RUNNING" ? ["stop", "restart", "terminate"] : ["start", "terminate"],
    image,
    args: pod.dockerStartCmd.join(" "),
    disk: pod.containerDiskInGb,
    mounts: {
      ...(volumeInGb > 0 && { persistent: { size: volumeInGb, path: volumeMountPath } }),
      ...(networkVolume && { network: [{ volumeId: networkVolume.id, path: volumeMountPath }] }),
    },
    ports: pod.ports,
    env: pod.env,
    registry: pod.containerRegistryAuthId ?? null,
    ...(isOnCpu
      ? { cpu: { id: pod.cpuFlavorId, vcpuCount: pod.vcpuCount, memory: pod.memoryInGb } }
      : { gpu: { id: pod.gpu?.id, count: pod.gpu?.count } }),
    cloud: "SECURE",
    dataCenterId: machine?.dataCenterId ?? null,
    cudaVersion: null,
    template: null,
    cost: desiredStatus === "RUNNING" ? pod.costPerHr : 0,
    locked: pod.locked,
    runtime: desiredStatus === "RUNNING" ? { uptime: 0, ports } : null,
    createdAt: pod.lastStartedAt,
    startedAt: pod.lastStartedAt,
  };
}
