import { CONTAINER_TABLE } from "../containers/fields";
import { defaultsOf, type FieldTable, type TableOf, workerFields } from "../records/fields";
import type { TemplateInput, TemplateSettings } from "./record";

// Programs load this file when they start, so it imports no library.

const TABLE: TableOf<TemplateInput, TemplateSettings, "text" | "id" | "whole number" | "env" | "ports"> = {
  name: { type: "text", mustBe: "a name, not empty", isInEveryRecord: true, v2: "name" },
  ...CONTAINER_TABLE,
  readme: { type: "text", mustBe: "a description", default: "", v2: null },
};

/** All fields of a template that can be set, for code that treats all fields alike. */
export const TEMPLATE_FIELDS: FieldTable = TABLE;

/** The default of each optional field, in normal form. */
export const TEMPLATE_DEFAULTS = defaultsOf(TEMPLATE_FIELDS) as Omit<TemplateSettings, "name" | "imageName">;

/** The fields whose change needs new workers. The others are for people. */
export const WORKER_FIELDS = workerFields(TEMPLATE_FIELDS) as readonly (keyof TemplateSettings)[];
