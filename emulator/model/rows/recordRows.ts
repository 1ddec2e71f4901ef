import { assumed, documented, observed } from "./level";

/** GraphQL: templates. */
export const template = {
  "template.input": observed(
    "saveTemplate requires name, dockerArgs, containerDiskInGb, volumeInGb and env; null for them is a validation error.",
  ),
  "template.create": observed(
    "saveTemplate without an id creates a template and assigns an id of 10 letters and digits.",
  ),
  "template.modify": observed("saveTemplate with the id of a template changes that template, name included."),
  "template.replace": assumed(
    "A nullable field that saveTemplate leaves out is reset, except isServerless; env is replaced as a whole.",
  ),
  "template.list": observed("myself.podTemplates lists all templates with their fields, pod templates included."),
  "template.get": observed("podTemplate returns one template by its id."),
  "template.get-unknown": assumed("podTemplate returns null for an unknown id."),
  "template.list-lag": observed("A list, and podTemplate, can lag behind a change; podTemplate by 2.5 s at most."),
  "template.list-cap": assumed(
    "In the observed profile myself.podTemplates, networkVolumes and containerRegistryCreds show the 400 oldest.",
  ),
  "template.unknown-id": assumed(
    'saveTemplate with an unknown id is rejected with a message that contains "not found".',
  ),
  "template.ranges": assumed("An empty name or imageName, and a negative size, are rejected."),
  "template.serverless-volume": assumed("A serverless template whose volumeInGb is not 0 is rejected."),
  "template.serverless-fixed": assumed("isServerless of a template cannot be changed."),
  "template.serverless-kept": observed(
    "saveTemplate without isServerless keeps it: Flash 1.21 sends that with each deployment (2026-09).",
  ),
  "template.env-limit": assumed("More than 50 environment variables are rejected."),
  "template.unique-name": observed(
    'A name that any template of the account has, pod templates included, is rejected with "Template name must be unique".',
  ),
  "template.taken-name": assumed(
    "A name that another account uses is rejected in the same way; an option lists such names.",
  ),
  "template.deleted-name": assumed("The name of a deleted template is free again, unless an option reserves it."),
  "template.registry-auth-clear": observed('containerRegistryAuthId "" clears the reference.'),
  "template.unknown-registry-auth": assumed(
    "If an option or a seed names credentials, any other containerRegistryAuthId is rejected. The id of a deleted one is always rejected.",
  ),
  "template.secret-references": assumed("{{ RUNPOD_SECRET_x }} in the value of a variable stays as it is."),
  "template.delete": observed(
    "deleteTemplate deletes the template with a name; data.deleteTemplate is null in any case.",
  ),
  "template.unknown-name": assumed(
    'deleteTemplate with an unknown name is rejected with a message that contains "not found".',
  ),
  "template.in-use": observed(
    "A template that an endpoint, a worker or a pod uses cannot be deleted; the message is assumed.",
  ),
  "template.recently-used": observed(
    "In the observed profile, a template cannot be deleted until 2 minutes after its last use (by default 1 s in the emulator); the message is assumed.",
  ),
  "template.no-wait": assumed("In the contract profile, a template can be deleted as soon as nothing uses it."),
};

/** GraphQL: network volumes. */
export const volume = {
  "volume.input": observed(
    "createNetworkVolume requires dataCenterId; updateNetworkVolume and deleteNetworkVolume require id.",
  ),
  "volume.create": observed("createNetworkVolume creates a volume and assigns an id of 10 letters and digits."),
  "volume.same-name": observed("The name of a volume need not be unique."),
  "volume.no-name": assumed("A volume without a name has an empty name."),
  "volume.list": observed("myself.networkVolumes lists all volumes with their fields."),
  "volume.modify": observed("updateNetworkVolume changes name and size; what it leaves out is kept (assumed)."),
  "volume.fixed": observed("updateNetworkVolume accepts neither a data center nor a tier."),
  "volume.size": assumed("A size outside 10 to 4096 GB is rejected."),
  "volume.shrink": observed("In the contract profile, a smaller size is rejected; the message is assumed."),
  "volume.shrink-observed": observed("In the observed profile, a smaller size is accepted and shown."),
  "volume.storage-type": assumed("storageType is VAST with isNextGenStorage, otherwise CEPH_FS."),
  "volume.data-center": observed(
    "A data center without support for volumes is rejected with a message that lists those that have it; the list is assumed.",
  ),
  "volume.any-location": assumed("locations of an endpoint may exclude the data center of its volume."),
  "volume.nonexistent": observed(
    'deleteNetworkVolume with an unknown id is rejected with "Tried to delete nonexistent network volume".',
  ),
  "volume.in-use": observed("A volume that an endpoint or a pod uses cannot be deleted; the message is assumed."),
};

/** GraphQL: registry credentials. */
export const registry = {
  "registry.input": observed("saveRegistryAuth requires name, username, password; updateRegistryAuth has no name."),
  "registry.create": observed("saveRegistryAuth creates a credential and assigns an id such as cmoc95oxr…"),
  "registry.update": observed("updateRegistryAuth replaces user name and password, and keeps the id."),
  "registry.list": observed("myself.containerRegistryCreds lists all credentials with id and name only."),
  "registry.hidden": assumed("GraphQL has no field for the user name and the password."),
  "registry.unique-name": observed("A name that another credential has is rejected; the message is assumed."),
  "registry.not-empty": assumed("An empty name, user name or password is rejected."),
  "registry.unknown-id": assumed('An unknown id is rejected with a message that contains "not found".'),
  "registry.delete": observed("deleteRegistryAuth deletes a credential; data.deleteRegistryAuth is null in any case."),
  "registry.in-use": assumed(
    "While a pod or an endpoint's template uses a credential, deleteRegistryAuth fails with INTERNAL_SERVER_ERROR.",
  ),
  "registry.reference": observed("Other templates lose their reference to a deleted credential."),
};

/** Secrets, in both APIs. */
export const secret = {
  "secret.create": documented("A create returns the secret. No response of either API contains its value."),
  "secret.name": documented(
    "A name has 1 to 191 letters, digits and _ . - /, and begins with a letter or _, but not with RUNPOD in any case; otherwise 422.",
  ),
  "secret.unique-name": documented("A name that another secret has is rejected: 409. The message is assumed."),
  "secret.name-case": assumed("A name that differs from that of another secret only in case is also rejected."),
  "secret.value": documented("A value has at least 1 character and less than 16 MiB; otherwise 422."),
  "secret.description": documented('A description has at most 65,535 bytes; otherwise 422. "" clears it.'),
  "secret.update": documented(
    "A change writes the value, then the description. Only writing a value updates valueLastUpdatedAt. REST v2 requires at least one of the two.",
  ),
  "secret.times": assumed(
    "A new secret has valueLastUpdatedAt, in GraphQL lastUpdatedAt, from its creation. Public clients read only updatedAt, which every change sets (2026-03).",
  ),
  "secret.list": documented(
    "myself.secrets and GET /v2/account/secrets list all; ?name= finds one, in any case of its name.",
  ),
  "secret.unknown-id": documented("An unknown id returns 404; the message of GraphQL is assumed."),
  "secret.delete": documented("A secret can be deleted while variables name it."),
  "secret.fill": documented(
    "A worker that starts gets the values in place of {{ RUNPOD_SECRET_x }}; running ones keep theirs, and reads show the reference.",
  ),
  "secret.part": assumed("A reference may be a part of a variable's value."),
  "secret.unknown": assumed("In the contract profile, a reference to an unknown secret stays as it is."),
  "secret.unknown-observed": assumed(
    "In the observed profile, a worker with such a reference does not start; it tries again every 10 s.",
  ),
};
