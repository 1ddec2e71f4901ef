import { messageOf } from "../../provider/engine/errors";
import type { Failed } from "./endpointReads";
import { codeOf } from "./read";

/** Failed reads of endpoints, which are reported together. */
interface Failures {
  readonly failed: Failed;
  /**
   * Reports the reads that have failed since the last call, in one line for each error code.
   * @param known an error code that is not reported again. @default none
   */
  report(read: "queue" | "workers", known?: string): void;
}

/** Collects failed reads, because an outage fails those of all endpoints. */
export function createFailures(say: (message: string) => void): Failures {
  const noted = { queue: new Map<string, Failure>(), workers: new Map<string, Failure>() };
  return {
    failed: (read, id) => (error) => {
      const code = codeOf(error);
      const { count, first } = noted[read].get(code) ?? { count: 0, first: { id, error } };
      noted[read].set(code, { count: count + 1, first });
    },
    report(read, known) {
      for (const [code, { count, first }] of noted[read]) {
        if (code === known) continue;
        const what = read === "queue" ? ["queue", "queues"] : ["workers", "workers"];
        const endpoints =
          count === 1
            ? `the ${what[0]} of endpoint ${first.id}`
            : `the ${what[1]} of ${count} endpoints, such as ${first.id},`;
        say(`${endpoints} could not be read: ${messageOf(first.error)}`);
      }
      noted[read].clear();
    },
  };
}

interface Failure {
  readonly count: number;
  readonly first: { readonly id: string; readonly error: unknown };
}
