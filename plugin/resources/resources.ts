import { ENDPOINT_KIND } from "../../provider/endpoint/endpointKind";
import {
  idleWorkersWarning,
  keysInPlainText,
  movingTagWarning,
  plainKeysNote,
} from "../../provider/engine/inputWarnings";
import { isObject, objectOrEmpty, type Properties, pick } from "../../provider/engine/properties";
import { RECORD_TYPES, SMOKE_TEST } from "../../provider/engine/resourceTypes";
import { startCommand, TWO_COMMANDS, WRONG_COMMAND } from "../../provider/fields/startCommand";
import * as HANDLERS from "../../provider/handlers";
import { SECRET_KIND } from "../../provider/kinds/secretKind";
import { TEMPLATE_KIND } from "../../provider/kinds/templateKind";
import { changedByUpdate } from "../../provider/records/recordHandlers";
import { looksLikeCredential } from "../../sdk/containers/fields";
import { unusedVolumeField } from "../../sdk/endpoints/networkVolumes";
import { defaultsOf } from "../../sdk/records/fields";
import { REGISTRY_AUTH } from "../../sdk/registryAuths/registryAuth";
import { SECRET } from "../../sdk/secrets/secret";
import { WORKER_FIELDS } from "../../sdk/templates/template";
import { adoptionPreviewOf } from "./adoption";
import { withoutDefaults } from "./importDefaults";
import type { PluginResource, Prepared } from "./resource";

/** What the plugin adds to some kinds of records, by the name of the resource. */
const ADDITIONS: Readonly<Record<string, Partial<PluginResource>>> = {
  ServerlessEndpoint: {
    prepare: withStartCommand,
    warnings({ workersMin, imageName, schedule }, secrets) {
      const tag = tagWarnings(imageName);
      if (typeof workersMin !== "number" || workersMin < 1 || schedule !== undefined) return tag;
      return [...tag, idleWorkersWarning(secrets.includes("workersMin") ? undefined : workersMin)];
    },
    notes: keyNotes,
    secretInputs: credentialsIn,
    timeouts: {
      create: ["awaitReadyTimeout"],
      update: ["awaitReadyTimeout", "drainTimeout"],
      delete: ["drainTimeout"],
    },
    importedInputs(inputs) {
      const { table } = ENDPOINT_KIND;
      const { [unusedVolumeField(inputs)]: _, ...one } = withoutDefaults(defaultsOf(table), inputs);
      const { scalerType, scalerValue, ...others } = pick(one, (name) => one[name] !== table[name]?.unset);
      // The unit of `scalerValue` depends on `scalerType`, so a program that sets one must set
      // both.
      const scaler = scalerType !== undefined || scalerValue !== undefined;
      return { ...others, ...(scaler && { scalerType: inputs.scalerType, scalerValue: inputs.scalerValue }) };
    },
  },
  ServerlessTemplate: {
    prepare: withStartCommand,
    warnings: ({ imageName }) => tagWarnings(imageName),
    notes: keyNotes,
    secretInputs: credentialsIn,
    changedOutputs(situation) {
      const changed = changedByUpdate(TEMPLATE_KIND, situation);
      return WORKER_FIELDS.some((field) => changed.includes(field)) ? ["revision"] : [];
    },
  },
  ContainerRegistryAuth: {
    cannotBeImported:
      `${REGISTRY_AUTH.one} cannot be imported or read, because the service does not show its user and password. Declare ` +
      "the resource with adoptId, username and password. To read its id and name, use getContainerRegistryAuth",
  },
  Secret: {
    cannotBeImported:
      `${SECRET.one} cannot be imported or read, because the service does not show its value. Declare the resource with ` +
      "adoptId, and with value or valueEnv",
    changedOutputs(situation) {
      const changed = changedByUpdate(SECRET_KIND, situation);
      return changed.includes("value") ? ["version", "valueLastUpdatedAt"] : [];
    },
  },
};

const SMOKE: PluginResource = {
  dynamic: SMOKE_TEST,
  handlers: HANDLERS.smokeTestV1,
  table: {},
  secretInputs: () => ["s3Config.accessSecret"],
  // The handlers redact every string in the input anyway.
  namesSecret: (name) => /^(expectedOutput|policy)\b/.test(name),
  timeouts: { create: ["timeout"], update: ["timeout"] },
  changedOutputs: () => SMOKE_TEST.outputs,
};

/** A resource for each kind of records. */
const OF_RECORDS = Object.entries(RECORD_TYPES).map(([name, dynamic]): PluginResource => {
  // biome-ignore lint/performance/noDynamicNamespaceImportAccess: every export is used.
  const { kind, ...handlers } = HANDLERS[dynamic.handlers];
  return {
    dynamic,
    handlers,
    table: kind.table,
    hasUniqueNames: kind.hasUniqueNames === true,
    previewAdoption: adoptionPreviewOf(kind),
    secretInputs: () => ("secrets" in dynamic && dynamic.secrets) || [],
    timeouts: { delete: ["deleteTimeout"] },
    ...ADDITIONS[name],
  };
});

/** The module of all tokens, as in `serverless-gpu:index:ServerlessEndpoint`. */
export const MODULE = "serverless-gpu:index";

/** All resources, by type token. */
export const RESOURCES: ReadonlyMap<string, PluginResource> = new Map(
  [...OF_RECORDS, SMOKE].map((each) => [tokenOf(each), each]),
);

function tokenOf({ dynamic }: PluginResource): string {
  return `${MODULE}:${dynamic.type.split(":").at(-1)}`;
}

function tagWarnings(imageName: unknown): string[] {
  const warning = typeof imageName === "string" ? movingTagWarning(imageName) : undefined;
  return warning === undefined ? [] : [warning];
}

function keyNotes({ env }: Properties): string[] {
  const note = plainKeysNote(keysInPlainText(env));
  return note === undefined ? [] : [note];
}

/** Returns the names of variables that are secret in every program. */
function credentialsIn({ env }: Properties): string[] {
  const names = Object.keys(isObject(env) ? env : {});
  return names.filter(looksLikeCredential).map((variable) => `env.${variable}`);
}

/** Replaces `command` with `dockerArgs`. */
function withStartCommand({ command, ...inputs }: Properties): Prepared {
  if (command === undefined || command === null) return { inputs, failures: [] };
  const refuse = (reason: string) => ({ inputs, failures: [{ property: "command", reason }] });
  if (inputs.dockerArgs !== undefined) return refuse(TWO_COMMANDS);
  const [unknown] = Object.keys(objectOrEmpty(command)).filter((key) => key !== "cmd" && key !== "entrypoint");
  if (unknown !== undefined) return refuse(`there is no command.${unknown}: ${WRONG_COMMAND}`);
  const dockerArgs = startCommand(command);
  return dockerArgs === undefined ? refuse(WRONG_COMMAND) : { inputs: { ...inputs, dockerArgs }, failures: [] };
}
