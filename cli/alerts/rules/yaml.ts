import { stringify } from "yaml";

/**
 * Returns data as YAML. Strings are double-quoted, so that none of them is read as another type.
 */
export function toYaml(data: unknown): string {
  return stringify(data, {
    aliasDuplicateObjects: false,
    defaultStringType: "QUOTE_DOUBLE",
    defaultKeyType: "PLAIN",
    lineWidth: 0,
  });
}
