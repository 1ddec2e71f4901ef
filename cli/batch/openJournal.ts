import type { Pool } from "pg";
import { fileJournal, type Journal, postgresJournal } from "../../sdk";
import { hideUrlPassword } from "../../sdk/journal/postgresJournal";
import { redact, SecretText } from "../../sdk/secret";

/** A journal that the command opened and must close. */
export interface CommandJournal {
  readonly journal: Journal;
  /** The journal's name in messages. */
  readonly name: string;
  close(): Promise<void>;
}

const DATABASE = /^postgres(ql)?:\/\//i;

/** Opens the journal given by `--journal`. Creates the tables of a database if they are missing. */
export async function openJournal(place: string): Promise<CommandJournal> {
  if (!DATABASE.test(place)) return { journal: fileJournal(place), name: place, close: async () => {} };
  hideUrlPassword(place);
  if (process.env.PGPASSWORD) new SecretText(process.env.PGPASSWORD);
  const pool = createPool(place);
  try {
    const journal = postgresJournal({ pool });
    await journal.migrate();
    return { journal, name: redact(place), close: () => pool.end() };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

function createPool(connectionString: string): Pool {
  let pg: typeof import("pg");
  try {
    pg = require("pg") as typeof import("pg");
  } catch {
    throw new Error("a journal in PostgreSQL needs the package pg: run npm install pg");
  }
  return new pg.Pool({ connectionString, max: 4, connectionTimeoutMillis: 10_000 });
}
