import type { Kind } from "./held";
import type { Declared, ResourceClass } from "./stack";

export type Command = "up" | "up --refresh" | "refresh" | "preview" | "plan" | "destroy";

/** What goes wrong in one exchange of a run. */
export interface Disturbance {
  readonly kind: "lose" | "drop" | "kill" | "killProvider" | "interrupt" | "console";
  /** Number of the exchange, from 1, among the writes or among all requests. */
  readonly nth: number;
  readonly ofWrites: boolean;
  readonly isAfter: boolean;
}

/** What the service says during a run instead of the truth. */
export interface Lying {
  /** The name of a lie, or `old` and `cut`. */
  readonly lie: string;
  readonly at: "all" | "reads" | "writes";
  /** Only this many answers. */
  readonly most: number;
}

/** What a user does. A resource is told by its logical name. */
export type Edit =
  | { readonly do: "set"; readonly name: string; readonly field: string; readonly value: unknown }
  | { readonly do: "unset"; readonly name: string; readonly field: string }
  | { readonly do: "option"; readonly name: string; readonly option: string; readonly value: unknown }
  | { readonly do: "add"; readonly resource: Declared }
  | { readonly do: "remove"; readonly name: string }
  | { readonly do: "revert" }
  /** Declares a record that somebody else made. */
  | { readonly do: "take"; readonly resource: Declared; readonly by: "adoptId" | "import" }
  | { readonly do: "unadopt"; readonly name: string }
  | { readonly do: "rename"; readonly name: string; readonly to: string }
  | { readonly do: "console"; readonly name: string; readonly field: string; readonly value: unknown }
  | { readonly do: "nothing" };

export interface Step {
  /** The edits before the command. Resources are judged alone, so one run tests several. */
  readonly edits: readonly Edit[];
  readonly command: Command;
  readonly machine: "one" | "two";
  /** The logical name of the only target. */
  readonly target?: string | undefined;
  /** True if the preview is run, and not only calculated. */
  readonly isPreviewed: boolean;
  readonly disturbance?: Disturbance | undefined;
  readonly lying?: Lying | undefined;
}

export const KIND_OF: Readonly<Record<ResourceClass, Kind>> = {
  ServerlessEndpoint: "endpoint",
  ServerlessTemplate: "template",
  NetworkVolume: "volume",
  ContainerRegistryAuth: "auth",
  Secret: "secret",
};

/** Values that a field can have, by class. */
export const VALUES: Readonly<Record<ResourceClass, Readonly<Record<string, readonly unknown[]>>>> = {
  ServerlessEndpoint: {
    workersMax: [2, 3, 4, 5],
    workersMin: [0, 1],
    idleTimeout: [5, 20, 60],
    gpuIds: ["AMPERE_24", "ADA_24", "AMPERE_24,ADA_24"],
    executionTimeoutMs: [60_000, 300_000],
    imageName: ["me/app:1", "me/app:2", "me/app:3"],
    flashBootType: ["FLASHBOOT", "OFF"],
    locations: ["EU-RO-1", "EU-CZ-1,EU-RO-1"],
    env: [{ A: "1" }, { A: "2", B: "2" }, { B: "3" }, {}],
    containerDiskInGb: [20, 30],
    gpuCount: [1, 2],
  },
  ServerlessTemplate: {
    imageName: ["me/app:1", "me/app:2"],
    env: [{ A: "1" }, { A: "2", B: "2" }, {}],
    containerDiskInGb: [20, 40],
    dockerArgs: ["", "python run.py"],
  },
  NetworkVolume: { size: [10, 20, 30], dataCenterId: ["EU-RO-1", "US-KS-2"], highPerformance: [true, false] },
  ContainerRegistryAuth: { password: ["first-word", "second-word"] },
  Secret: { value: ["first-value", "second-value"], description: ["", "ours"] },
};

export const REQUIRED: Readonly<Record<ResourceClass, readonly string[]>> = {
  ServerlessEndpoint: ["gpuIds", "imageName"],
  ServerlessTemplate: ["imageName"],
  NetworkVolume: ["size", "dataCenterId"],
  ContainerRegistryAuth: ["password"],
  Secret: ["value"],
};

const BASE: Readonly<Record<ResourceClass, Readonly<Record<string, unknown>>>> = {
  ServerlessEndpoint: { gpuIds: "AMPERE_24", imageName: "me/app:1", drainTimeout: 10 },
  ServerlessTemplate: { imageName: "me/app:1" },
  NetworkVolume: { size: 10, dataCenterId: "EU-RO-1" },
  ContainerRegistryAuth: { username: "me", password: "first-word" },
  Secret: { value: "first-value" },
};

/** Returns a resource of a class with only what it needs. */
export function plain(is: ResourceClass, name: string): Declared {
  return { is, name, args: { name, ...BASE[is] } };
}
