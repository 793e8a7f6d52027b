/** One at a time of each name, in the order in which they come. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /** As `work` resolves or rejects, once those before it of this name have ended, however that is. */
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
