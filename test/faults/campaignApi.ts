import type { ManagementApi } from "../../sdk";

/** The management interface of the campaigns with the engine: `FAULTS_API=v2` selects REST v2. */
export const API: ManagementApi = process.env.FAULTS_API === "v2" ? "v2" : "graphql";

/** The environment that selects it. */
export const API_ENV = { SERVERLESS_GPU_API: API };

/** Returns the first value over GraphQL, and the second over REST v2. */
export function either<T>(overGraphql: T, overV2: T): T {
  return API === "v2" ? overV2 : overGraphql;
}
