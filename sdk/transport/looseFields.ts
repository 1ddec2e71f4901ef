import * as z from "zod";

// Fields of responses that help people, and are not part of any contract: everything but an id is
// optional, and a value of another type counts as missing.

/** A text; `undefined` for anything else. */
export const text = z
  .string()
  .nullish()
  .catch(undefined)
  .transform((value) => value ?? undefined);

/** A number, or a numeric string; `undefined` for anything else. */
export const number = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\d+(\.\d+)?$/)
      .transform(Number),
  ])
  .nullish()
  .catch(undefined)
  .transform((value) => value ?? undefined);

/** `true` or `false`; `undefined` for anything else. */
export const flag = z
  .boolean()
  .nullish()
  .catch(undefined)
  .transform((value) => value ?? undefined);

/** A list of texts; `undefined` for anything else. */
export const texts = z
  .array(z.string())
  .nullish()
  .catch(undefined)
  .transform((value) => value ?? undefined);

export const id = z.string().min(1);
