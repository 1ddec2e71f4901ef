import { defaultsOf, type TableOf } from "../records/fields";
import type { Container, ContainerInput } from "./record";

// Programs load this file when they start, so it must not import any libraries.

/** The maximum number of environment variables (observed for pods, assumed for templates). */
export const MAX_ENV_VARIABLES = 50;

/** Returns `ports` as a sorted, comma-separated list without duplicates. */
export function normalizePorts(value: string | readonly string[]): string {
  const parts = (typeof value === "string" ? value : value.join(",")).split(",").map((part) => part.trim());
  return [...new Set(parts.filter((part) => part !== ""))].sort().join(",");
}

type WithImage = Omit<ContainerInput, "imageName"> & { readonly imageName: string };

/** The fields of a container, which both templates and endpoints have. */
export const CONTAINER_TABLE = {
  imageName: { type: "id", mustBe: "an image name with its tag", needsNewWorkers: true, v2: "image" },
  env: {
    type: "env",
    mustBe: "an object of variables, whose values are strings",
    default: {},
    selection: "env { key value }",
    toService: (env) => Object.entries(env).map(([key, value]) => ({ key, value })),
    needsNewWorkers: true,
    v2: "env",
  },
  containerDiskInGb: {
    type: "whole number",
    mustBe: "whole GB, 1 or more",
    min: 1,
    default: 20,
    needsNewWorkers: true,
    v2: "disk",
  },
  dockerArgs: { type: "text", mustBe: "a start command", default: "", needsNewWorkers: true, v2: "args" },
  ports: {
    isUnsetIfAbsent: true,
    type: "ports",
    isList: true,
    mustBe: "a port such as 8000/http, a list of ports or a comma-separated list",
    normalize: normalizePorts,
    default: "",
    needsNewWorkers: true,
    v2: "ports",
  },
  containerRegistryAuthId: {
    isUnsetIfAbsent: true,
    type: "id",
    mustBe: "the id of a registry credential, or null for none",
    default: "",
    needsNewWorkers: true,
    v2: { path: "registry", write: (id) => ({ registry: id === "" ? null : id }) },
  },
} satisfies TableOf<WithImage, Container, "text" | "id" | "whole number" | "env" | "ports">;

/** The names of a container's fields. */
export const CONTAINER_FIELDS = Object.keys(CONTAINER_TABLE) as (keyof Container)[];

/** The default of each container field except the image, in normal form. */
export const CONTAINER_DEFAULTS = defaultsOf(CONTAINER_TABLE) as Omit<Container, "imageName">;

/** Returns `true` if an environment variable with this name probably holds a credential. */
export function looksLikeCredential(variable: string): boolean {
  return /TOKEN|SECRET|PASSW|KEY|CREDENTIAL/i.test(variable);
}
