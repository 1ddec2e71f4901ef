import type * as pulumi from "@pulumi/pulumi";

/** Worker counts from one time until the next rule of the schedule fires. */
export interface ScheduleRuleArgs {
  /**
   * When the rule begins to hold: minute, hour, day of the month, month and day of the week, as in
   * `0 8 * * 1-5` or `30 20 * * MON-FRI`. Other signs and names are not supported. If a clock
   * change skips a fixed time, the rule fires at the end of the gap. If a fixed time occurs twice,
   * the rule fires the first time.
   */
  cron: pulumi.Input<string>;
  /** Number of workers that always run (integer, ≥ 0). @default the endpoint's `workersMin` */
  workersMin?: pulumi.Input<number> | undefined;
  /** Maximum number of workers (integer, ≥ 0). @default the endpoint's `workersMax` */
  workersMax?: pulumi.Input<number> | undefined;
}

/**
 * Worker counts that depend on the time. If some rules leave out a count that others set, the
 * endpoint itself must set it.
 */
export interface ScheduleArgs {
  /** The time zone of the rules: an IANA name, such as `Europe/Berlin`. */
  timeZone: pulumi.Input<string>;
  /** 1 to 100 rules, of which no two fire in the same minute. */
  rules: pulumi.Input<pulumi.Input<ScheduleRuleArgs>[]>;
}
