/** What an entry takes in memory, from when it begins to come until it is delivered. */

export class Room {
  readonly #grow: (bytes: number) => (() => void) | null;
  readonly #givesBack: (() => void)[] = [];
  bytes = 0;

  /** `grow`: takes so much more; null where there is none, else what gives it back. */
  constructor(grow: (bytes: number) => (() => void) | null) {
    this.#grow = grow;
  }

  /** False where there is no room for so much more. */
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
