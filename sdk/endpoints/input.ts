import * as z from "zod";
import { DATA_CENTER_ID, GPU_TIERS, LOCATIONS, SCALER_TYPES } from "../contract/limits";
import { type InputProblem, InvalidInputError } from "../errors";
import { checkFields, describe, type FieldSchemas, fieldSchemas, missingFields, must, nearest } from "../records/input";
import { ENDPOINT_DEFAULTS, FIELDS } from "./fields";
import { isGpuExclusion, splitList } from "./normalForms";
import type { EndpointInput, EndpointSettings } from "./record";

/** Values that a caller accepts in addition to the contract's. */
export interface EndpointInputOptions {
  /** Additional GPU tiers, such as those newer than the contract. */
  readonly extraGpuTiers?: readonly string[];
  /** Additional countries, such as those newer than the contract. */
  readonly extraLocations?: readonly string[];
  /** `true` if the service accepts only whole numbers as `scalerValue`. @default false */
  readonly wholeScalerValue?: boolean;
}

/** Returns a problem for each required field that is absent. */
export function missingFieldProblems(fields: Readonly<Record<string, unknown>>): InputProblem[] {
  return missingFields(FIELDS, fields);
}

/**
 * Returns the problems between fields. If the endpoint `isNew`, an absent field counts as its
 * default.
 */
export function crossFieldProblems(fields: Readonly<Record<string, unknown>>, isNew: boolean): InputProblem[] {
  const problems = workerProblems(fields, isNew);
  if (fields.scalerValue !== undefined && fields.scalerType === undefined) {
    const message = `requires scalerType, which determines its unit (${SCALER_TYPES.join(" or ")})`;
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

/**
 * Checks some or all fields and returns them in normal form.
 * @throws InvalidInputError that lists every problem
 */
export function parseEndpointFields<T extends Partial<EndpointInput>>(
  what: string,
  input: T,
  options: EndpointInputOptions & { readonly isNew: boolean },
): Pick<EndpointSettings, keyof T & keyof EndpointSettings> {
  const { fields, problems } = checkEndpointFields(input, options);
  // A field that has a problem is present, so it is not reported as missing, too.
  const given = { ...input, ...fields };
  if (options.isNew) problems.push(...missingFieldProblems(given), ...crossFieldProblems(given, true));
  // An existing endpoint has a scalerType, so a change may contain only a scalerValue.
  else problems.push(...workerProblems(given, false));
  if (problems.length > 0) throw new InvalidInputError(what, problems);
  return fields as Pick<EndpointSettings, keyof T & keyof EndpointSettings>;
}

/** Returns each valid field in normal form, and the problems of the others. */
export function checkEndpointFields(
  input: Readonly<Record<string, unknown>>,
  options: EndpointInputOptions = {},
): { fields: Partial<EndpointSettings>; problems: InputProblem[] } {
  const { fields, problems } = checkFields(schemasFor(options), input);
  const { scalerValue } = fields;
  if (options.wholeScalerValue && typeof scalerValue === "number" && !Number.isInteger(scalerValue)) {
    problems.push({ property: "scalerValue", message: `must be a whole number at this service; it is ${scalerValue}` });
  }
  return { fields: fields as Partial<EndpointSettings>, problems };
}

const knownSchemas = new Map<string, FieldSchemas>();

/**
 * Returns the schemas, built once for each choice of tiers and countries: building is many times
 * slower than using.
 */
function schemasFor({ extraGpuTiers = [], extraLocations = [] }: EndpointInputOptions): FieldSchemas {
  const choice = JSON.stringify([extraGpuTiers, extraLocations]);
  const known = knownSchemas.get(choice);
  if (known) return known;
  const schemas = fieldSchemas(FIELDS, {
    gpuIds: ({ mustBe, normalize = (same) => same }) =>
      list(mustBe, (value) => gpuIdProblems(value, extraGpuTiers)).transform(normalize),
    locations: ({ mustBe, normalize = (same) => same }) =>
      list(mustBe, (value) => locationProblems(value, extraLocations)).transform(normalize),
  });
  knownSchemas.set(choice, schemas);
  return schemas;
}

function gpuIdProblems(value: string | string[], extraGpuTiers: readonly string[]): string[] {
  const known = [...GPU_TIERS, ...extraGpuTiers];
  const parts = splitList(value);
  const tiers = parts.filter((part) => !isGpuExclusion(part));
  if (parts.includes("-")) return ['"-" excludes nothing: write the GPU type after the minus, as in "-NVIDIA L4"'];
  if (tiers.length === 0) return [`must contain at least one GPU tier: ${known.join(", ")}`];
  return tiers
    .filter((tier) => !known.includes(tier))
    .map(
      (tier) =>
        `${describe(tier)} is not a known GPU tier. ${nearest(tier, known)} To accept another tier, ` +
        "add it to serverless-gpu:extraGpuTiers",
    );
}

function locationProblems(value: string | string[], extraLocations: readonly string[]): string[] {
  const known = [...LOCATIONS, ...extraLocations];
  return splitList(value)
    .filter((part) => !known.includes(part) && !DATA_CENTER_ID.test(part))
    .map(
      (part) =>
        `${describe(part)} is neither a known country nor the id of a data center (such as EU-RO-1). ${nearest(part, known)} ` +
        "To accept another country, add it to serverless-gpu:extraLocations",
    );
}

/** Returns the schema of a string or a list of strings for which `problemsOf` finds no problem. */
function list(what: string, problemsOf: (value: string | string[]) => string[]) {
  const schema = z.union([z.string(), z.array(z.string())], {
    error: ({ input }) => {
      const position = Array.isArray(input) ? input.findIndex((element) => typeof element !== "string") : -1;
      if (!Array.isArray(input) || position < 0) return must(what).error({ input });
      const element = input[position] ?? null;
      return `must be ${what}; element [${position}] of the list is ${element === null ? "null" : describe(element)}, not a string`;
    },
  });
  return schema.superRefine((value, context) => {
    for (const message of problemsOf(value)) context.addIssue({ code: "custom", message });
  });
}
