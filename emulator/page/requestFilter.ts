import type { KeptEntry } from "../server/journal";

/** Selects the requests that the page lists. */
export interface RequestFilter {
  /** Text to find in the operation, path, endpoint id, status or fault rule name. */
  readonly text?: string | undefined;
  readonly only?: "errors" | "faults" | undefined;
}

/** Returns the function that selects the requests. */
export function requestMatcher({ text, only }: RequestFilter): (entry: KeptEntry) => boolean {
  const wanted = (text ?? "").toLowerCase();
  const has = (value: string | number | undefined) => `${value ?? ""}`.toLowerCase().includes(wanted);
  return ({ operation, request, endpointId, status, fault, outcome }) => {
    if (only === "errors" && outcome !== "error" && outcome !== "cut") return false;
    if (only === "faults" && fault === undefined) return false;
    return wanted === "" || [operation, request.path, endpointId, status, fault].some(has);
  };
}
