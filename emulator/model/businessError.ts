import type { FidelityId } from "./fidelity";

/**
 * The error for a valid request that violates a rule of the service. GraphQL shows it with the code
 * `RUNPOD`.
 */
export class BusinessError extends Error {
  constructor(
    message: string,
    /** The rule's row in the fidelity table. */
    readonly fidelity: FidelityId,
    /**
     * `true` if the service does not explain the refusal. GraphQL then shows the code
     * `INTERNAL_SERVER_ERROR` and no message.
     */
    readonly isUnexplained = false,
  ) {
    super(message);
    this.name = "BusinessError";
  }
}
