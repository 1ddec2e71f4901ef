import type { Call } from "../io/http";
import { validate } from "../io/validate";
import type { StockRule } from "../model/stock";
import type { WorkerFaults } from "../workers/workerFaults";
import { type FaultRule, nameOf, ruleSchema, subjectsOf } from "./faultRule";
import type { Operations } from "./routes";

/** A rule and its counters. */
export interface ActiveFault extends FaultRule {
  /** The rule's id, for `remove`. */
  readonly id: number;
  /** The rule's name in the journal. */
  readonly name: string;
  /** The number of requests that matched, before `nth` and `probability` are considered. */
  readonly matched: number;
  /** The number of requests that the rule was applied to. */
  readonly applied: number;
}

/** The fault rules in order. Only the first matching rule is applied to a request. */
export interface Faults {
  /**
   * Appends a rule.
   * @throws TypeError if the rule is malformed
   */
  add(rule: FaultRule): ActiveFault;
  /** Returns all rules, in order. */
  list(): ActiveFault[];
  /** Removes a rule. Returns `false` if there is no rule with the id. */
  remove(id: number): boolean;
  /** Removes all rules. */
  clear(): void;
}

type Subject = Pick<Call, "interface" | "operation" | "endpointId"> & { readonly imageName?: string };

/** Returns the rule to apply to a request, if any. */
export type NextFault = (call: Subject) => ActiveFault | undefined;

/**
 * @param random returns a number in [0, 1)
 * @param operations returns the operations that exist
 * @param onStockChange called when a stock rule is added or removed
 */
export function createFaults(random: () => number, operations: () => Operations, onStockChange: () => void) {
  let rules: Writable<ActiveFault>[] = [];
  let stock: StockRule[] = [];
  let added = 0;
  /** Functions to call when a rule is removed, by its id. */
  const removals = new Map<number, (() => void)[]>();

  /** Counts the subject for every matching rule, and returns the first rule that is due. */
  function firstToApply(subject: Subject, subjects: ReturnType<typeof subjectsOf>): ActiveFault | undefined {
    const matching = rules.filter((rule) => subjectsOf(rule.effect) === subjects && matches(rule, subject));
    for (const rule of matching) rule.matched += 1;
    const first = matching.find(isDue);
    if (first) first.applied += 1;
    return first;
  }

  function isDue({ match = {}, matched, applied, times = Number.POSITIVE_INFINITY }: ActiveFault): boolean {
    if (applied >= times || (match.nth !== undefined && match.nth !== matched)) return false;
    return match.probability === undefined || random() < match.probability;
  }

  function replaceRules(changed: Writable<ActiveFault>[]): void {
    rules = changed;
    const before = stock.length;
    stock = rules.flatMap(stockRuleOf);
    if (stock.length !== before) onStockChange();
    const remaining = new Set(rules.map(({ id }) => id));
    for (const [id, calls] of [...removals]) {
      if (remaining.has(id)) continue;
      removals.delete(id);
      for (const call of calls) call();
    }
  }

  const faults: Faults = {
    add(rule) {
      const { name, ...rest } = structuredClone(validate(ruleSchema, rule, "This fault rule"));
      assertCanMatch(rest, operations());
      const active = { ...rest, id: ++added, name: name ?? nameOf(rest.effect), matched: 0, applied: 0 };
      replaceRules([...rules, active]);
      return { ...active };
    },
    list: () => rules.map((rule) => ({ ...rule })),
    remove(id) {
      const before = rules.length;
      replaceRules(rules.filter((rule) => rule.id !== id));
      return rules.length < before;
    },
    clear: () => replaceRules([]),
  };

  const next: NextFault = (call) => (rules.length === 0 ? undefined : firstToApply(call, "requests"));

  function dropsWebhook(endpointId: string): boolean {
    const rule = firstToApply({ interface: "queue", operation: "webhook", endpointId }, "webhooks");
    return rule?.effect.dropWebhook === true;
  }

  const workerFaults: WorkerFaults = {
    atStart(endpointId, imageName) {
      const rule = firstToApply({ interface: "queue", operation: "worker", endpointId, imageName }, "worker starts");
      const { throttleWorkerMs = 0, imagePullMs = 0, imagePullError, crashLoop, takesNoJobs } = rule?.effect ?? {};
      const failure = imagePullError ? "image" : crashLoop ? "crash" : undefined;
      const onRemoved = rule && ((heal: () => void) => removals.set(rule.id, [...(removals.get(rule.id) ?? []), heal]));
      return { throttledMs: throttleWorkerMs, imagePullMs, failure, takesNoJobs, onRemoved };
    },
    atJob(endpointId) {
      const rule = firstToApply({ interface: "queue", operation: "job", endpointId }, "job starts");
      if (rule?.effect.killWorker) return "die";
      return rule?.effect.hangWorker ? "hang" : undefined;
    },
  };

  return { faults, next, dropsWebhook, workerFaults, stockRules: (): readonly StockRule[] => stock };
}

function stockRuleOf({ match: part = {}, effect: { soldOut, stock } }: FaultRule): StockRule[] {
  const level = soldOut ? "None" : stock;
  return level ? [{ part, level }] : [];
}

const STOCK_FIELDS = ["pool", "gpuTypeId", "dataCenterId", "cudaVersion"] as const;
const COUNTED_FIELDS = ["endpointId", "nth", "probability"] as const;

/**
 * Throws a TypeError for a rule that could never match, because its operation does not exist or
 * because it does not apply to requests.
 */
function assertCanMatch({ match = {}, effect, times }: FaultRule, operations: Operations): void {
  const subjects = subjectsOf(effect);
  const ofOthers = subjects === "stock" ? COUNTED_FIELDS : STOCK_FIELDS;
  const ofStarts = subjects === "worker starts" ? [] : (["imageName"] as const);
  const wrong = [...ofOthers, ...ofStarts].filter((field) => match[field] !== undefined);
  if (wrong.length > 0) throw new TypeError(`The rule is about ${subjects}: leave ${wrong.join(", ")} out of "match".`);
  if (subjects === "stock" && times !== undefined)
    throw new TypeError('The rule is about stock, and applies until it is removed: leave out "times".');
  if (subjects !== "requests" && (match.operation !== undefined || match.interface !== undefined))
    throw new TypeError(
      `The rule is about ${subjects}, not requests: leave "operation" and "interface" out of "match".`,
    );
  if (match.operation === undefined) return;
  assertOperation(match.operation, match.interface ? operations[match.interface] : Object.values(operations).flat());
}

/** @throws TypeError if an operation does not exist */
export function assertOperation(operation: string, existing: readonly string[]): void {
  if (existing.includes(operation) || operation.startsWith("__")) return;
  throw new TypeError(
    `There is no operation "${operation}". The operations are: ${[...new Set(existing)].join(", ")}.`,
  );
}

function matches({ match = {} }: FaultRule, subject: Subject): boolean {
  const fields = ["interface", "operation", "endpointId", "imageName"] as const;
  return fields.every((field) => match[field] === undefined || match[field] === subject[field]);
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
