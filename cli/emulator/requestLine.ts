import type { JournalEntry } from "../../emulator";

const GREEN = 32;
const YELLOW = 33;
const RED = 31;
const FAINT = 2;

/**
 * Formats a request as one line: time, status, API, operation, duration, and further details.
 * @param hasColors `true` if the output is a terminal
 */
export function requestLine(request: JournalEntry, hasColors: boolean): string {
  const { at, status, outcome, operation, durationMs = 0, endpointId, fault, error } = request;
  const colored = (code: number, text: string) => (hasColors ? `\u001b[${code}m${text}\u001b[0m` : text);
  const time = new Date(at).toISOString().slice(11, 23);
  const ended = outcome === "cut" ? "cut" : String(status);
  const more = [
    endpointId,
    ...(fault === undefined ? [] : [`fault: ${fault}`]),
    ...(error === undefined ? [] : [error.replaceAll(/\s+/g, " ")]),
  ].filter((part) => part !== undefined);
  return [
    colored(FAINT, time),
    colored(colorOf(request), ended.padEnd(3)),
    request.interface.padEnd(7),
    operation.padEnd(14),
    colored(FAINT, `${durationMs} ms`.padStart(8)),
    ...(more.length > 0 ? [` ${more.join("  ")}`] : []),
  ].join(" ");
}

function colorOf({ status = 500, outcome }: JournalEntry): number {
  if (outcome === "cut" || status >= 500) return RED;
  return outcome === "error" ? YELLOW : GREEN;
}
