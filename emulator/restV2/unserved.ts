/**
 * The operations of REST v2 that the emulator does not have, by their names. All of them are in
 * RunPod's published description of REST v2 (2026-11).
 */
const UNSERVED: Readonly<Record<string, string>> = {
  listBuilds: "GET /serverless/{id}/builds",
  getBuild: "GET /serverless/{id}/builds/{buildId}",
  getOpenApiDocument: "GET /openapi.json",
  listSshKeys: "GET /account/ssh-keys",
  replaceSshKeys: "PUT /account/ssh-keys",
  listDelegations: "GET /registries/delegations",
  createDelegation: "POST /registries/delegations",
  deleteDelegation: "DELETE /registries/delegations/{id}",
  listTags: "GET /tags",
  createTag: "POST /tags",
  getTag: "GET /tags/{id}",
  updateTag: "PATCH /tags/{id}",
  deleteTag: "DELETE /tags/{id}",
  attachTag: "PUT /tags/{id}/resources/{resourceType}/{resourceId}",
  detachTag: "DELETE /tags/{id}/resources/{resourceType}/{resourceId}",
  listSandboxes: "GET /sandboxes",
  createSandbox: "POST /sandboxes",
  getSandbox: "GET /sandboxes/{id}",
  listClusters: "GET /clusters",
  createCluster: "POST /clusters",
  getBilling: "GET /billing",
  listPods: "GET /pods",
  createPod: "POST /pods",
  listPublicTemplates: "GET /catalog/templates",
};

const OPERATIONS = Object.entries(UNSERVED).map(([name, route]) => {
  const [method = "", path = ""] = route.split(" ");
  return { name, method, path, pattern: new RegExp(`^/v2${path.replace(/\{\w+\}/g, "[^/]+")}/?$`) };
});

/** The first segments of the paths below `/v2`. */
export const UNSERVED_SEGMENTS = OPERATIONS.map(({ path }) => path.split("/")[1] ?? "");

/** Returns the operation that a request asks for, or `undefined` if it is none of these. */
export function unservedOperation(
  method: string,
  path: string,
): { readonly name: string; readonly path: string } | undefined {
  return OPERATIONS.find((each) => each.method === method && each.pattern.test(path));
}
