import { RECORD_TYPES } from "../../provider/engine/resourceTypes";
import type { FieldTable } from "../../sdk/records/fields";

const HANDLERS = require("../../provider/handlers") as typeof import("../../provider/handlers");

/** The tables of fields of all resources that manage records, by class. */
export const TABLES: Readonly<Record<string, FieldTable>> = Object.fromEntries(
  Object.entries(RECORD_TYPES).map(([name, type]) => [name, HANDLERS[type.handlers].kind.table]),
);
