import type { Action, Disturbance, Image, Setup } from "./actions";

/**
 * Sequences of ordinary actions that once lost endpoints, as shrunk by the campaign. Its rules
 * check after each step that declared endpoints exist, that nothing is created twice, that nobody
 * else's endpoints are changed, that state is correct, and that a second `up` changes nothing.
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

const SOON = { drainTimeout: 5 } as const;

const V2 = { observed: true, apis: "v2" } as const;
const DECLARE_GOOD: Action = { do: "declare", on: 0, name: "a", image: "good", isTested: true, api: "v2" };
const ADOPT_BAD = { do: "adopt", on: 0, name: "b", of: "own:0", image: "wrong", isTested: true, api: "v2" } as const;
const IMAGE = (image: Image) => ({ do: "image", on: 0, name: "a", image, isTested: true, api: "v2" }) as const;
const KILL_AFTER_SAVE = { kind: "kill", nth: 1, operation: "saveEndpoint", when: "after" } as const;
const KILL_IN_TEST = { kind: "kill", nth: 1, operation: "run", when: "after" } as const;
const EDIT_IN_TEST: Disturbance = {
  kind: "edit",
  nth: 1,
  operation: "run",
  edit: { of: "0:a", field: "imageName", value: "me/console:1" },
};

/** A sequence that has failed. */
export interface KnownSequence {
  /** The service, if it is not the default one. */
  readonly setup?: Partial<Setup>;
  readonly actions: readonly Action[];
}

/** More sequences, on other services or with other actions. */
export const KNOWN_WITH_SETUP: Readonly<Record<string, KnownSequence>> = {
  // The engine deleted every endpoint that the inline program had not declared.
  "mistype an argument in an inline program": {
    actions: [
      { do: "declare", on: 0, name: "a" },
      { do: "declare", on: 0, name: "b" },
      { do: "typo", on: 0, name: "a", inline: true },
    ],
  },
  // The counts stayed 0, and up said "unchanged".
  "take out an endpoint that runs a job, put it back, and run up": {
    actions: [
      { do: "declare", on: 0, name: "a", counts: "none", ...SOON },
      { do: "job", of: "0:a" },
      { do: "takeOut", on: 0, name: "a" },
      { do: "endJobs" },
      { do: "up", on: 0 },
    ],
  },
  // The refresh wrote the 0 to state, and the next up found nothing to do.
  "take out an endpoint that runs a job, put it back, and run up --refresh": {
    actions: [
      { do: "declare", on: 0, name: "a", counts: "none", ...SOON },
      { do: "job", of: "0:a" },
      { do: "takeOut", on: 0, name: "a" },
      { do: "up --refresh", on: 0 },
      { do: "up", on: 0 },
    ],
  },
  // The repair set workersMin to 1 while workersMax was 0, which the service refused each time.
  "destroy an endpoint with a minimum that runs a job, and run up --refresh": {
    actions: [
      { do: "declare", on: 0, name: "a", counts: "min", ...SOON },
      { do: "job", of: "0:a" },
      { do: "destroy", on: 0 },
      { do: "up --refresh", on: 0 },
    ],
  },
  // A second deletion mistook the first one's 0 for the earlier counts.
  "kill a deletion at zero, fail another one, and run up": {
    actions: [
      { do: "declare", on: 0, name: "a", ...SOON },
      { do: "job", of: "0:a" },
      { do: "takeOut", on: 0, name: "a", disturb: { kind: "kill", nth: 1, operation: "saveEndpoint", when: "after" } },
      { do: "up", on: 0 },
      { do: "endJobs" },
      { do: "up", on: 0 },
    ],
  },
  // The refresh wrote 0 to state without a warning.
  "switch an endpoint off that does not declare its counts, and refresh": {
    actions: [
      { do: "declare", on: 0, name: "a", counts: "none" },
      { do: "switchOff", of: "0:a" },
      { do: "refresh", on: 0 },
    ],
  },
  // The refresh forgot it, and the next up made a second one.
  "refresh an endpoint that the list does not reach": {
    setup: { observed: true, crowd: 399 },
    actions: [
      { do: "declare", on: 0, name: "a" },
      { do: "refresh", on: 0 },
      { do: "up", on: 0 },
    ],
  },
  // "It does not exist."
  "change an endpoint that the list does not reach": {
    setup: { observed: true, crowd: 399 },
    actions: [
      { do: "declare", on: 0, name: "a" },
      { do: "change", on: 0, name: "a", field: "workersMax", value: 5 },
    ],
  },
  // The up made two.
  "lose the response of a create that the list does not reach": {
    setup: { observed: true, crowd: 399 },
    actions: [
      { do: "declare", on: 0, name: "a", disturb: { kind: "lose", nth: 1, operation: "saveEndpoint" } },
      { do: "up", on: 0 },
    ],
  },
  // The refresh dropped the new endpoint, and the next up made a second one.
  "refresh at once, with lists that are ten seconds behind": {
    setup: { observed: true, lagMs: 10_000 },
    actions: [
      { do: "declare", on: 0, name: "a" },
      { do: "refresh", on: 0 },
      { do: "up", on: 0 },
    ],
  },
  // The previous resource's record was removed, and the endpoint was in no state.
  "rename with adoptId under --continue-on-error while the service refuses the adoption": {
    actions: [
      { do: "declare", on: 0, name: "a", as: "llama" },
      { do: "rename", on: 0, name: "a", to: "b", alias: false },
      {
        do: "followAdvice",
        on: 0,
        how: "adoptId",
        continues: true,
        disturb: { kind: "refuse", nth: 1, operation: "myself" },
      },
    ],
  },
  // "Two resources in this program manage the endpoint", each time.
  "rename with adoptId and up --refresh": {
    actions: [
      { do: "declare", on: 0, name: "a", as: "llama" },
      { do: "rename", on: 0, name: "a", to: "b", alias: false },
      { do: "followAdvice", on: 0, how: "adoptId", refreshes: true },
    ],
  },
  // The deletion of the previous resource deleted the new one's endpoint.
  "adopt under --target, then take the previous out under --target": {
    actions: [
      { do: "declare", on: 0, name: "a" },
      { do: "adopt", on: 0, name: "b", of: "0:a", only: "b" },
      { do: "dropAdoptId", on: 0, name: "b", only: "b" },
      { do: "takeOut", on: 0, name: "a", only: "a" },
    ],
  },
  // The plan held a random value, which the up did not draw again.
  "adopt by a saved plan": {
    actions: [{ do: "adopt", on: 0, name: "a", of: "foreign:0", planned: true }],
  },
  // The restore left the endpoint in state, and taking the resource out deleted it.
  "kill the adoption of someone's endpoint with a bad image, run up, and take the resource out": {
    setup: V2,
    actions: [
      { do: "declare", on: 0, name: "a", api: "v2" },
      { ...ADOPT_BAD, disturb: KILL_AFTER_SAVE },
      { do: "up", on: 0, api: "v2" },
      { do: "takeOut", on: 0, name: "b", api: "v2" },
    ],
  },
  // The endpoint served the bad image for good.
  "kill the adoption of someone's endpoint with a bad image, and take the resource out": {
    setup: V2,
    actions: [
      { do: "declare", on: 0, name: "a", api: "v2" },
      { ...ADOPT_BAD, disturb: KILL_AFTER_SAVE },
      { do: "takeOut", on: 0, name: "b", api: "v2" },
      { do: "up", on: 0, api: "v2" },
    ],
  },
  // The test ran on the image of the console, and passed.
  "edit the image in the console while a good release is tested": {
    setup: V2,
    actions: [DECLARE_GOOD, { ...IMAGE("2-good"), disturb: EDIT_IN_TEST }],
  },
  // The restore saved its settings over those of the console.
  "edit the image in the console while a bad release is tested": {
    setup: V2,
    actions: [DECLARE_GOOD, { ...IMAGE("wrong"), disturb: EDIT_IN_TEST }],
  },
  // A file on the first machine took back what the second had accepted.
  "kill a release, accept it on another machine, and make the next one on the first": {
    setup: V2,
    actions: [
      DECLARE_GOOD,
      { ...IMAGE("2-good"), disturb: KILL_IN_TEST },
      { do: "up", on: 0, api: "v2", elsewhere: true },
      IMAGE("3-good"),
    ],
  },
  // Every up said "unchanged", and the new image served.
  "kill a change from a template to an image, and go back": {
    setup: V2,
    actions: [
      { do: "declare", on: 0, name: "a", api: "v2" },
      { do: "image", on: 0, name: "a", image: "good", isTested: false, api: "v2", disturb: KILL_AFTER_SAVE },
      { do: "goBack", on: 0, api: "v2" },
    ],
  },
  // The next up said "unchanged".
  "kill a change of the image, and go back": {
    setup: V2,
    actions: [
      { do: "declare", on: 0, name: "a", image: "good", api: "v2" },
      { do: "image", on: 0, name: "a", image: "2-good", isTested: false, api: "v2", disturb: KILL_AFTER_SAVE },
      { do: "goBack", on: 0, api: "v2" },
    ],
  },
  "kill a change of a setting, and go back": {
    actions: [
      { do: "declare", on: 0, name: "a" },
      { do: "change", on: 0, name: "a", field: "idleTimeout", value: 9, disturb: KILL_AFTER_SAVE },
      { do: "goBack", on: 0 },
    ],
  },
  // The first resource's up said "unchanged" while the endpoint had the settings of the second.
  "adopt what another resource has under --target with another setting, and take that out": {
    actions: [
      { do: "declare", on: 0, name: "a" },
      { do: "adopt", on: 0, name: "b", of: "0:a", workersMax: 7, only: "b" },
      { do: "takeOut", on: 0, name: "b" },
    ],
  },
  // The second resource's write voided what this machine knew of the first one's.
  "change an endpoint, adopt it under --target with another setting, and take that out": {
    actions: [
      { do: "declare", on: 0, name: "a" },
      { do: "change", on: 0, name: "a", field: "workersMax", value: 4 },
      { do: "adopt", on: 0, name: "b", of: "0:a", workersMax: 7, only: "b" },
      { do: "takeOut", on: 0, name: "b" },
    ],
  },
  // The endpoint kept the workersMax of the program, and nothing said so.
  "edit the image in the console while an adoption is tested, and destroy": {
    setup: V2,
    actions: [
      { do: "declare", on: 0, name: "d", api: "v2" },
      {
        do: "adopt",
        on: 0,
        name: "a",
        of: "own:0",
        image: "3-good",
        isTested: true,
        workersMax: 6,
        api: "v2",
        disturb: { ...EDIT_IN_TEST, edit: { of: "own:0", field: "imageName", value: "me/console:1" } },
      },
      { do: "destroy", on: 0, api: "v2" },
    ],
  },
  // The first destroy refused the resource that had the endpoint first.
  "adopt what another resource has under --target, and destroy both": {
    actions: [
      { do: "declare", on: 0, name: "d" },
      { do: "adopt", on: 0, name: "c", of: "0:d", only: "c" },
      { do: "destroy", on: 0 },
    ],
  },
  // No run said that two endpoints have the name.
  "create a name that a list which is ten seconds behind does not show": {
    setup: { lagMs: 10_000 },
    actions: [
      { do: "declare", on: 0, name: "b", as: "llama" },
      { do: "declare", on: 1, name: "b", as: "llama" },
    ],
  },
};
