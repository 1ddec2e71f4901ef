import { BusinessError } from "../model/businessError";
import type { TemplateFields } from "./templateFields";

/** The largest number of environment variables. */
const MAX_VARIABLES = 50;

/**
 * Checks the rules that depend on a single template.
 * @throws BusinessError if a field violates a rule
 */
export function assertTemplateAllowed(fields: TemplateFields, current: TemplateFields | undefined): void {
  if (fields.name.trim() === "") throw new BusinessError("Template name must not be empty", "template.ranges");
  if (fields.imageName.trim() === "") throw new BusinessError("Template imageName is required", "template.ranges");
  if (fields.containerDiskInGb < 0 || fields.volumeInGb < 0) {
    throw new BusinessError("containerDiskInGb and volumeInGb must not be negative", "template.ranges");
  }
  if (fields.isServerless && fields.volumeInGb !== 0) {
    throw new BusinessError("volumeInGb must be 0 for a serverless template", "template.serverless-volume");
  }
  if (current && fields.isServerless !== current.isServerless) {
    throw new BusinessError("isServerless of a template cannot be changed", "template.serverless-fixed");
  }
  if (fields.env.length > MAX_VARIABLES) {
    throw new BusinessError(
      `A template has at most ${MAX_VARIABLES} environment variables, not ${fields.env.length}`,
      "template.env-limit",
    );
  }
}
