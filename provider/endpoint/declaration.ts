import * as pulumi from "@pulumi/pulumi";
import type { InputProblem } from "../../sdk/errors";
import { acceptedWords, CONFIG_NAMESPACE, type ReadConfig } from "../connection/config";
import { ServerlessGpuProvider, settingsOf } from "../connection/provider";
import type { Declaration, Values } from "../program/programChecks";
import { SERVERLESS_ENDPOINT } from "../resourceTypes";

/** Returns a `ServerlessEndpoint` as the program declares it. A resource that is only read has no arguments to check. */
export function endpointDeclaration(
  name: string,
  args: object | undefined,
  options: pulumi.CustomResourceOptions,
): Declaration {
  const { type } = SERVERLESS_ENDPOINT;
  const config = configOf(options);
  const findProblems = (values: Values, unknown: unknown) => problemsOf(values, unknown, config());
  return {
    kind: "ServerlessEndpoint",
    type,
    name,
    args: args ?? {},
    options,
    findProblems: args ? findProblems : () => [],
  };
}

/**
 * Returns the problems that do not depend on the previous inputs. The provider has those, and finds the other problems.
 */
function problemsOf(values: Values, unknown: unknown, config: ReadConfig | undefined): InputProblem[] {
  // Loaded here, after the program has started, because it takes a tenth of a second.
  const { checkInputs } = require("./inputs") as typeof import("./inputs");
  const words = config && acceptedWords(config);
  const unsure = words ? [] : ["gpuIds", "locations"].filter((field) => values[field] !== undefined);
  const given = { ...values, ...Object.fromEntries(unsure.map((field) => [field, unknown])) };
  const before = { name: unknown };
  return checkInputs(
    before,
    { name: unknown, ...given, ...(given.name === undefined ? { name: unknown } : {}) },
    words ?? {},
  ).problems;
}

/** Returns a function for the config that the resource's provider reads; it returns `undefined` until that is known. */
function configOf({ provider, parent }: pulumi.CustomResourceOptions): () => ReadConfig | undefined {
  const explicit = provider ?? parent?.getProvider(SERVERLESS_ENDPOINT.type);
  if (!explicit) {
    const config = new pulumi.Config(CONFIG_NAMESPACE);
    return () => (name) => config.get(name);
  }
  let known: ReadConfig | undefined;
  if (explicit instanceof ServerlessGpuProvider) {
    settingsOf(explicit).apply((settings) => {
      known = (name) => settings[name];
    });
  }
  return () => known;
}
