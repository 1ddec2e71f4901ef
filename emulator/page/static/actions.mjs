import { byId } from "./dom.mjs";
import { state } from "./state.mjs";

/**
 * Sends an action to the emulator and returns its response. A refusal is shown to the reader.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>} `undefined` if the emulator refused
 */
export async function act(method, path, body) {
  try {
    const response = await fetch(path, {
      method,
      headers: {
        "x-emulator-token": state.about.token,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.status === 204) return null;
    const result = await response.json();
    if (response.ok) return result;
    showMessage(result.error ?? `The emulator responded with status ${response.status}.`);
  } catch (error) {
    showMessage(`The emulator cannot be reached: ${error instanceof Error ? error.message : error}`);
  }
  return undefined;
}

let hideLater = 0;

/** @param {string} text */
export function showMessage(text) {
  const message = byId("message");
  message.textContent = text;
  message.hidden = false;
  clearTimeout(hideLater);
  hideLater = window.setTimeout(() => {
    message.hidden = true;
  }, 8000);
}
