/** What was fetched, in memory: each digest once, for as long as an owner has it, within a budget. */
import type { Fetched } from './source.ts';

export class ContentStore {
  readonly #most: number;
  readonly #contents = new Map<string, { readonly content: Fetched; holders: number }>();
  #used = 0;

  /** `most`: bytes of all contents together. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes held. */
  get used(): number {
    return this.#used;
  }

  /**
   * The content to keep, which is another's of the same digest where there is one: whoever holds it has fetched it.
   * Undefined where it does not fit.
   */
  hold(content: Fetched): Fetched | undefined {
    const id = idOf(content);
    const known = this.#contents.get(id);
    if (known) {
      known.holders++;
      return known.content;
    }
    if (this.#used + content.size > this.#most) return undefined;
    this.#contents.set(id, { content, holders: 1 });
    this.#used += content.size;
    return content;
  }

  release(content: Fetched): void {
    const id = idOf(content);
    const known = this.#contents.get(id);
    if (!known || --known.holders > 0) return;
    this.#contents.delete(id);
    this.#used -= known.content.size;
  }
}

/** The same file is other files as a document and as a plugin, or under another name. */
function idOf({ digest, files }: Fetched): string {
  return JSON.stringify([digest, ...files.keys()]);
}
