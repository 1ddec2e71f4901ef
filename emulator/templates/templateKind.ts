import { type Kind, type RecordControl, recordKind } from "../records/kind";
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
 * Reads and changes templates directly. Changes that affect workers reach them as after
 * `saveTemplate`.
 */
export interface TemplateControl extends RecordControl<TemplateSeed, TemplateFields, Readonly<TemplateRecord>> {}

export function templateKind(templates: Templates): Kind<TemplateSeed, TemplateFields, TemplateRecord> {
  return recordKind(templates, (record) => ({ ...record }), {
    seedSchema: templateSeedSchema,
    patchSchema: templatePatchSchema,
    snapshotSchema: templateRecordSchema,
  });
}
