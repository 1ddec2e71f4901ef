import { z } from "zod";
import { type AccountLimits, type AccountUse, accountUse } from "../catalog/accountLimits";
import type { Endpoints } from "../endpoints/endpoints";
import { messageOf } from "../io/messageOf";
import { validate } from "../io/validate";
import type { EndpointSeed } from "../model/endpointFields";
import { type PodSeed, podSeedSchema } from "../pods/podRecord";
import type { Pods } from "../pods/pods";
import type { Kind } from "../records/kind";
import type { RegistryAuthSeed } from "../registryAuths/registryAuthFields";
import type { RegistryAuths } from "../registryAuths/registryAuths";
import type { SecretSeed } from "../secrets/secretFields";
import type { Secrets } from "../secrets/secrets";
import type { SeededTemplate, TemplateSeed } from "../templates/templateFields";
import type { Templates } from "../templates/templates";
import type { VolumeSeed } from "../volumes/volumeFields";
import type { Volumes } from "../volumes/volumes";
import { EXAMPLE_IMAGE } from "../workers/container";
import { type AccountContext, type AccountOptions, createKinds, type Kinds } from "./kinds";
import type { StrictKind } from "./references";

/** The initial contents of an account. They must follow the service's rules. */
export interface Seed {
  /** Endpoints. @default none */
  readonly endpoints?: readonly EndpointSeed[];
  /** Pods that the REST API shows in addition to workers. @default none */
  readonly pods?: readonly PodSeed[];
  /**
   * Templates. A string is the id of a template with an example image. If the seed contains any, no
   * other template exists.
   * @default every template exists
   */
  readonly templates?: readonly (string | SeededTemplate)[];
  /**
   * Network volumes. If the seed contains any, no other volume exists. @default every volume exists
   */
  readonly volumes?: readonly VolumeSeed[];
  /**
   * Registry credentials. If the seed contains any, no other credential exists.
   * @default every credential exists
   */
  readonly registryAuths?: readonly RegistryAuthSeed[];
  /** Secrets that variables may refer to. @default none */
  readonly secrets?: readonly SecretSeed[];
}

/** The account of the emulator. */
export interface Account {
  readonly endpoints: Endpoints;
  readonly pods: Pods;
  readonly volumes: Volumes;
  readonly templates: Templates;
  readonly registryAuths: RegistryAuths;
  readonly secrets: Secrets;
  readonly kinds: Kinds;
  /**
   * Sets limits; `undefined` removes a limit. Endpoints above a lower limit keep their workers.
   * @throws RangeError if a limit is not a number ≥ 0
   */
  setLimits(limits: Partial<AccountLimits>): void;
  /** Returns how much of its limits the account uses. */
  use(): AccountUse;
  /**
   * Adds the contents of a seed.
   * @throws TypeError if it is malformed
   * @throws RangeError if it violates a rule of the service
   */
  seed(seed: Seed): void;
  /** Returns the state to save as plain JSON. */
  snapshot(): Readonly<Record<string, unknown>>;
  /**
   * Restores the state returned by `snapshot`, as read from a file.
   * @throws TypeError if it is malformed
   */
  restore(snapshot: unknown): void;
  /** Stops and deletes everything. */
  clear(): void;
}

type AnyKind = Kind<{ readonly id?: string | null; readonly name?: string | null }, never, unknown>;

const STRICT_KINDS: readonly StrictKind[] = ["registryAuths", "templates", "volumes"];

/** @param isStrict `true` if references to records that do not exist are always rejected */
export function createAccount(context: AccountContext, options: AccountOptions, isStrict: boolean): Account {
  const strict = new Set<StrictKind>(isStrict ? STRICT_KINDS : []);
  const limits: AccountLimits = { ...options.limits };
  const { kinds, endpoints, pods, registryAuths, secrets, templates, volumes } = createKinds(
    context,
    options,
    strict,
    limits,
  );
  const entries = Object.entries(kinds) as unknown as [keyof Kinds, AnyKind][];
  const { seedSchema, snapshotSchema } = schemasOf(kinds, entries);

  return {
    endpoints,
    pods,
    setLimits(changed) {
      assertLimit("quota", changed.workerQuota);
      assertLimit("spend limit", changed.spendLimit);
      Object.assign(limits, changed);
      endpoints.reconcile();
    },
    use: () => accountUse(endpoints, limits),
    volumes,
    templates,
    registryAuths,
    secrets,
    kinds,
    seed(given) {
      const seed = validate(seedSchema, given, "The seed");
      for (const kind of STRICT_KINDS) if (seed[kind]?.length) strict.add(kind);
      const known = (seed.templates ?? []).filter((it) => typeof it !== "string" || !templates.find(it));
      const seeds = { ...seed, templates: known.map(templateSeedOf) };
      for (const [name, kind] of entries) for (const it of seeds[name] ?? []) createFromSeed(kind, it);
      for (const pod of seed.pods ?? []) pods.add(pod);
      context.changed();
    },
    snapshot: () => ({
      version: 2,
      strict: [...strict],
      pods: pods.list(),
      ...mapEntries(entries, (kind) => kind.snapshot()),
    }),
    restore(snapshot) {
      const saved = validate(snapshotSchema, snapshot, "The saved state") as Record<string, unknown[]>;
      for (const kind of (saved.strict ?? []) as StrictKind[]) strict.add(kind);
      for (const pod of (saved.pods ?? []) as PodSeed[]) pods.add(pod);
      for (const [name, kind] of entries) kind.restore(saved[name] ?? []);
    },
    clear() {
      for (const [, kind] of entries.toReversed()) kind.clear();
      pods.clear();
      if (!isStrict) strict.clear();
      Object.assign(limits, options.limits);
      context.changed();
    },
  };
}

function assertLimit(name: string, limit: number | undefined): void {
  if (limit !== undefined && !(limit >= 0)) throw new RangeError(`The ${name} ${limit} is not a number of 0 or more.`);
}

/** Returns the schemas of a seed and of a snapshot. */
function schemasOf({ templates }: Kinds, entries: [keyof Kinds, AnyKind][]) {
  const seedSchema = z.strictObject({
    pods: z.array(podSeedSchema).optional(),
    ...mapEntries(entries, ({ seedSchema }) => z.array(seedSchema).optional()),
    templates: z.array(stringOr(templates.seedSchema)).optional(),
  }) as z.ZodType as z.ZodType<Seed>;
  const snapshotSchema = z.looseObject({
    version: z.literal(2),
    strict: z.array(z.enum(STRICT_KINDS)),
    pods: z.array(podSeedSchema),
    ...mapEntries(entries, ({ snapshotSchema }) => z.array(snapshotSchema)),
  });
  return { seedSchema, snapshotSchema };
}

/**
 * Returns a schema that also accepts a string. Unlike a union's errors, its errors name the field.
 */
function stringOr<T>(schema: z.ZodType<T>): z.ZodType<T | string> {
  return z.unknown().transform((value, context) => {
    const { success, data, error } = (typeof value === "string" ? z.string().min(1) : schema).safeParse(value);
    if (success) return data;
    for (const issue of error.issues) context.issues.push({ ...issue, input: value } as z.core.$ZodRawIssue);
    return z.NEVER;
  }) as z.ZodType<T | string>;
}

function createFromSeed({ noun, control }: AnyKind, seed: Parameters<AnyKind["control"]["create"]>[0]) {
  try {
    control.create(seed);
  } catch (cause) {
    const reason = messageOf(cause);
    throw new RangeError(`The seed's ${noun} "${seed.name ?? seed.id}" cannot be created: ${reason}`, { cause });
  }
}

function templateSeedOf(seed: string | SeededTemplate): TemplateSeed {
  // Validation has converted the variables to a list.
  if (typeof seed !== "string") return seed as TemplateSeed;
  return { id: seed, name: seed, imageName: EXAMPLE_IMAGE };
}

function mapEntries<T>(entries: [string, AnyKind][], map: (kind: AnyKind) => T): Record<string, T> {
  return Object.fromEntries(entries.map(([name, kind]) => [name, map(kind)]));
}
