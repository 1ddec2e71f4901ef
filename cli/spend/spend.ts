import { type Client, createClient, ServerlessGpuError } from "../../sdk";
import { monthOf, type Spend } from "../../sdk/catalog/record";
import { commandConnection } from "../connection/connection";
import { ownPackage } from "../ownPackage";
import { type StackFlag, stackEndpointIds } from "../stack";
import { printJson, printLines, say } from "../terminal";

export interface SpendFlags {
  readonly api?: string;
  /** The stack whose endpoints to show; `true` for the selected stack. */
  readonly stack?: StackFlag;
  /** The beginning of the month. @default the current month */
  readonly month?: Date;
  readonly json?: boolean;
}

/** The cost of one endpoint. */
interface EndpointSpend extends Pick<Spend, "amount" | "seconds"> {
  readonly id: string;
  /** The name, unless the endpoint has been deleted or the names cannot be read. */
  readonly name?: string | undefined;
}

/** Prints what endpoints have cost. Returns the exit code. */
export async function spend({ api, stack, month, json }: SpendFlags): Promise<number> {
  const wanted = stack === undefined ? undefined : await stackEndpointIds(stack);
  const client = createClient(await commandConnection({ api }));
  try {
    const window = month && { from: month, to: new Date(monthOf(month.getTime(), 1)) };
    const {
      groups = [],
      amount: _,
      seconds: __,
      ...bill
    } = await client.account.spend({ groupBy: "endpoint", ...window });
    const names = await namesOf(client);
    const endpoints = groups
      .filter(({ key }) => wanted === undefined || wanted.includes(key))
      .map(({ key, ...amounts }): EndpointSpend => ({ id: key, name: names?.get(key), ...amounts }));
    const amount = endpoints.reduce((sum, each) => sum + each.amount, 0);
    if (json) printJson({ version: ownPackage().version, amount, ...bill, endpoints }, 2);
    else printLines(linesOf(endpoints, amount, bill, names ? "(deleted)" : "(unknown)"));
    return 0;
  } finally {
    await client.close();
  }
}

/**
 * Returns the names of the endpoints, by id, or `undefined` if they cannot be read. Names only help
 * people, so a failure is not an error.
 */
async function namesOf(client: Client): Promise<ReadonlyMap<string, string> | undefined> {
  const all = await client.endpoints.list().catch((error: unknown) => {
    if (!(error instanceof ServerlessGpuError)) throw error;
    say(`the names of the endpoints cannot be read: ${error.message}`);
    return undefined;
  });
  return all && new Map(all.map(({ id, name }) => [id, name]));
}

function linesOf(
  endpoints: readonly EndpointSpend[],
  amount: number,
  { from, to, newestBucket }: Pick<Spend, "from" | "to" | "newestBucket">,
  nameless: string,
): string[] {
  const shown = ({ amount, seconds }: Pick<EndpointSpend, "amount" | "seconds">) => [
    `$${amount.toFixed(2)}`,
    seconds === undefined ? "" : `${(seconds / 3600).toFixed(1)} h`,
  ];
  const rows = [
    ...endpoints.map((each) => [each.name ?? nameless, each.id, ...shown(each)]),
    ["in all", "", ...shown({ amount })],
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const newest = newestBucket === undefined ? "no charge yet" : `newest bucket ${newestBucket}`;
  return [
    `${from.slice(0, 10)} to ${to.slice(0, 10)}, exclusive (${newest})`,
    ...rows.map((row) =>
      row
        .map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join("  ")
        .trimEnd(),
    ),
  ];
}
