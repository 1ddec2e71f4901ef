import * as z from "zod";
import { CONTAINER_TYPES, ENV_OF_CHANGE } from "../containers/input";
import { FLASH_BOOT_NAME_SUFFIX, SCALER_TYPES } from "../contract/limits";
import { type InputProblem, InvalidInputError } from "../errors/errors";
import type { AnyField } from "../records/fields";
import { checkFields, describe, type FieldSchemas, fieldSchemas, missingFields, must } from "../records/input";
import { ENDPOINT_DEFAULTS, FIELDS } from "./fields";
import { volumeProblems, withBothForms } from "./networkVolumes";
import { compareVersions, splitList } from "./normalForms";
import { containerProblems } from "./ownContainer";
import { type AcceptedPlaces, gpuIdProblems, locationProblems } from "./places";
import type { EndpointChanges, EndpointSettings } from "./record";

/** The values that a caller and its service accept in addition to the contract's. */
export interface EndpointInputOptions extends AcceptedPlaces {
  /**
   * `true` if the service accepts only whole numbers as `scalerValue`.
   * @default false
   */
  readonly wholeScalerValue?: boolean;
  /**
   * `false` for a change to an existing endpoint, in which `null` removes a variable.
   * @default true
   */
  readonly isNew?: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns a problem for each required field that is missing. */
export function missingFieldProblems(fields: Fields): InputProblem[] {
  return [...missingFields(FIELDS, fields), ...processorProblems(fields), ...containerProblems(fields)];
}

/**
 * Returns problems with combinations of fields. If the endpoint `isNew`, fields that are missing
 * count as their defaults.
 */
export function crossFieldProblems(fields: Fields, isNew: boolean): InputProblem[] {
  const problems = [
    ...workerProblems(fields, isNew),
    ...volumeProblems(fields),
    ...cudaProblems(fields),
    ...typeProblems(fields, isNew),
  ];
  for (const [property, field] of Object.entries(FIELDS)) {
    const value = fields[property];
    if (value === undefined || value === field.default || !field.lackedBy?.(fields)) continue;
    problems.push({ property, message: "cannot be set for an endpoint on CPUs (instanceIds): remove it" });
  }
  if (fields.scalerValue !== undefined && fields.scalerType === undefined) {
    const message = `requires scalerType, which determines its unit (${SCALER_TYPES.join(" or ")})`;
    problems.push({ property: "scalerValue", message });
  }
  return problems;
}

/**
 * Returns problems with combinations of fields in a change. A change may contain a scalerValue
 * without a scalerType, because an existing endpoint already has a scalerType.
 */
function changeProblems(fields: Fields): InputProblem[] {
  const problems = [...workerProblems(fields, false), ...volumeProblems(fields), ...cudaProblems(fields)];
  if (fields.templateId === "" && !fields.imageName) {
    problems.push({
      property: "templateId",
      message: "must be the id of a template, unless imageName is set",
    });
  }
  return problems;
}

/** Returns a problem if the endpoint has neither GPUs nor CPUs, or has both. */
export function processorProblems({ gpuIds = "", instanceIds = "" }: Fields): InputProblem[] {
  if (gpuIds !== "" && instanceIds !== "") {
    return [{ property: "instanceIds", message: "cannot be combined with gpuIds: remove one of them" }];
  }
  if (gpuIds !== "" || instanceIds !== "") return [];
  return [{ property: "gpuIds", message: "is required (or instanceIds, for an endpoint on CPUs)" }];
}

function cudaProblems({ allowedCudaVersions, minCudaVersion }: Fields): InputProblem[] {
  if (typeof allowedCudaVersions !== "string" || typeof minCudaVersion !== "string") return [];
  const allowed = splitList(allowedCudaVersions);
  const isPossible = allowed.some((version) => compareVersions(version, minCudaVersion) >= 0);
  if (allowed.length === 0 || minCudaVersion === "" || isPossible) return [];
  const message = `is ${minCudaVersion}, higher than all allowedCudaVersions (${allowed.join(", ")}), so no worker could start`;
  return [{ property: "minCudaVersion", message }];
}

function typeProblems({ type, scalerType }: Fields, isNew: boolean): InputProblem[] {
  const scaler = scalerType ?? (isNew ? ENDPOINT_DEFAULTS.scalerType : undefined);
  if (type !== "LOAD_BALANCER" || scaler !== "QUEUE_DELAY") return [];
  return [{ property: "scalerType", message: "must be REQUEST_COUNT for an endpoint of the type LOAD_BALANCER" }];
}

export function workerProblems(fields: Fields, isNew: boolean): InputProblem[] {
  const { workersMin, workersMax = isNew ? ENDPOINT_DEFAULTS.workersMax : undefined } = fields;
  if (typeof workersMin !== "number" || typeof workersMax !== "number" || workersMin <= workersMax) return [];
  const origin = fields.workersMax === undefined ? ", its default" : "";
  return [{ property: "workersMin", message: `is ${workersMin}, more than workersMax (${workersMax}${origin})` }];
}

/**
 * Checks all or some of an endpoint's fields, and returns them in normal form.
 * @throws InvalidInputError that lists all problems
 */
export function parseEndpointFields<T extends EndpointChanges>(
  what: string,
  input: T,
  options: EndpointInputOptions & { readonly isNew: boolean },
): Pick<EndpointSettings, keyof T & keyof EndpointSettings> {
  const values: Fields = Object.fromEntries(Object.entries(input));
  const { fields, problems } = checkEndpointFields(values, options);
  // A field with a problem is not missing, so don't report it as missing as well.
  const given: Fields = { ...values, ...fields };
  if (options.isNew) problems.push(...missingFieldProblems(given), ...crossFieldProblems(given, true));
  else problems.push(...changeProblems(given));
  if (problems.length > 0) throw new InvalidInputError(what, problems);
  return withBothForms(fields) as Pick<EndpointSettings, keyof T & keyof EndpointSettings>;
}

/** Returns the valid fields in normal form, and the problems with all other fields. */
export function checkEndpointFields(
  input: Readonly<Record<string, unknown>>,
  options: EndpointInputOptions = {},
): { fields: Partial<EndpointSettings>; problems: InputProblem[] } {
  const { fields, problems } = checkFields(schemasFor(options), input);
  const { scalerValue } = fields;
  if (options.wholeScalerValue && typeof scalerValue === "number" && !Number.isInteger(scalerValue)) {
    const message = `must be a whole number over GraphQL at this service; it is ${scalerValue}. REST v2 also accepts fractions (SERVERLESS_GPU_API=v2)`;
    problems.push({ property: "scalerValue", message });
  }
  if (typeof input.name === "string" && input.name.endsWith(FLASH_BOOT_NAME_SUFFIX) && fields.name !== undefined) {
    const message = `must not end with "${FLASH_BOOT_NAME_SUFFIX}", which once turned FlashBoot on: remove it, and set flashBootType to FLASHBOOT`;
    problems.push({ property: "name", message });
    delete fields.name;
  }
  return { fields: fields as Partial<EndpointSettings>, problems };
}

const knownSchemas = new Map<string, FieldSchemas>();

/**
 * Returns the schemas. They are built only once for each combination of pools and countries,
 * because building them takes many times longer than using them.
 */
function schemasFor(options: EndpointInputOptions): FieldSchemas {
  const { acceptWords = [], countries = [], isNew = true } = options;
  const choice = JSON.stringify([acceptWords, countries, isNew]);
  const known = knownSchemas.get(choice);
  if (known) return known;
  const built = fieldSchemas(FIELDS, {
    ...CONTAINER_TYPES,
    gpuIds: ({ mustBe, normalize = (same) => same }) =>
      list(mustBe, (value) => gpuIdProblems(value, options)).transform(normalize),
    locations: ({ mustBe, normalize = (same) => same }) =>
      list(mustBe, (value) => locationProblems(value, options)).transform(normalize),
    set: setSchema,
    instances: setSchema,
  });
  const schemas = isNew ? built : { ...built, env: ENV_OF_CHANGE };
  knownSchemas.set(choice, schemas);
  return schemas;
}

function setSchema({ mustBe, pattern = /./, normalize = (same) => same }: AnyField): z.ZodType {
  const problemsOf = (value: string | string[]) =>
    splitList(value)
      .filter((part) => !pattern.test(part))
      .map((part) => `must be ${mustBe}; it contains ${describe(part)}`);
  return list(mustBe, problemsOf).transform(normalize);
}

/**
 * Returns a schema that accepts a string or a list of strings if `problemsOf` finds no problems in
 * it.
 */
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
