import type { FidelityId } from "./fidelity";

/** A valid request that a rule of the service forbids. GraphQL shows it with the code `RUNPOD`. */
export class BusinessError extends Error {
  constructor(
    message: string,
    /** The row of the fidelity table for the rule. */
    readonly fidelity: FidelityId,
    /**
     * `true` if the service does not give the reason: GraphQL shows the code
     * `INTERNAL_SERVER_ERROR` and no message.
     */
    readonly isUnexplained = false,
  ) {
    super(message);
    this.name = "BusinessError";
  }
}
