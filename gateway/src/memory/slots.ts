/** The slot of a member that is in no set. */
export const NO_SLOT = -1;

/**
 * A set for objects that live as long as a request or a connection (docs/decisions.md#short-lived-members).
 *
 * V8's Set and Map must not hold them. When such a table is full of deleted entries, V8 makes a new table, and the old
 * one keeps a reference to it. Once one table has moved to the old generation, each minor collection keeps the next
 * one, and with it the members of that time: requests pile up in the old generation, and collections pause the process
 * for tens of milliseconds. A slot is emptied when its member leaves, so that nothing refers to it.
 */
export class Slots<T extends object> {
  readonly #members: (T | null)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#members.length - this.#free.length;
  }

  /** Returns the slot, with which the member leaves. A member may be added once. */
  add(member: T): number {
    const slot = this.#free.pop();
    if (slot === undefined) return this.#members.push(member) - 1;
    this.#members[slot] = member;
    return slot;
  }

  /** Returns the member in a slot; null if the slot is empty. */
  at(slot: number): T | null {
    return this.#members[slot] ?? null;
  }

  /** Returns false if the member has left its slot already, or never had one. */
  remove(slot: number, member: T): boolean {
    if (this.#members[slot] !== member) return false;
    this.#members[slot] = null;
    this.#free.push(slot);
    return true;
  }

  /** Iterates in no particular order. Members may be removed meanwhile. */
  *[Symbol.iterator](): Generator<T> {
    for (const member of this.#members) if (member !== null) yield member;
  }
}
