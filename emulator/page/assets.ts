import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { packageRoot } from "../../sdk/contract/packageRoot";
import type { HttpResponse } from "../io/http";

const folder = () => path.join(packageRoot(), "emulator/page/static");

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The page loads nothing from other hosts, runs only its own scripts, and cannot be framed. */
const HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** Returns a file of the page, or `undefined` if it does not exist. */
export function asset(name: string): HttpResponse | undefined {
  if (!readdirSync(folder()).includes(name)) return undefined;
  const type = TYPES[path.extname(name)] ?? "application/octet-stream";
  const body = readFileSync(path.join(folder(), name), "utf8");
  return { status: 200, headers: { ...HEADERS, "content-type": type }, body };
}
