/** An item of a `Bag`. */
export interface BagItem {
  /** The index in the bag. Set by the bag. */
  place: number;
}

/**
 * A collection of items in any order, for items that are added and removed with each request. A
 * `Map` or a `Set` would double the CPU time of a short request, because it keeps removed items in
 * memory until the next full garbage collection.
 */
export class Bag<Item extends BagItem> {
  readonly #items: Item[] = [];

  add(item: Item): void {
    item.place = this.#items.length;
    this.#items.push(item);
  }

  /** Removes an item, which must be in the bag. */
  remove({ place }: Item): void {
    const last = this.#items.pop();
    if (!last || last.place === place) return;
    last.place = place;
    this.#items[place] = last;
  }

  all(): readonly Item[] {
    return [...this.#items];
  }
}
