/** Work that is done one after another where it is for the same key. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  take(key: string, work: () => Promise<void>): Promise<void> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const done = before.then(work, work);
    this.#last.set(key, done);
    const leave = () => {
      if (this.#last.get(key) === done) this.#last.delete(key);
    };
    done.then(leave, leave);
    return done;
  }
}
