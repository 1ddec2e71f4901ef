import type { WantedEndpoint } from "../../../cli/metrics/wanted";

/** The settings of an endpoint in a fleet. */
export interface FleetEndpoint {
  readonly id: string;
  readonly name: string;
  readonly kind: FleetKind;
  readonly scalerType: "QUEUE_DELAY" | "REQUEST_COUNT";
  readonly scalerValue: number;
  readonly workersMin: number;
  readonly workersMax: number;
  readonly idleTimeout: number;
  readonly isBalancer: boolean;
}

const DELAY = { scalerType: "QUEUE_DELAY", scalerValue: 4, workersMin: 0, idleTimeout: 10, isBalancer: false } as const;
const COUNT = { ...DELAY, scalerType: "REQUEST_COUNT" } as const;
const KINDS = {
  delay1: { ...DELAY, workersMax: 1 },
  delay3: { ...DELAY, workersMax: 3 },
  count1: { ...COUNT, workersMax: 1 },
  count3: { ...COUNT, workersMax: 3 },
  warm: { ...DELAY, workersMin: 1, workersMax: 3 },
  balancer: { ...COUNT, workersMax: 3, isBalancer: true },
};

export type FleetKind = keyof typeof KINDS;
export const FLEET_KINDS = Object.keys(KINDS) as FleetKind[];

/** Returns endpoints of all kinds in turn. */
export function fleetOf(count: number, kinds: readonly FleetKind[] = FLEET_KINDS): FleetEndpoint[] {
  return Array.from({ length: count }, (_, at) => {
    const kind = kinds[at % kinds.length] as FleetKind;
    const id = `e${at}${kind}`.padEnd(14, "0");
    return { id, name: `${kind} ${at}`, kind, ...KINDS[kind] };
  });
}

/** Returns an endpoint's seed for the emulator. */
export const seedOf = ({ isBalancer, kind: _, ...settings }: FleetEndpoint) => ({
  ...settings,
  templateId: "template",
  gpuIds: "ADA_24",
  type: isBalancer ? ("LB" as const) : ("QB" as const),
});

/** Returns an endpoint as it is in the state. */
export function wantedOf({ id, scalerType, ...settings }: FleetEndpoint): WantedEndpoint {
  const { workersMin, workersMax, scalerValue, idleTimeout } = settings;
  const isUsed = scalerType !== "REQUEST_COUNT";
  return { id, stack: "prod", settings: { workersMin, workersMax, scalerValue, ...(isUsed && { idleTimeout }) } };
}
