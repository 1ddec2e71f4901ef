import * as pulumi from "@pulumi/pulumi";
import type { InputProblem } from "../../sdk/errors";
import { acceptedWords, CONFIG_NAMESPACE, type ReadConfig } from "../connection/config";
import { ServerlessGpuProvider, settingsOf } from "../connection/provider";
import type { Declaration, Values } from "../program/programChecks";
import { SERVERLESS_ENDPOINT } from "../resourceTypes";

/** A `ServerlessEndpoint` as the program declares it. One that is only read has no arguments to check. */
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

/** Problems that the endpoint has whatever it was before: the provider compares with that, and finds the rest. */
function problemsOf(values: Values, unknown: unknown, config: ReadConfig | undefined): InputProblem[] {
  // Loaded here, after the program has started: it takes a tenth of a second.
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

/** The config that the resource's provider reads, once it is known. */
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
