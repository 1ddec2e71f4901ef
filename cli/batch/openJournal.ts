import { stat } from "node:fs/promises";
import { Socket } from "node:net";
import type { Pool } from "pg";
import { fileJournal, type Journal, postgresJournal } from "../../sdk";
import { SecretText } from "../../sdk/errors/secretText";
import { hideUrlPassword, STATEMENT_MS } from "../../sdk/journal/postgresJournal";
import { isDatabase } from "./batchFlags";

/** A journal that the command opened and must close. */
interface CommandJournal {
  readonly journal: Journal;
  close(): Promise<void>;
}

/**
 * Opens the journal given by `--journal`. Creates the tables of a database if they are missing.
 * @param hasResults whether the output contains results
 * @throws Error if the file is empty although there are results
 */
export async function openJournal(place: string, hasResults: boolean): Promise<CommandJournal> {
  if (!isDatabase(place)) {
    const isEmpty = (await stat(place).catch(() => undefined))?.size === 0;
    if (isEmpty && hasResults) throw new Error(emptied(place));
    return { journal: fileJournal(place), close: async () => {} };
  }
  return await withDatabase(place, async (pool, close) => {
    const journal = postgresJournal({ pool });
    await journal.migrate();
    return { journal, close };
  });
}

const emptied = (place: string) =>
  `the journal ${place} is empty although the output has results, so its lines were lost, and jobs that were submitted would be ` +
  "submitted again. Restore it from a copy, or delete it to submit every input that is not in the output";

/** Deletes the rows of a finished batch. */
export async function forget(place: string, batch: string): Promise<void> {
  await withDatabase(place, async (pool, close) => {
    await postgresJournal({ pool }).forget(batch);
    await close();
  });
}

type Close = () => Promise<void>;

/** Closes the pool if the use of it fails. */
async function withDatabase<T>(place: string, use: (pool: Pool, close: Close) => Promise<T>): Promise<T> {
  hideUrlPassword(place);
  if (process.env.PGPASSWORD) new SecretText(process.env.PGPASSWORD);
  const { pool, close } = createPool(place);
  try {
    return await use(pool, close);
  } catch (error) {
    await close();
    throw error;
  }
}

/** How long closing the connections may take, in milliseconds. A stalled one never closes. */
const CLOSE_MS = 2_000;

function createPool(connectionString: string): { readonly pool: Pool; readonly close: Close } {
  let pg: typeof import("pg");
  try {
    pg = require("pg") as typeof import("pg");
  } catch {
    throw new Error("a journal in PostgreSQL needs the package pg: run npm install pg");
  }
  const sockets = new Set<Socket>();
  const pool = new pg.Pool({
    connectionString,
    max: 4,
    connectionTimeoutMillis: 10_000,
    statement_timeout: STATEMENT_MS,
    stream() {
      const socket = new Socket();
      sockets.add(socket.once("close", () => sockets.delete(socket)));
      return socket;
    },
  });
  return {
    pool,
    async close() {
      await Promise.race([pool.end(), new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref())]);
      for (const socket of sockets) socket.destroy();
    },
  };
}
