import { RECORD_TYPES } from "../../provider/engine/resourceTypes";
import type { ServedKind } from "../../provider/handlers";
import type { FieldTable } from "../../sdk/records/fields";

const HANDLERS = require("../../provider/handlers") as typeof import("../../provider/handlers");

/** The kinds of all resources that manage records, by class. */
export const KINDS: Readonly<Record<string, ServedKind["kind"]>> = Object.fromEntries(
  Object.entries(RECORD_TYPES).map(([name, type]) => [name, HANDLERS[type.handlers].kind]),
);

/** Their tables of fields, by class. */
export const TABLES: Readonly<Record<string, FieldTable>> = Object.fromEntries(
  Object.entries(KINDS).map(([name, { table }]) => [name, table]),
);
