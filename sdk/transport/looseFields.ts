import * as z from "zod";

// Fields of responses that help people, and are not part of any contract: everything but an id is
// optional, and a value of another type counts as missing.

const loose = <T>(schema: z.ZodType<T>) =>
  schema
    .nullish()
    .catch(undefined)
    .transform((value) => value ?? undefined);

const numeric = z
  .string()
  .regex(/^\d+(\.\d+)?$/)
  .transform(Number);

/** A text; `undefined` for anything else. */
export const text = loose(z.string());

/** A number, or a numeric string; `undefined` for anything else. */
export const number = loose(z.union([z.number(), numeric]));

/** `true` or `false`; `undefined` for anything else. */
export const flag = loose(z.boolean());

/** A list of texts; `undefined` for anything else. */
export const texts = loose(z.array(z.string()));

/** An object with these fields; `undefined` for anything else. */
export const part = <T extends z.ZodRawShape>(shape: T) => loose(z.looseObject(shape));

export const id = z.string().min(1);
