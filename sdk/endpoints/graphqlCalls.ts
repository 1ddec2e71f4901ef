import * as z from "zod";
import { LIST_CAP, type ServiceName } from "../contract/limits";
import { readAliases, readMyself, remove, save } from "../records/graphqlCalls";
import { readRecords } from "../records/listed";
import { decode } from "../transport/decode";
import type { GraphqlTransport } from "../transport/graphql";
import type { Attempt } from "../transport/retryingCall";
import type { EndpointCalls } from "./endpointCalls";
import { ENDPOINT } from "./listRecords";
import type { EndpointSettings } from "./record";
import { discountSchema, endpointSchema, endpointSelection, toSaveInput } from "./wireFormat";

/**
 * Returns the requests over GraphQL. `saveEndpoint` resets what is left out, so all settings are sent.
 * @param service the named service, which decides the fields that endpoints have and how they are written
 */
export function graphqlEndpointCalls(transport: GraphqlTransport, service: ServiceName | undefined): EndpointCalls {
  const selection = endpointSelection(service);
  const send = (operation: string, settings: Partial<EndpointSettings>, id: string | undefined, attempt: Attempt) => {
    const input = { id, ...toSaveInput(settings, service) };
    return save(transport, operation, { name: "saveEndpoint", input, selection }, endpointSchema, attempt);
  };
  return {
    names: { list: "myself", create: "saveEndpoint", change: "saveEndpoint", delete: "deleteEndpoint" },
    async list(operation, attempt) {
      const myself = await readMyself(transport, operation, `endpoints { ${selection} }`, attempt);
      return readRecords(ENDPOINT, myself, "endpoints", LIST_CAP);
    },
    readByIds: (operation, ids, attempt) =>
      readAliases(transport, ENDPOINT, operation, { name: "endpoint", selection, of: "myself" }, ids, attempt),
    create: (operation, settings, attempt) => send(operation, settings, undefined, attempt),
    change: (operation, before, settings, attempt) => send(operation, { ...before, ...settings }, before.id, attempt),
    delete: (operation, { id }, attempt) => remove(transport, operation, "deleteEndpoint", { id }, attempt),
    async discount(operation, attempt) {
      const fields = "serverlessDiscount { discountFactor type expirationDate }";
      const myself = await readMyself(transport, operation, fields, attempt);
      return decode(z.looseObject({ serverlessDiscount: discountSchema.nullable() }), myself, operation)
        .serverlessDiscount;
    },
  };
}
