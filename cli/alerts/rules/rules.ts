import { stringify } from "yaml";
import { accountRules } from "./accountRules";
import { endpointRules } from "./endpointRules";
import type { Rule, RuleOptions } from "./rule";

/** Returns a Prometheus rules file. It fits every account, and does not depend on its endpoints. */
export function rulesFile(options: RuleOptions): string {
  const group = (name: string, rules: readonly Rule[]) => ({ name: `serverless-gpu ${name}`, rules: rules.map(shown) });
  const groups = [group("account", accountRules(options)), group("endpoints", endpointRules(options))];
  // Double-quoted, so that no string is read as another type.
  const yaml = stringify({ groups }, { defaultStringType: "QUOTE_DOUBLE", defaultKeyType: "PLAIN", lineWidth: 0 });
  return `# Written by npx pulumi-serverless-gpu alerts\n${yaml}`;
}

function shown({ alert, severity, expr, forS, summary, description, command }: Rule) {
  const annotations = { summary, description, command };
  return { alert: `ServerlessGpu${alert}`, expr, for: `${forS}s`, labels: { severity }, annotations };
}
