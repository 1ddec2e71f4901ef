import type { AlertSettings } from "../stackSettings";
import { accountRules, type Rule, type RuleOptions, rulesOf } from "./rules";
import { toYaml } from "./yaml";

/** Returns the rules for the account and for every endpoint. */
export function allRules(endpoints: readonly AlertSettings[], options: RuleOptions): Rule[] {
  return [...accountRules(options), ...endpoints.flatMap((each) => rulesOf(each, options))];
}

/** Returns a Prometheus rules file. */
export function rulesFile(endpoints: readonly AlertSettings[], options: RuleOptions): string {
  const group = (name: string, rules: readonly Rule[]) => ({ name, rules: rules.map(shown) });
  const groups = [
    group("serverless-gpu account", accountRules(options)),
    ...endpoints.map((each) => group(`serverless-gpu ${each.id}`, rulesOf(each, options))),
  ];
  return `# Written by npx pulumi-serverless-gpu alerts from the stack's state. Write it again after a change of the endpoints.\n${toYaml({ groups })}`;
}

function shown({ forS, alert, expr, labels, annotations }: Rule) {
  return { alert, expr, for: `${forS}s`, labels: { ...labels }, annotations: { ...annotations } };
}
