import { visible } from "../sdk/errors/visible";

/** A table. The first cell of each row is its title. */
export interface Table {
  readonly title: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/**
 * Returns the header and the rows as lines. Cells of columns in `left` begin at the left, and those
 * of others end at the right.
 */
export function tableLines({ header, rows }: Omit<Table, "title">, left: readonly number[] = [0]): string[] {
  const all = [header, ...rows].map((row) => row.map(visible));
  const widths = header.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, at) => (left.includes(at) ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}
