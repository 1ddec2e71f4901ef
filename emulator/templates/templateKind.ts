import { controlOf, type Kind, type RecordControl } from "../records/kind";
import {
  type TemplateFields,
  type TemplateRecord,
  type TemplateSeed,
  templatePatchSchema,
  templateRecordSchema,
  templateSeedSchema,
} from "./templateFields";
import type { Templates } from "./templates";

/**
 * Reads and changes templates directly. A change to what workers run reaches them as after
 * `saveTemplate`.
 */
export interface TemplateControl extends RecordControl<TemplateSeed, TemplateFields, Readonly<TemplateRecord>> {}

export function templateKind(templates: Templates): Kind<TemplateSeed, TemplateFields, TemplateRecord> {
  return {
    noun: "template",
    seedSchema: templateSeedSchema,
    patchSchema: templatePatchSchema,
    snapshotSchema: templateRecordSchema,
    control: controlOf(templates, (record) => ({ ...record })),
    snapshot: templates.snapshot,
    restore: (saved) => templates.restore(saved as TemplateRecord[]),
    clear: templates.clear,
  };
}
