import type { RecordCalls } from "../records/collection";
import type { Attempt } from "../transport/retryingCall";
import type { Endpoint, EndpointSettings, ServerlessDiscount } from "./record";

/**
 * The requests for endpoints, each of which sends one request, once. What only some interfaces of the service need or have
 * is optional.
 */
export interface EndpointCalls extends RecordCalls<Endpoint, Partial<EndpointSettings>, { readonly id: string }> {
  /** Reads the account's discount. @default the interface shows none */
  readonly discount?: (operation: string, attempt: Attempt) => Promise<ServerlessDiscount | null>;
  /** Reads what a create or a change with these settings needs, before it is sent. @default nothing */
  readonly prepare?: (settings: Partial<EndpointSettings>) => Promise<void>;
  /** Reads the pods of an endpoint. @default those that the list shows */
  readonly pods?: (operation: string, id: string, attempt: Attempt) => Promise<Endpoint["pods"]>;
  /** Gives an endpoint the present version of a template. @default the service does that by itself */
  readonly applyTemplate?: (
    operation: string,
    endpoint: Endpoint,
    templateId: string,
    attempt: Attempt,
  ) => Promise<Endpoint>;
}
