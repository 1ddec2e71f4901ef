import * as z from "zod";
import { LIST_CAP, type ServiceName } from "../contract/limits";
import { readAliases, readMyself, remove, save } from "../records/graphqlCalls";
import { createKeptFields } from "../records/keptFields";
import { readRecords } from "../records/listed";
import { decode } from "../transport/decode";
import type { GraphqlTransport, Literal } from "../transport/graphql";
import type { Attempt, CallContext } from "../transport/retryingCall";
import type { EndpointCalls } from "./calls";
import { keptFieldsAt } from "./fields";
import { changeInput, readSecrets, refuseOtherSources } from "./keptFields";
import { discountSchema, ENDPOINT, endpointSchema, endpointSelection, toCreateInput } from "./wireFormat";

/**
 * Returns the requests over GraphQL. `saveEndpoint` resets what is left out, so all settings are
 * sent.
 * @param service the named service, which decides the fields that endpoints have and how they are
 * written
 */
export function graphqlEndpointCalls(
  { warn }: CallContext,
  transport: GraphqlTransport,
  service: ServiceName | undefined,
): EndpointCalls {
  const kept = createKeptFields(keptFieldsAt(service), "endpoints", warn);
  const selection = () => `${endpointSelection(service)} ${kept.selection()}`.trimEnd();
  const send = (operation: string, inputOf: () => Literal, attempt: Attempt) =>
    kept.send(() => {
      const mutation = { name: "saveEndpoint", input: inputOf(), selection: selection() };
      return save(transport, operation, mutation, endpointSchema, attempt);
    });
  return {
    names: { list: "myself", create: "saveEndpoint", change: "saveEndpoint", delete: "deleteEndpoint" },
    async list(operation, attempt) {
      const read = () => readMyself(transport, operation, `endpoints { ${selection()} }`, attempt);
      const myself = await kept.send(read);
      return readRecords(ENDPOINT, myself, "endpoints", LIST_CAP);
    },
    readByIds: (operation, ids, attempt) =>
      kept.send(() => {
        const field = { name: "endpoint", selection: selection(), of: "myself" } as const;
        return readAliases(transport, ENDPOINT, operation, field, ids, attempt);
      }),
    create: (operation, settings, attempt) => send(operation, () => toCreateInput(settings, service), attempt),
    async change(operation, before, settings, attempt) {
      refuseOtherSources(before);
      const whole = { ...before, kept: { ...before.kept, ...(await readSecrets(transport, kept, before, attempt)) } };
      return send(operation, () => changeInput(kept, whole, settings, service), attempt);
    },
    delete: (operation, { id }, attempt) => remove(transport, operation, "deleteEndpoint", { id }, attempt),
    async discount(operation, attempt) {
      const fields = "serverlessDiscount { discountFactor type expirationDate }";
      const myself = await readMyself(transport, operation, fields, attempt);
      return decode(z.looseObject({ serverlessDiscount: discountSchema.nullable() }), myself, operation)
        .serverlessDiscount;
    },
  };
}
