import { existsSync } from "node:fs";
import type { Browser } from "playwright-core";

/** The places of Chromium on Debian, and of Chrome. */
const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

const executablePath = process.env.CHROMIUM_PATH ?? PLACES.find((place) => existsSync(place));

/**
 * The reason to skip tests with a browser, if there is one. In CI, they always run, and fail if
 * there is no browser.
 */
export const noBrowser: string | undefined =
  executablePath || process.env.CI ? undefined : "no Chromium here: install it, or set CHROMIUM_PATH";

/** Starts a browser without a window. */
export async function startBrowser(): Promise<Browser> {
  const { chromium } = await import("playwright-core");
  // The sandbox needs rights that a container does not have. The pages are our own.
  return chromium.launch({ ...(executablePath && { executablePath }), args: ["--no-sandbox"] });
}
