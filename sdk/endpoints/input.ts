import { z } from "zod";
import type { FlashBootType, GpuTier, Location, OpenEnum, ScalerType } from "../contract/enums";
import {
  DATA_CENTER_ID,
  FLASH_BOOT_TYPES,
  GPU_TIERS,
  LOCATIONS,
  SAVE_ENDPOINT_DEFAULTS,
  SCALER_TYPES,
  UNSET_ENDPOINT_FIELDS,
} from "../contract/limits";
import { type InputProblem, InvalidInputError } from "../errors";
import { nearestWord } from "../nearestWord";
import { redact } from "../secret";
import { isGpuExclusion, normalizeGpuIds, normalizeLocations, normalizeName, splitList } from "./normalForms";

/**
 * What an endpoint is created with, or changed to. `null` sets the default. A field that is left out gets the default
 * when the endpoint is created, and keeps its value when it is changed.
 */
export interface EndpointInput {
  /** Name of the endpoint. Need not be unique at the service. */
  readonly name: string;
  /** One GPU tier, a list in priority order, or the service's comma list with exclusions (`AMPERE_24,-NVIDIA L4`). */
  readonly gpuIds: OpenEnum<GpuTier> | readonly OpenEnum<GpuTier>[];
  /** Id of the serverless template. */
  readonly templateId: string;
  /** Seconds before an idle worker shuts down. Whole number, 0 or more. Default 10. */
  readonly idleTimeout?: number | null;
  /** Countries or data centers, as a list or a comma list. Default, and `""`: any region. */
  readonly locations?: string | readonly OpenEnum<Location>[] | null;
  /** `FLASHBOOT` for faster cold starts. Default `OFF`: without. */
  readonly flashBootType?: FlashBootType | null;
  /** `QUEUE_DELAY` or `REQUEST_COUNT`. Default `QUEUE_DELAY`. */
  readonly scalerType?: ScalerType | null;
  /**
   * Target of the scaler, above 0: seconds of delay for `QUEUE_DELAY`, requests per worker for `REQUEST_COUNT`. A new
   * endpoint needs `scalerType` beside it. Default 4.
   */
  readonly scalerValue?: number | null;
  /** Workers that always run, and cost. At most `workersMax`. Default 0: scale to zero. */
  readonly workersMin?: number | null;
  /** Workers that may run at once. Default 3. */
  readonly workersMax?: number | null;
  /** Network volume to mount. Default, and `""`: none. */
  readonly networkVolumeId?: string | null;
}

/** An endpoint's settings in normal form: every field set, lists as comma lists, "nothing" as the empty text or `OFF`. */
export interface EndpointSettings {
  /** Name of the endpoint, without the suffix ` -fb` that the service may add. */
  readonly name: string;
  /** GPU tiers in priority order, then exclusions, as a comma list. */
  readonly gpuIds: string;
  /** Id of the serverless template. */
  readonly templateId: string;
  /** Seconds before an idle worker shuts down. */
  readonly idleTimeout: number;
  /** Countries and data centers as a sorted comma list; `""` for any region. */
  readonly locations: string;
  /** `FLASHBOOT` or `OFF`. */
  readonly flashBootType: OpenEnum<FlashBootType>;
  /** `QUEUE_DELAY` or `REQUEST_COUNT`. */
  readonly scalerType: OpenEnum<ScalerType>;
  /** Target of the scaler: seconds of delay for `QUEUE_DELAY`, requests per worker for `REQUEST_COUNT`. */
  readonly scalerValue: number;
  /** Workers that always run. */
  readonly workersMin: number;
  /** Workers that may run at once. */
  readonly workersMax: number;
  /** Network volume that the workers mount; `""` for none. */
  readonly networkVolumeId: string;
}

const REQUIRED_FIELDS = ["name", "gpuIds", "templateId"] as const;

/** What optional fields hold when nothing sets them, in normal form. */
export const ENDPOINT_DEFAULTS = { ...SAVE_ENDPOINT_DEFAULTS, ...UNSET_ENDPOINT_FIELDS } as const;

/** All fields of an endpoint that can be set. */
export const ENDPOINT_FIELDS = [...REQUIRED_FIELDS, ...Object.keys(ENDPOINT_DEFAULTS)] as (keyof EndpointInput)[];

/** Choices of the caller that widen what is allowed. */
export interface EndpointInputOptions {
  /** GPU tiers newer than the contract that are to be accepted. */
  readonly extraGpuTiers?: readonly string[];
  /** Countries newer than the contract that are to be accepted in `locations`. */
  readonly extraLocations?: readonly string[];
}

/** The fields that an endpoint must have and that are not there. */
export function missingFieldProblems(fields: Readonly<Record<string, unknown>>): InputProblem[] {
  const missing = REQUIRED_FIELDS.filter((property) => fields[property] === undefined);
  return missing.map((property) => ({ property, message: "is required" }));
}

/** Rules between fields. Fields that are not there count as the service's defaults when the endpoint is `new`. */
export function crossFieldProblems(fields: Readonly<Record<string, unknown>>, isNew: boolean): InputProblem[] {
  const problems = workerProblems(fields, isNew);
  if (fields.scalerValue !== undefined && fields.scalerType === undefined) {
    const message = `needs a scalerType beside it, because its unit depends on that (${SCALER_TYPES.join(" or ")})`;
    problems.push({ property: "scalerValue", message });
  }
  return problems;
}

function workerProblems(fields: Readonly<Record<string, unknown>>, isNew: boolean): InputProblem[] {
  const { workersMin, workersMax = isNew ? ENDPOINT_DEFAULTS.workersMax : undefined } = fields;
  if (typeof workersMin !== "number" || typeof workersMax !== "number" || workersMin <= workersMax) return [];
  const origin = fields.workersMax === undefined ? ", its default" : "";
  return [{ property: "workersMin", message: `is ${workersMin}, more than workersMax (${workersMax}${origin})` }];
}

/** Checks some or all fields and returns them in normal form; throws one error with every problem. */
export function parseEndpointFields<T extends Partial<EndpointInput>>(
  what: string,
  input: T,
  options: EndpointInputOptions & { readonly isNew: boolean },
): Pick<EndpointSettings, keyof T & keyof EndpointSettings> {
  const { fields, problems } = checkEndpointFields(input, options);
  // A field with a problem of its own is there, so it is not also reported as missing.
  const given = { ...input, ...fields };
  if (options.isNew) problems.push(...missingFieldProblems(given), ...crossFieldProblems(given, true));
  // An endpoint that exists has a scalerType, so a change may hold a scalerValue alone.
  else problems.push(...workerProblems(given, false));
  if (problems.length > 0) throw new InvalidInputError(what, problems);
  return fields as Pick<EndpointSettings, keyof T & keyof EndpointSettings>;
}

/** Each field that is there, in normal form, and every problem. A field with a problem is left out of the result. */
export function checkEndpointFields(
  input: Readonly<Record<string, unknown>>,
  options: EndpointInputOptions = {},
): { fields: Partial<EndpointSettings>; problems: InputProblem[] } {
  const schemas: Record<string, z.ZodType> = schemasFor(options.extraGpuTiers ?? [], options.extraLocations ?? []);
  const fields: Record<string, unknown> = {};
  const problems: InputProblem[] = [];
  for (const [property, value] of Object.entries(input)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(schemas, property)) {
      problems.push({ property, message: `there is no such property. ${nearest(property, Object.keys(schemas))}` });
      continue;
    }
    const result = schemas[property]?.safeParse(value);
    if (!result?.success) {
      const messages = new Set(result?.error.issues.map(({ message }) => message));
      problems.push(...[...messages].map((message) => ({ property, message })));
    } else if (typeof result.data === "string" && HALF_CHARACTER.test(result.data)) {
      problems.push({ property, message: "must be Unicode text, which half a surrogate pair is not" });
    } else fields[property] = result.data;
  }
  return { fields: fields as Partial<EndpointSettings>, problems };
}

/** A surrogate without its other half: neither JSON nor GraphQL carries it unchanged. */
const HALF_CHARACTER = /\p{Surrogate}/u;

type FieldSchemas = { readonly [K in keyof EndpointSettings]: z.ZodType<EndpointSettings[K]> };

const knownSchemas = new Map<string, FieldSchemas>();

/** Made once for each choice of tiers and countries: to make them takes many times as long as to use them. */
function schemasFor(extraGpuTiers: readonly string[], extraLocations: readonly string[]): FieldSchemas {
  const choice = JSON.stringify([extraGpuTiers, extraLocations]);
  const schemas = knownSchemas.get(choice) ?? fieldSchemas(extraGpuTiers, extraLocations);
  knownSchemas.set(choice, schemas);
  return schemas;
}

function fieldSchemas(extraGpuTiers: readonly string[], extraLocations: readonly string[]): FieldSchemas {
  return {
    name: text("a name", normalizeName),
    gpuIds: list("a GPU tier, a list of tiers or a comma list")
      .superRefine((value, context) => {
        for (const message of gpuIdProblems(value, extraGpuTiers)) context.addIssue({ code: "custom", message });
      })
      .transform(normalizeGpuIds),
    templateId: text("the id of a template", (id) => id.trim()),
    idleTimeout: wholeNumber("whole seconds, 0 or more").nullable().transform(orDefault("idleTimeout")),
    locations: list("a country, a list of countries or a comma list")
      .nullable()
      .superRefine((value, context) => {
        for (const message of locationProblems(value ?? "", extraLocations))
          context.addIssue({ code: "custom", message });
      })
      .transform(normalizeLocations),
    flashBootType: oneOf(FLASH_BOOT_TYPES).nullable().transform(orDefault("flashBootType")),
    scalerType: oneOf(SCALER_TYPES).nullable().transform(orDefault("scalerType")),
    scalerValue: z
      .number(must("a number above 0"))
      .positive(must("a number above 0"))
      .nullable()
      .transform(orDefault("scalerValue")),
    workersMin: wholeNumber("a whole number of workers, 0 or more").nullable().transform(orDefault("workersMin")),
    workersMax: wholeNumber("a whole number of workers, 0 or more").nullable().transform(orDefault("workersMax")),
    networkVolumeId: z
      .string(must("the id of a network volume, or null for none"))
      .nullable()
      .transform((id) => id?.trim() ?? ""),
  };
}

function gpuIdProblems(value: string | string[], extraGpuTiers: readonly string[]): string[] {
  const known = [...Object.keys(GPU_TIERS), ...extraGpuTiers];
  const parts = splitList(value);
  const tiers = parts.filter((part) => !isGpuExclusion(part));
  if (parts.includes("-")) return ['"-" excludes nothing: a GPU type follows the minus, as in "-NVIDIA L4"'];
  if (tiers.length === 0) return [`name at least one GPU tier: ${known.join(", ")}`];
  return tiers
    .filter((tier) => !known.includes(tier))
    .map(
      (tier) =>
        `${describe(tier)} is not a known GPU tier. ${nearest(tier, known)} A tier newer than this list is accepted ` +
        "once it is named in serverless-gpu:extraGpuTiers",
    );
}

function locationProblems(value: string | string[], extraLocations: readonly string[]): string[] {
  const known = [...LOCATIONS, ...extraLocations];
  return splitList(value)
    .filter((part) => !known.includes(part) && !DATA_CENTER_ID.test(part))
    .map(
      (part) =>
        `${describe(part)} is neither a known country nor the id of a data center (such as EU-RO-1). ${nearest(part, known)} ` +
        "A country newer than this list is accepted once it is named in serverless-gpu:extraLocations",
    );
}

function text(what: string, normalize: (value: string) => string) {
  const message = must(`${what}, not empty`);
  return z
    .string(message)
    .transform(normalize)
    .refine((value) => value.trim() !== "", message);
}

function list(what: string) {
  return z.union([z.string(), z.array(z.string())], {
    error: ({ input }) => {
      const position = Array.isArray(input) ? input.findIndex((element) => typeof element !== "string") : -1;
      if (!Array.isArray(input) || position < 0) return must(what).error({ input });
      const element = input[position] ?? null;
      return `must be ${what}; element [${position}] of the list is ${element === null ? "null" : describe(element)}, not a string`;
    },
  });
}

function wholeNumber(what: string) {
  return z
    .number(must(what))
    .int(must(what))
    .min(0, must(what))
    .max(2 ** 31 - 1, must(what));
}

function oneOf<const T extends readonly [string, ...string[]]>(words: T) {
  return z.enum(words, {
    error: ({ input }) =>
      typeof input === "string"
        ? `${describe(input)} is not known. ${nearest(input, words)}`
        : `must be ${words.join(" or ")}`,
  });
}

function orDefault<K extends keyof typeof ENDPOINT_DEFAULTS>(field: K) {
  return <T>(value: T | null): T | (typeof ENDPOINT_DEFAULTS)[K] => value ?? ENDPOINT_DEFAULTS[field];
}

function must(what: string) {
  return { error: ({ input }: { input?: unknown }) => `must be ${what}; it is ${describe(input)}` };
}

function describe(value: unknown): string {
  if (typeof value === "string") {
    // Redacted before it is cut: half a key would not be recognised.
    const shown = redact(value);
    return JSON.stringify(shown.length > 40 ? `${shown.slice(0, 40)}…` : shown);
  }
  if (value === null || value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" || typeof value === "function" ? "an object" : String(value);
}

/** The nearest of the allowed words, when it is near, and all of them. */
function nearest(word: string, allowed: readonly string[]): string {
  const match = nearestWord(word, allowed);
  return `${match === undefined ? "" : `Did you mean ${match}? `}Allowed: ${allowed.join(", ")}.`;
}
