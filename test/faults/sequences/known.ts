import type { Action } from "./actions";

/**
 * Sequences of ordinary actions that have lost endpoints, as the campaign shrinks them. Its rules
 * check each step: what is declared lives, nothing is made twice, nothing of others is touched,
 * state is true, a second `up` changes nothing.
 */
export const KNOWN_SEQUENCES: Readonly<Record<string, readonly Action[]>> = {
  "rename a resource, and follow the advice to set adoptId": [
    { do: "declare", on: 0, name: "a", as: "llama" },
    { do: "rename", on: 0, name: "a", to: "b", alias: false },
    { do: "followAdvice", on: 0, how: "adoptId", again: true },
  ],
  "rename a resource, and follow the advice to set aliases": [
    { do: "declare", on: 0, name: "a", as: "llama" },
    { do: "rename", on: 0, name: "a", to: "b", alias: false },
    { do: "followAdvice", on: 0, how: "aliases", again: true },
  ],
  "adopt an endpoint twice, and take one out": [
    { do: "adopt", on: 0, name: "a", of: "foreign:0" },
    { do: "adopt", on: 0, name: "b", of: "foreign:0" },
    { do: "dropAdoptId", on: 0, name: "a" },
    { do: "takeOut", on: 0, name: "b" },
  ],
  "adopt what another resource has, and take that out": [
    { do: "declare", on: 0, name: "a" },
    { do: "adopt", on: 0, name: "b", of: "0:a" },
    { do: "takeOut", on: 0, name: "a", again: true },
  ],
  "rename with an alias, drop it, and declare the old name anew": [
    { do: "declare", on: 0, name: "a" },
    { do: "rename", on: 0, name: "a", to: "b", alias: true },
    { do: "dropAliases", on: 0, name: "b" },
    { do: "declare", on: 0, name: "a" },
  ],
  "apply and destroy the same program on a second machine": [
    { do: "declare", on: 0, name: "a" },
    { do: "copyProgram", on: 1 },
    { do: "destroy", on: 1 },
  ],
  "replace under a transformation that creates first": [
    { do: "declare", on: 0, name: "a" },
    { do: "createsFirst", on: 0, value: true },
    { do: "replace", on: 0, name: "a", flag: "--replace" },
  ],
  "change what calls nothing with another account's key, then refresh with it": [
    { do: "declare", on: 0, name: "a" },
    { do: "key", on: 0, key: "b1", run: "preview" },
    { do: "change", on: 0, name: "a", field: "drainTimeout", value: 100 },
    { do: "refresh", on: 0 },
  ],
  "destroy with another account's key": [
    { do: "declare", on: 0, name: "a" },
    { do: "key", on: 0, key: "b1", run: "destroy" },
  ],
  "move to an account with a mistyped key": [
    { do: "declare", on: 0, name: "a" },
    { do: "provider", on: 0, name: "a", to: "px" },
  ],
  "replace what was adopted": [
    { do: "adopt", on: 0, name: "a", of: "foreign:0" },
    { do: "replace", on: 0, name: "a", flag: "--replace", again: true },
  ],
};
