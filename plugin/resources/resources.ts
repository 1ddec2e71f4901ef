import { recordedService } from "../../provider/connection/account";
import { startCommand, TWO_COMMANDS, WRONG_COMMAND } from "../../provider/container/startCommand";
import { ENDPOINT_KIND } from "../../provider/endpoint/endpointKind";
import { networkVolumeV1, registryAuthV1, secretV1, smokeTestV1, templateV1, v1 } from "../../provider/handlers";
import { idleWorkersWarning, keysInPlainText, movingTagWarning, plainKeysNote } from "../../provider/inputWarnings";
import { isObject, objectOrEmpty, type Properties, pick } from "../../provider/properties";
import { changesOf } from "../../provider/records/recordHandlers";
import { REGISTRY_AUTH_KIND } from "../../provider/registryAuth/registryAuthKind";
import {
  CONTAINER_REGISTRY_AUTH,
  NETWORK_VOLUME,
  SECRET,
  SERVERLESS_ENDPOINT,
  SERVERLESS_TEMPLATE,
  SMOKE_TEST,
} from "../../provider/resourceTypes";
import { SECRET_KIND } from "../../provider/secret/secretKind";
import { TEMPLATE_KIND } from "../../provider/template/templateKind";
import { VOLUME_KIND } from "../../provider/volume/volumeKind";
import { looksLikeCredential } from "../../sdk/containers/fields";
import { unusedVolumeField } from "../../sdk/endpoints/networkVolumes";
import { defaultsOf } from "../../sdk/records/fields";
import { WORKER_FIELDS } from "../../sdk/templates/template";
import { adoptionPreviewOf } from "./adoption";
import { withoutDefaults } from "./importDefaults";
import type { PluginResource, Prepared } from "./resource";

const ENDPOINT: PluginResource = {
  dynamic: SERVERLESS_ENDPOINT,
  previewAdoption: adoptionPreviewOf(ENDPOINT_KIND),
  handlers: v1,
  table: ENDPOINT_KIND.table,
  hasUniqueNames: ENDPOINT_KIND.hasUniqueNames,
  prepare: withStartCommand,
  warnings({ workersMin, imageName }, secrets) {
    const tag = tagWarnings(imageName);
    if (typeof workersMin !== "number" || workersMin < 1) return tag;
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
    // The value's unit depends on the type, so a program that sets one must set both.
    const scaler = scalerType !== undefined || scalerValue !== undefined;
    return { ...others, ...(scaler && { scalerType: inputs.scalerType, scalerValue: inputs.scalerValue }) };
  },
};

const TEMPLATE: PluginResource = {
  dynamic: SERVERLESS_TEMPLATE,
  previewAdoption: adoptionPreviewOf(TEMPLATE_KIND),
  handlers: templateV1,
  table: TEMPLATE_KIND.table,
  hasUniqueNames: TEMPLATE_KIND.hasUniqueNames,
  prepare: withStartCommand,
  warnings: ({ imageName }) => tagWarnings(imageName),
  notes: keyNotes,
  secretInputs: credentialsIn,
  timeouts: { delete: ["deleteTimeout"] },
  changedOutputs(situation) {
    const changed = changesOf(TEMPLATE_KIND, recordedService(situation.outputs) ?? "", situation);
    return WORKER_FIELDS.some((field) => changed.includes(field)) ? ["revision"] : [];
  },
};

const VOLUME: PluginResource = {
  dynamic: NETWORK_VOLUME,
  previewAdoption: adoptionPreviewOf(VOLUME_KIND),
  handlers: networkVolumeV1,
  table: VOLUME_KIND.table,
  hasUniqueNames: VOLUME_KIND.hasUniqueNames,
  timeouts: { delete: ["deleteTimeout"] },
};

const REGISTRY_AUTH: PluginResource = {
  dynamic: CONTAINER_REGISTRY_AUTH,
  previewAdoption: adoptionPreviewOf(REGISTRY_AUTH_KIND),
  handlers: registryAuthV1,
  table: REGISTRY_AUTH_KIND.table,
  hasUniqueNames: REGISTRY_AUTH_KIND.hasUniqueNames,
  secretInputs: () => CONTAINER_REGISTRY_AUTH.secrets ?? [],
  cannotBeImported:
    "of a registry credential cannot be imported or read, because the service does not show its user and password. Declare " +
    "the resource with adoptId, username and password. To read its id and name, use getContainerRegistryAuth",
  timeouts: { delete: ["deleteTimeout"] },
};

const SECRET_RESOURCE: PluginResource = {
  dynamic: SECRET,
  previewAdoption: adoptionPreviewOf(SECRET_KIND),
  handlers: secretV1,
  table: SECRET_KIND.table,
  hasUniqueNames: SECRET_KIND.hasUniqueNames,
  secretInputs: () => SECRET.secrets ?? [],
  cannotBeImported:
    "of a secret cannot be imported or read, because the service does not show its value. Declare the resource with " +
    "adoptId, and with value or valueEnv",
  timeouts: { delete: ["deleteTimeout"] },
  changedOutputs(situation) {
    const changed = changesOf(SECRET_KIND, recordedService(situation.outputs) ?? "", situation);
    return changed.includes("value") ? ["version", "valueLastUpdatedAt"] : [];
  },
};

const SMOKE: PluginResource = {
  dynamic: SMOKE_TEST,
  handlers: smokeTestV1,
  table: {},
  secretInputs: () => ["s3Config.accessSecret"],
  // The handlers redact every string in the input anyway.
  namesSecret: (name) => /^(expectedOutput|policy)\b/.test(name),
  timeouts: { create: ["timeout"], update: ["timeout"] },
  changedOutputs: () => SMOKE_TEST.outputs,
};

/** The module of all tokens: `serverless-gpu:index:ServerlessEndpoint`. */
export const MODULE = "serverless-gpu:index";

/** All resources by the token of their type. */
export const RESOURCES: ReadonlyMap<string, PluginResource> = new Map(
  [ENDPOINT, TEMPLATE, VOLUME, REGISTRY_AUTH, SECRET_RESOURCE, SMOKE].map((each) => [tokenOf(each), each]),
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

/** Returns the names of the variables that are secret in every program. */
function credentialsIn({ env }: Properties): string[] {
  const names = Object.keys(isObject(env) ? env : {});
  return names.filter(looksLikeCredential).map((variable) => `env.${variable}`);
}

/** Replaces `command` with the service's `dockerArgs`. */
function withStartCommand({ command, ...inputs }: Properties): Prepared {
  if (command === undefined || command === null) return { inputs, failures: [] };
  const refuse = (reason: string) => ({ inputs, failures: [{ property: "command", reason }] });
  if (inputs.dockerArgs !== undefined) return refuse(TWO_COMMANDS);
  const [unknown] = Object.keys(objectOrEmpty(command)).filter((key) => key !== "cmd" && key !== "entrypoint");
  if (unknown !== undefined) return refuse(`there is no command.${unknown}: ${WRONG_COMMAND}`);
  const dockerArgs = startCommand(command);
  return dockerArgs === undefined ? refuse(WRONG_COMMAND) : { inputs: { ...inputs, dockerArgs }, failures: [] };
}
