import type { Attempt, CallContext } from "../transport/call";
import { makeCall } from "../transport/makeCall";
import type { NamesCall } from "./calls";
import { type Kind, type Listed, listOf, type NamedRecord } from "./listed";
import { SharedList } from "./sharedList";

/** Completes lists of one kind of record that may be cut off. */
export interface Completion {
  /** The list of the ids and names of all records. `undefined` if no API provides them. */
  readonly names: SharedList<Listed<NamedRecord>> | undefined;
  /**
   * `true` after the other API has rejected a request. From then on, no more requests are sent to
   * it.
   */
  isRefused: boolean;
  /** `true` once the warning that a list may be cut off was shown. It is shown once per kind. */
  hasWarned: boolean;
}

/** Creates the completion for the lists of one kind. */
export function createCompletion(
  context: CallContext,
  kind: Pick<Kind, "noun">,
  readNames: NamesCall | undefined,
): Completion {
  const operation = `${listOf(kind)}, over REST v2`;
  const names =
    readNames &&
    new SharedList(context.clock, (options, onSend) => {
      const attempt = (each: Attempt) => {
        onSend();
        return readNames(operation, each);
      };
      const call = { name: "listNames", operation, repeatability: "safe", attempt } as const;
      return makeCall(context, { ...options, ...call, gate: context.v2Gate });
    });
  return { names, isRefused: false, hasWarned: false };
}
