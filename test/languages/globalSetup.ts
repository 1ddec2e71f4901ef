import { execFileSync } from "node:child_process";
import path from "node:path";
import { ensureHosts } from "../../tools/pulumi-cli/hosts";
import { writeArchives } from "../../tools/releaseArchives";
import { REPOSITORY } from "../support/sources";
import { ARCHIVES } from "./plugin";

/**
 * Prepares the language hosts, Pulumi's packages for Python and Java, and the archives of the
 * plugin.
 */
export default async function prepareLanguages(): Promise<void> {
  const { binDir } = await ensureHosts();
  console.error(`language hosts: ${binDir}`);
  const install = path.join(REPOSITORY, "tools/clients/install.js");
  execFileSync(process.execPath, [install, "pulumi-python", "pulumi-java"], { stdio: "inherit" });
  writeArchives(ARCHIVES);
}
