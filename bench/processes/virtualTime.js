// Replaces this process's clocks and timers. Time stands still while there is something to do, and
// then jumps to the next timer. A wait of minutes takes no time, and a busy machine has no effect
// on the result. Each request to a server of this process takes `LATENCY_MS`. Load it before
// anything else.
const { subscribe } = require("node:diagnostics_channel");
const http = require("node:http");

/** About the time of a request to a service, in milliseconds. */
const LATENCY_MS = 200;
/** How many turns of the event loop must pass without activity before time moves on. */
const QUIET_TURNS = 4;

const { setImmediate: inNextTurn } = globalThis;
const startedAt = Date.now();
let now = 0;
let numbers = 0;

/** @type {Set<Timer>} */
const timers = new Set();

/** A timer of the virtual clock, with the methods that libraries call. */
class Timer {
  /** @param {() => void} callback @param {number} ms @param {boolean} repeats */
  constructor(callback, ms, repeats) {
    this.callback = callback;
    this.ms = Math.max(1, ms || 0);
    this.repeats = repeats;
    this.number = numbers++;
    this.at = now + this.ms;
    timers.add(this);
  }
  refresh() {
    this.at = now + this.ms;
    timers.add(this);
    return this;
  }
  ref() {
    return this;
  }
  unref() {
    return this;
  }
  hasRef() {
    return true;
  }
  run() {
    timers.delete(this);
    if (this.repeats) this.refresh();
    this.callback();
  }
}

/**
 * How many connections are being opened and requests are being processed. Time does not move on
 * during these.
 */
let pending = 0;

for (const [event, change] of /** @type {const} */ ([
  ["undici:client:beforeConnect", 1],
  ["undici:client:connected", -1],
  ["undici:client:connectError", -1],
  ["undici:client:sendHeaders", 1],
  ["undici:request:trailers", -1],
  ["undici:request:error", -1],
])) {
  subscribe(event, () => {
    pending += change;
  });
}

const emit = /** @type {(this: http.Server, event: string, ...args: unknown[]) => boolean} */ (
  http.Server.prototype.emit
);
http.Server.prototype.emit = function delayed(/** @type {string} */ event, /** @type {unknown[]} */ ...args) {
  if (event !== "request") return emit.call(this, event, ...args);
  pending--;
  new Timer(
    () => {
      pending++;
      emit.call(this, event, ...args);
    },
    LATENCY_MS,
    false,
  );
  return true;
};

/** Returns the timer that is due first. */
function nextTimer() {
  /** @type {Timer | undefined} */
  let first;
  for (const each of timers) {
    if (!first || each.at < first.at || (each.at === first.at && each.number < first.number)) first = each;
  }
  return first;
}

/** Returns `true` while the machine is working, for example reading a file. */
function isWorking() {
  return process.getActiveResourcesInfo().some((name) => /^FS|Wrap$/.test(name) && !/^(TCP|Pipe|Server)/.test(name));
}

/** @param {number} quiet turns without activity so far */
function turn(quiet) {
  if (pending > 0 || isWorking()) return inNextTurn(turn, 0);
  if (quiet < QUIET_TURNS) return inNextTurn(turn, quiet + 1);
  const next = nextTimer();
  if (next) {
    now = Math.max(now, next.at);
    next.run();
  }
  inNextTurn(turn, 0);
}

/** Starts the virtual clock. */
function useVirtualTime() {
  performance.now = () => now;
  Date.now = () => Math.round(startedAt + now);
  const make = (/** @type {boolean} */ repeats) =>
    /** @type {(callback: (...args: unknown[]) => void, ms: number, ...args: unknown[]) => Timer} */ (
      (callback, ms, ...args) => new Timer(() => callback(...args), ms, repeats)
    );
  const clear = (/** @type {unknown} */ timer) => void timers.delete(/** @type {Timer} */ (timer));
  Object.assign(globalThis, {
    setTimeout: make(false),
    setInterval: make(true),
    clearTimeout: clear,
    clearInterval: clear,
  });
  inNextTurn(turn, 0);
}

module.exports = { useVirtualTime };
