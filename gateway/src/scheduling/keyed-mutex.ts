/** Runs work of one name one at a time, in the order in which it arrives. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Settles as `work` does, once the earlier work of this name has ended, even if it failed. */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const own = before.then(work, work);
    this.#last.set(name, own);
    try {
      return await own;
    } finally {
      if (this.#last.get(name) === own) this.#last.delete(name);
    }
  }
}
