import * as z from "zod";
import { RejectedError } from "../errors/errors";
import type { Kept, KeptTable } from "../records/fields";
import type { CallContext } from "../transport/call";
import { EnumValue, type Literal } from "./transport";

/** Returns the schema of a record, which puts the record's kept fields in the property `kept`. */
export function withKept<T>(schema: z.ZodType<Record<string, unknown>>, table: KeptTable): z.ZodType<T> {
  const isKept = (field: string) => Object.hasOwn(table, field);
  const isOwn = (field: string) => !isKept(field) || table[field]?.isSetting;
  // The schema normalizes settings, so the kept fields must be copied before it is applied.
  const withCopy = (response: unknown) => {
    if (typeof response !== "object" || response === null) return response;
    const kept = Object.entries(response).filter(([field, value]) => isKept(field) && value != null);
    return { ...response, kept: Object.fromEntries(kept) };
  };
  return z.preprocess(withCopy, schema).transform((record) => {
    const own = Object.entries(record).filter(([field]) => isOwn(field));
    return Object.fromEntries(own) as T;
  });
}

/** The kept fields, in the form in which a client selects and sends them. */
export interface KeptFields {
  /** Returns the selection of all kept fields that are not secret. */
  readonly selection: () => string;
  /** Returns the selection of all kept fields that are secret, or `""` if there are none. */
  readonly secretSelection: () => string;
  /** Returns kept fields as the input of a save. */
  readonly input: (kept: Kept | undefined) => Record<string, Literal | undefined>;
  /**
   * Sends a request. If the service rejects it because of a field that the service may not support,
   * sends the request again without that field.
   */
  readonly send: <T>(request: () => Promise<T>) => Promise<T>;
  /** Returns `true` if the service has rejected the field. */
  readonly isAbsent: (field: string) => boolean;
}

/**
 * Creates the kept fields of one client, which remember which fields the service does not support.
 * @param warn called once for each of these fields
 */
export function createKeptFields(table: KeptTable, noun: string, warn: CallContext["warn"]): KeptFields {
  const absent = new Set<string>();
  const present = () => Object.entries(table).filter(([field]) => !absent.has(field));
  const select = (isSecret: boolean) =>
    present()
      .filter(([, field]) => !field.isSetting && (field.isSecret ?? false) === isSecret)
      .map(([field, { selection = field }]) => selection)
      .join(" ");
  /**
   * Leaves out the fields that the service rejected. Returns `true` if the request is worth
   * repeating.
   */
  function leaveOut(error: unknown): boolean {
    const refused = error instanceof RejectedError ? (error.refusedFields ?? []) : [];
    const isRefused = (field: string) => refused.some((name) => name === field || table[field]?.parts?.includes(name));
    const fields = Object.keys(table).filter((field) => table[field]?.isUncertain && isRefused(field));
    for (const field of fields) {
      if (absent.has(field)) continue;
      absent.add(field);
      warn?.(
        `the service does not know the field ${field} of ${noun}, so changes no longer send it. If you use this setting, ` +
          "check after the next change that the service has kept it, and update this package",
      );
    }
    return fields.length > 0;
  }
  return {
    isAbsent: (field) => absent.has(field),
    selection: () => select(false),
    secretSelection: () => select(true),
    input(kept = {}) {
      const settable = present().filter(([field, { isReadOnly }]) => !isReadOnly && kept[field] !== undefined);
      return Object.fromEntries(
        settable.map(([field, { isGraphqlEnum }]) => {
          const value = kept[field] as Literal;
          return [field, isGraphqlEnum && value !== undefined ? asEnum(value) : value];
        }),
      );
    },
    async send(request) {
      // The rejection may name a field that another request has just left out, so limit the number
      // of repetitions.
      for (let left = Object.keys(table).length; ; left--) {
        try {
          return await request();
        } catch (error) {
          if (left === 0 || !leaveOut(error)) throw error;
        }
      }
    },
  };
}

function asEnum(value: Literal): Literal {
  if (Array.isArray(value)) return value.map(asEnum);
  return typeof value === "string" ? new EnumValue(value) : value;
}
