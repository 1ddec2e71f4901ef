import * as z from "zod";

// Response fields that are useful to people but are not part of any contract. Everything except ids
// is optional, and a value of an unexpected type counts as missing.

const loose = <T>(schema: z.ZodType<T>) =>
  schema
    .nullish()
    .catch(undefined)
    .transform((value) => value ?? undefined);

const numeric = z
  .string()
  .regex(/^\d+(\.\d+)?$/)
  .transform(Number);

/** A string, or `undefined` for anything else. */
export const looseText = loose(z.string());

/** A number or a numeric string, or `undefined` for anything else. */
export const looseNumber = loose(z.union([z.number(), numeric]));

/** `true` or `false`, or `undefined` for anything else. */
export const looseFlag = loose(z.boolean());

/** A list of strings, or `undefined` for anything else. */
export const looseTexts = loose(z.array(z.string()));

/** An object with these fields, or `undefined` for anything else. */
export const loosePart = <T extends z.ZodRawShape>(shape: T) => loose(z.looseObject(shape));

export const id = z.string().min(1);

/** An amount of money, which must be there. It may be negative, such as a refund. */
export const money = z.union([
  z.number(),
  z
    .string()
    .regex(/^-?\d+(\.\d+)?$/)
    .transform(Number),
]);

/** A UTC timestamp with or without its time zone, in milliseconds since 1970. */
export const utcTime = z
  .string()
  .transform((text) => Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text.replace(" ", "T")}Z`))
  .refine((time) => !Number.isNaN(time), "is not a time");
