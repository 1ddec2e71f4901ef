import * as z from "zod";
import { CONTAINER_FIELDS } from "../containers/fields";
import { LIST_CAP, type ServiceName } from "../contract/limits";
import type { BoundTemplate, EndpointCalls } from "../endpoints/calls";
import { ENDPOINT_FIELDS, FIELDS, keptFieldsAt } from "../endpoints/fields";
import { refuseLacked } from "../endpoints/interfaceLimits";
import { splitChanges } from "../endpoints/ownContainer";
import type { Endpoint, EndpointSettings } from "../endpoints/record";
import { BusinessRuleError } from "../errors/errors";
import type { ReadByIds } from "../records/calls";
import { countOperations } from "../records/concurrentOperations";
import { decodeRecords, type Kind } from "../records/listed";
import { gatheredReads } from "../records/singleReads";
import type { Attempt, CallContext } from "../transport/call";
import { decode } from "../transport/decode";
import { saveContainer, withBoundTemplate } from "./boundTemplate";
import { changeInput, refuseOtherSources } from "./endpointChanges";
import { discountSchema, endpointSelection, readableEndpoint, type SaveInput, toCreateInput } from "./endpointFormat";
import { BrokenFieldError } from "./errors";
import { createKeptFields, type KeptFields } from "./keptFields";
import {
  byAliases,
  readAliases,
  readMyself,
  readMyselfAndTemplates,
  readOneByOne,
  sendDeletion,
  sendSave,
} from "./requests";
import type { GraphqlTransport } from "./transport";
import { completeWithVariables, readVariables } from "./variables";
import { graphqlReleaseCalls } from "./workers";

/**
 * Returns the requests over GraphQL. All settings are sent, because `saveEndpoint` resets omitted
 * fields.
 * @param service the named service, which determines which fields endpoints have and how they are
 * written
 * @param boundTemplates reads templates if the service binds them to endpoints
 */
export function graphqlEndpointCalls(
  context: CallContext,
  transport: GraphqlTransport,
  service: ServiceName | undefined,
  boundTemplates?: ReadByIds<BoundTemplate>,
): EndpointCalls {
  const kept = createKeptFields(keptFieldsAt(service), "endpoints", context.warn);
  const readable = readableEndpoint(service);
  const selection = () => `${endpointSelection(service, kept.isAbsent)} ${kept.selection()}`.trimEnd();
  const saving =
    (operation: string, set: Partial<EndpointSettings>, inputOf: () => SaveInput, attempt: Attempt) => () => {
      refuseAbsent(kept, set);
      const input = Object.entries(inputOf()).filter(([field]) => !kept.isAbsent(field));
      const mutation = { name: "saveEndpoint", input: Object.fromEntries(input), selection: selection() };
      return sendSave(transport, operation, mutation, readable.schema, attempt);
    };
  const operations = countOperations(context.clock);
  const names = { list: "podTemplate" };
  const readTemplate = boundTemplates && gatheredReads(context, BOUND, { names, byIds: boundTemplates }, operations);
  let asksAboutTemplates = service === "runpod" && boundTemplates !== undefined;
  const completed = completeWithVariables(
    context,
    { list: "myself", operations },
    {
      areRepeatedBy(before, changes) {
        const { container, others } = splitChanges(changes);
        const isSaved = !container || !hasSettings(before, others);
        return isSaved && kept.secretSelection() !== "";
      },
      byIds: {
        ...byAliases((operation, ids, attempt) => readVariables(transport, kept, operation, ids, attempt)),
        isRequired: true,
      },
    },
  );
  return {
    ...graphqlReleaseCalls(transport),
    operations,
    names: { list: "myself", create: "saveEndpoint", change: "saveEndpoint", delete: "deleteEndpoint" },
    async list(operation, attempt, templateIds) {
      const read = () => {
        const endpoints = `endpoints { ${selection()} }`;
        const ids = asksAboutTemplates ? [...(templateIds ?? [])] : [];
        return readMyselfAndTemplates(transport, operation, endpoints, ids, attempt, () => {
          asksAboutTemplates = false;
        });
      };
      try {
        const { myself, absent } = await kept.send(read);
        // Don't copy the list, because its records are decoded only when they are needed.
        return Object.assign(decodeRecords(readable, myself, "endpoints", LIST_CAP), { absent });
      } catch (error) {
        if (!(error instanceof BrokenFieldError)) throw error;
        const single = { name: "endpoint", selection: selection(), of: "myself" } as const;
        return readOneByOne(transport, readable, operation, { list: "endpoints", single }, error, attempt);
      }
    },
    byIds: byAliases((operation, ids, attempt) =>
      kept.send(() => {
        const field = { name: "endpoint", selection: selection(), of: "myself" } as const;
        return readAliases(transport, readable, operation, field, ids, attempt);
      }),
    ),
    create(operation, settings, attempt) {
      if (settings.imageName && kept.isAbsent("template")) throw lacksTemplates(settings.name);
      return kept.send(saving(operation, settings, () => toCreateInput(settings, service), attempt));
    },
    hiddenIn: ({ template }) => (template ? [] : CONTAINER_FIELDS),
    resets: (before, changes) => resetBySave(before, changes, kept),
    ...(service === "runpod" && readTemplate && { readTemplate }),
    async change(operation, before, changes, attempt) {
      refuseOtherSources(before);
      const { container, others: settings } = splitChanges(changes);
      if (container) {
        refuseLacked("the endpoint", container, CONTAINER_FIELDS, { api: "graphql", service });
        const saved = await saveContainer(operation, before, container, attempt);
        // The container has been saved, so save the endpoint only if other settings change.
        if (hasSettings(before, settings)) return saved;
      }
      const inputOf = () => changeInput(kept, before, settings, service);
      return kept.send(saving(operation, { ...settings, name: before.name }, inputOf, attempt));
    },
    async complete(before, changes, options) {
      const whole = await completed(before, changes, options);
      return readTemplate ? withBoundTemplate(readTemplate, whole, changes, options) : whole;
    },
    changeWithout: (fields) => async (operation, before, changes, attempt) => {
      refuseOtherSources(before);
      const leftOut = Object.fromEntries(fields.map((field) => [field, undefined]));
      const inputOf = () => ({ ...changeInput(kept, before, changes, service), ...leftOut });
      return kept.send(saving(operation, changes, inputOf, attempt));
    },
    // An endpoint written by REST v2 has a copy of its template. Saving the endpoint links it to
    // the template again.
    async applyTemplate(operation, before, templateId, attempt) {
      refuseOtherSources(before);
      return kept.send(saving(operation, {}, () => changeInput(kept, before, { templateId }, service), attempt));
    },
    delete: (operation, { id }, attempt) => sendDeletion(transport, operation, "deleteEndpoint", { id }, attempt),
    async discount(operation, attempt) {
      const fields = "serverlessDiscount { discountFactor type expirationDate }";
      const myself = await readMyself(transport, operation, fields, attempt);
      return decode(z.looseObject({ serverlessDiscount: discountSchema.nullable() }), myself, operation)
        .serverlessDiscount;
    },
  };
}

/** A template that may belong to an endpoint. */
const BOUND: Kind = { noun: "template", one: "a template" };

/** The fields that `saveEndpoint` resets or requires, besides those that identify the processor. */
const SAVED_FIELDS = ["idleTimeout", "scalerValue", "workersMax", "workersMin", "gpuCount", "templateId"];

/**
 * Returns the settings that a save would reset because the endpoint, as it was read, lacks them.
 */
function resetBySave(before: Endpoint, changes: object, fields: KeptFields): string[] {
  const { unshown = [], kept = {}, template } = before;
  const isChanged = (field: string) => Object.hasOwn(changes, field);
  const { container, others } = splitChanges(changes);
  const isEnvLacking = container?.env !== undefined && unshown.includes("env");
  const ofContainer = container ? [...(template ? [] : ["template"]), ...(isEnvLacking ? ["env"] : [])] : [];
  // Then only the template is saved.
  if (container && Object.keys(others).length === 0) return ofContainer;
  const lacked = SAVED_FIELDS.filter((field) => unshown.includes(field) && !isChanged(field));
  const hasProcessor = !["gpuIds", "instanceIds"].every((field) => unshown.includes(field) && !isChanged(field));
  const isTargetKnown = kept.workersPFBTarget !== undefined || !fields.selection().includes("workersPFBTarget");
  return [
    ...ofContainer,
    ...lacked,
    ...(hasProcessor ? [] : ["gpuIds"]),
    ...(isTargetKnown ? [] : ["workersPFBTarget"]),
  ];
}

function hasSettings(endpoint: Endpoint, settings: Partial<EndpointSettings>): boolean {
  return Object.entries(settings).every(([field, value]) => endpoint[field as keyof EndpointSettings] === value);
}

/**
 * Checks that a save does not lose a setting because the service has rejected its field.
 * @throws BusinessRuleError if it would
 */
function refuseAbsent(kept: KeptFields, settings: Partial<EndpointSettings>): void {
  const isSet = (field: keyof EndpointSettings) => ![undefined, FIELDS[field].default].includes(settings[field]);
  const lost = ENDPOINT_FIELDS.find((field) => kept.isAbsent(field) && isSet(field));
  if (lost === undefined) return;
  throw new BusinessRuleError(
    `endpoint "${settings.name ?? ""}" was not saved: the service does not know the field ${lost}. Remove it`,
  );
}

function lacksTemplates(name: string): BusinessRuleError {
  return new BusinessRuleError(
    `endpoint "${name}" was not created: the service does not show the templates of endpoints, so its image could not be ` +
      "read again. Set templateId, or use REST v2 (SERVERLESS_GPU_API=v2)",
  );
}
