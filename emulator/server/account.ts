import { z } from "zod";
import { createEndpoints, type EndpointSnapshot, type Endpoints } from "../endpoints/endpoints";
import { endpointSnapshotSchema } from "../endpoints/snapshotSchema";
import { validate } from "../io/validate";
import { type EndpointSeed, endpointSeedSchema } from "../model/endpointFields";
import { type Pod, type PodSeed, podSeedSchema } from "../pods/podRecord";
import { createPods, type Pods } from "../pods/pods";
import type { RuntimeContext } from "../workers/context";

/** The initial contents of an account. */
export interface Seed {
  /** Endpoints, which must follow the rules of the service. @default none */
  readonly endpoints?: readonly EndpointSeed[];
  /** Pods that the REST interface shows in addition to workers. @default none */
  readonly pods?: readonly PodSeed[];
  /** Ids of the templates that exist. @default every template exists */
  readonly templates?: readonly string[];
}

/** The account of the emulator. */
export interface Account {
  readonly endpoints: Endpoints;
  readonly pods: Pods;
  /**
   * Adds the contents of a seed.
   * @throws TypeError if it is malformed, RangeError if a rule of the service forbids it
   */
  seed(seed: Seed): void;
  snapshot(): AccountSnapshot;
  /**
   * Restores the result of `snapshot`, read from a file.
   * @throws TypeError if it is malformed
   */
  restore(snapshot: unknown): void;
  /** Stops and deletes everything. */
  clear(): void;
}

interface AccountSnapshot {
  readonly version: 1;
  readonly endpoints: readonly EndpointSnapshot[];
  readonly pods: readonly Pod[];
  readonly templates: readonly string[];
}

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

  function seedEndpoint(seed: EndpointSeed) {
    try {
      endpoints.create(seed, seed.id ?? undefined);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new RangeError(`The seed's endpoint "${seed.name}" cannot be created: ${reason}`, { cause });
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
