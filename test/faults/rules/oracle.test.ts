import type { Settings } from "./held";
import { type Facts, judge } from "./oracle";
import type { Write } from "./standIn";

const ENDPOINT = {
  id: "enaaa000001",
  name: "one",
  type: "QB",
  gpuIds: "AMPERE_24",
  instanceIds: [],
  workersMin: 0,
  workersMax: 3,
  idleTimeout: 10,
  env: { A: "1" },
};

const write = (write: Write["write"], before: Settings | undefined, after: Settings | undefined): Write => ({
  number: 1,
  api: "graphql",
  account: "aaa",
  operation: "saveEndpoint",
  kind: "endpoint",
  id: ENDPOINT.id,
  write,
  before,
  after,
  run: 1,
});

function rules(more: Partial<Facts> & { readonly fields?: readonly string[] }): string[] {
  const held = [{ name: "one", kind: "endpoint" as const, id: ENDPOINT.id, inputs: {} }];
  const facts: Facts = {
    form: "npm",
    api: "graphql",
    command: "up",
    target: undefined,
    program: [{ is: "ServerlessEndpoint", name: "one", args: { name: "one", gpuIds: "AMPERE_24" } }],
    shown: { fields: new Map([["one", new Set(more.fields ?? [])]]), text: "" },
    output: "one updating (0s) [diff: ~idleTimeout,workersMax]",
    exitCode: 0,
    wasDisturbed: false,
    before: held,
    after: held,
    writes: [],
    exists: () => true,
    isForgiven: () => false,
    previous: () => [],
    ...more,
  };
  return judge(facts).map(({ rule }) => rule);
}

const changed = (changes: Settings) => [write("change", ENDPOINT, { ...ENDPOINT, ...changes })];

test("a write of a field that the preview showed breaks no rule, and a write of another one does", () => {
  expect(rules({ fields: ["idleTimeout"], writes: changed({ idleTimeout: 20 }) })).toEqual([]);
  expect(rules({ fields: ["idleTimeout"], writes: changed({ idleTimeout: 20, workersMax: 4 }) })).toEqual(["shown"]);
  expect(rules({ fields: ["env.B"], writes: changed({ env: { A: "1", B: "2" } }) })).toEqual([]);
  expect(rules({ fields: ["env.B"], writes: changed({ env: { A: "2", B: "2" } }) })).toEqual(["shown"]);
});

test("values that served before a killed write may be put back if a line says so", () => {
  const previous = () => [{ ...ENDPOINT, workersMax: 7 }];
  const writes = changed({ workersMax: 7 });
  expect(rules({ previous, writes })).toEqual(["shown"]);
  expect(rules({ previous, writes, output: "endpoint enaaa000001: restored what an earlier run changed" })).toEqual([]);
});

test("only a save over GraphQL may lose an edit that the console made during the run", () => {
  const edited = { id: ENDPOINT.id, field: "idleTimeout", before: 10 };
  const writes = [write("change", { ...ENDPOINT, idleTimeout: 11 }, { ...ENDPOINT, idleTimeout: 10 })];
  expect(rules({ writes, edited })).toEqual([]);
  expect(rules({ writes, edited, api: "v2" })).toEqual(["shown"]);
  expect(rules({ writes, edited: { ...edited, before: 9 } })).toEqual(["shown"]);
  expect(rules({ writes })).toEqual(["shown"]);
});

test("a deletion breaks a rule unless the program lacks the resource or changed its type", () => {
  const writes = [write("delete", ENDPOINT, undefined)];
  expect(rules({ writes })).toEqual(["deletes"]);
  expect(rules({ writes, program: [] })).toEqual([]);
  const program = (args: Settings) => [
    { is: "ServerlessEndpoint" as const, name: "one", args: { name: "one", ...args } },
  ];
  expect(rules({ writes, program: program({ type: "LOAD_BALANCER" }) })).toEqual([]);
  const adopted = [{ name: "one", kind: "endpoint" as const, id: ENDPOINT.id, inputs: { adoptId: ENDPOINT.id } }];
  expect(rules({ writes, program: [], before: adopted, after: [], output: ENDPOINT.id })).toEqual(["deletes"]);
});

test("a missing record and a wrong claim are named", () => {
  const exists = () => false;
  expect(rules({ exists })).toEqual(["said"]);
  expect(rules({ exists, output: "one: endpoint enaaa000001 is gone" })).toEqual([]);
  expect(rules({ exists, exitCode: 1, output: "endpoint enaaa000001 is in service and billed again" })).toEqual([
    "claims",
  ]);
});

test("a create beside the record of the state breaks a rule", () => {
  const second = { ...ENDPOINT, id: "enaaa000002" };
  const writes = [{ ...write("create", undefined, second), id: second.id }];
  expect(rules({ writes })).toEqual(["creates"]);
  expect(rules({ writes, before: [] })).toEqual([]);
});
