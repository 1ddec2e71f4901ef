import { stringify } from "yaml";
import { accountRules } from "./accountRules";
import { endpointRules } from "./endpointRules";

/** The options that the rules take from the command line. */
export interface RuleOptions {
  /** The share of failed jobs (0 to 1) at which an alert fires. */
  readonly failureShare: number;
  /**
   * The spend at which an alert fires, in US dollars an hour. @default 80 % of the account's spend
   * limit
   */
  readonly spendCap?: number | undefined;
  /** Minutes without a successful read after which an alert fires. */
  readonly staleMinutes: number;
}

/** An alerting rule. */
export interface Rule {
  /** The name, without its prefix. */
  readonly alert: string;
  readonly severity: "critical" | "warning";
  readonly expr: string;
  /** How long the expression must be true before the alert fires, in seconds. */
  readonly forS: number;
  readonly summary: string;
  readonly description: string;
  /** The command that shows the cause, or that helps. */
  readonly command: string;
}

/** Returns a Prometheus rules file. It fits every account, and does not depend on its endpoints. */
export function rulesFile(options: RuleOptions): string {
  const group = (name: string, rules: readonly Rule[]) => ({ name: `serverless-gpu ${name}`, rules: rules.map(shown) });
  const groups = [group("account", accountRules(options)), group("endpoints", endpointRules(options))];
  // Double-quoted, so that no string is read as another type.
  const yaml = stringify({ groups }, { defaultStringType: "QUOTE_DOUBLE", defaultKeyType: "PLAIN", lineWidth: 0 });
  return `# Written by npx pulumi-serverless-gpu alerts.\n${yaml}`;
}

function shown({ alert, severity, expr, forS, summary, description, command }: Rule) {
  const annotations = { summary, description, command };
  return { alert: `ServerlessGpu${alert}`, expr, for: `${forS}s`, labels: { severity }, annotations };
}
