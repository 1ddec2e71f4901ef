import { z } from "zod";
import type { EndpointInput } from "../endpoints/endpointRules";
import { createEndpoints, type EndpointSnapshot, type Endpoints, withDefaults } from "../endpoints/endpoints";
import { endpointSnapshotSchema } from "../endpoints/snapshotSchema";
import { validate } from "../io/validate";
import type { Pod, PodSeed } from "../pods/podRecord";
import { createPods, type Pods } from "../pods/pods";
import type { RuntimeContext } from "../workers/context";

/** An endpoint to create: the input of `saveEndpoint`, where `id` is the id that it gets. */
export interface EndpointSeed
  extends Partial<Omit<EndpointInput, RequiredField>>,
    Readonly<Pick<EndpointInput, RequiredField>> {}

type RequiredField = "name" | "gpuIds" | "templateId";

/** What an account holds from the start. */
export interface Seed {
  /** The endpoints, made by the service's rules and with its defaults. */
  readonly endpoints?: readonly EndpointSeed[];
  /** The pods that the REST interface knows beside those of workers. */
  readonly pods?: readonly PodSeed[];
  /** Ids of the templates that exist; with none, every template does. */
  readonly templates?: readonly string[];
}

/** The account whose key clients send: the emulator has one. */
export interface Account {
  readonly endpoints: Endpoints;
  readonly pods: Pods;
  /** Adds what a seed holds. Throws when it is not well formed, or when one of the service's rules forbids it. */
  seed(seed: Seed): void;
  snapshot(): AccountSnapshot;
  /** Takes back what `snapshot` gave, which may have gone through a file. */
  restore(snapshot: unknown): void;
  /** Stops and forgets everything. */
  clear(): void;
}

interface AccountSnapshot {
  readonly version: 1;
  readonly endpoints: readonly EndpointSnapshot[];
  readonly pods: readonly Pod[];
  readonly templates: readonly string[];
}

/** What can be set of an endpoint, for input that was not checked by the compiler. */
const endpointFields = {
  name: z.string(),
  gpuIds: z.string(),
  templateId: z.string(),
  idleTimeout: z.number().optional(),
  scalerValue: z.number().optional(),
  workersMin: z.int().optional(),
  workersMax: z.int().optional(),
  locations: z.string().nullish(),
  scalerType: z.string().nullish(),
  flashBootType: z.enum(["FLASHBOOT", "OFF"]).nullish(),
  networkVolumeId: z.string().nullish(),
};

export const endpointSeedSchema = z.strictObject({ id: z.string().min(1).optional(), ...endpointFields });
export const endpointPatchSchema = z.strictObject(endpointFields).partial();
export const podSeedSchema = z.looseObject({
  id: z.string(),
  name: z.string().optional(),
  ports: z.array(z.string()).optional(),
  costPerHr: z.number().optional(),
});
const seedSchema = z.strictObject({
  endpoints: z.array(endpointSeedSchema).optional(),
  pods: z.array(podSeedSchema).optional(),
  templates: z.array(z.string().min(1)).optional(),
});
const snapshotSchema = z.looseObject({
  version: z.literal(1),
  endpoints: z.array(endpointSnapshotSchema),
  pods: z.array(podSeedSchema),
  templates: z.array(z.string()),
});

export function createAccount(context: RuntimeContext, workerQuota: number | undefined): Account {
  const templates = new Set<string>();
  const endpoints = createEndpoints({ context, templates, workerQuota });
  const pods = createPods(context.changed);

  function seedEndpoint({ id, ...input }: EndpointSeed) {
    try {
      endpoints.create(withDefaults(input), id ?? undefined);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new RangeError(`The seed's endpoint "${input.name}" cannot be created: ${reason}`, { cause });
    }
  }

  return {
    endpoints,
    pods,
    seed(seed) {
      validate(seedSchema, seed, "The seed");
      const { endpoints: newEndpoints = [], pods: newPods = [], templates: newTemplates = [] } = seed;
      for (const template of newTemplates) templates.add(template);
      for (const endpoint of newEndpoints) seedEndpoint(endpoint);
      for (const pod of newPods) pods.add(pod);
      context.changed();
    },
    snapshot: () => ({ version: 1, endpoints: endpoints.snapshot(), pods: pods.list(), templates: [...templates] }),
    restore(snapshot) {
      const saved = validate(snapshotSchema, snapshot, "The saved state") as unknown as AccountSnapshot;
      for (const template of saved.templates) templates.add(template);
      for (const pod of saved.pods) pods.add(pod);
      endpoints.restore(saved.endpoints);
    },
    clear() {
      endpoints.clear();
      pods.clear();
      templates.clear();
      context.changed();
    },
  };
}
