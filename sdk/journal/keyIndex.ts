import { createHash } from "node:crypto";

/**
 * How many 32-bit numbers of a key's hash are stored. No two keys have the same first 128 bits of
 * their SHA-256.
 */
const WORDS = 4;

/** The fraction of the table that may be in use before the table grows. */
const FULLEST = 0.7;

/**
 * Stores the position of each key's line, in 24 bytes per key. A `Map` with a million keys would
 * take ten times as much memory.
 */
export class KeyIndex {
  #slots = 1 << 10;
  #words = new Uint32Array(this.#slots * WORDS);
  /** The position of each line plus 1. A value of 0 means that the slot is free. */
  #places = new Float64Array(this.#slots);
  #size = 0;

  /** The number of keys. */
  get size(): number {
    return this.#size;
  }

  /** Returns the position of a key's line. */
  get(key: string): number | undefined {
    const place = this.#places[this.#slotOf(wordsOf(key), 0)] ?? 0;
    return place === 0 ? undefined : place - 1;
  }

  set(key: string, place: number): void {
    if (this.#size >= this.#slots * FULLEST) this.#grow();
    this.#put(wordsOf(key), 0, place + 1);
  }

  #put(words: Uint32Array, at: number, place: number): void {
    const slot = this.#slotOf(words, at);
    if (this.#places[slot] === 0) this.#size++;
    this.#words.set(words.subarray(at, at + WORDS), slot * WORDS);
    this.#places[slot] = place;
  }

  /**
   * Returns the slot that contains a hash or, if there is none, the free slot where the hash
   * belongs.
   */
  #slotOf(words: Uint32Array, at: number): number {
    for (let slot = (words[at] ?? 0) % this.#slots; ; slot = (slot + 1) % this.#slots) {
      if (this.#places[slot] === 0) return slot;
      let same = 0;
      while (same < WORDS && this.#words[slot * WORDS + same] === words[at + same]) same++;
      if (same === WORDS) return slot;
    }
  }

  #grow(): void {
    const words = this.#words;
    const places = this.#places;
    this.#slots *= 2;
    this.#words = new Uint32Array(this.#slots * WORDS);
    this.#places = new Float64Array(this.#slots);
    this.#size = 0;
    places.forEach((place, slot) => {
      if (place > 0) this.#put(words, slot * WORDS, place);
    });
  }
}

function wordsOf(key: string): Uint32Array {
  const hash = createHash("sha256").update(key).digest();
  return new Uint32Array(hash.buffer.slice(hash.byteOffset, hash.byteOffset + 4 * WORDS));
}
