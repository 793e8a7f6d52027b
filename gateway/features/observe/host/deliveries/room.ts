/** Memory that an entry holds, from its first byte until it is delivered. */

export class Room {
  readonly #grow: (bytes: number) => (() => void) | null;
  readonly #givesBack: (() => void)[] = [];
  bytes = 0;

  /** `grow`: takes so many more bytes; returns the function that releases them, or null if there is no room. */
  constructor(grow: (bytes: number) => (() => void) | null) {
    this.#grow = grow;
  }

  /** Returns false if there is no room for so many more bytes. */
  take(bytes: number): boolean {
    const giveBack = this.#grow(bytes);
    if (giveBack === null) return false;
    this.#givesBack.push(giveBack);
    this.bytes += bytes;
    return true;
  }

  release(): void {
    for (const giveBack of this.#givesBack.splice(0)) giveBack();
  }
}
