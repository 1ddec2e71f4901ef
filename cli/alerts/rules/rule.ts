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
