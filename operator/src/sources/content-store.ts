/** Fetched content in memory: each digest once, for as long as an owner has it, within a budget. */
import type { Fetched } from './source.ts';

interface Kept {
  readonly content: Fetched;
  /** How many owners of each namespace have it. */
  readonly holders: Map<string, number>;
}

/**
 * A namespace may hold this many times the free rest: alone three quarters of the budget, beside others less. Nothing
 * is ever dropped for new content, so the rest is for later namespaces.
 */
const TIMES_LEFT = 3;

export class ContentStore {
  readonly #most: number;
  readonly #contents = new Map<string, Kept>();
  readonly #held = new Map<string, number>();
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
   * Returns the content to keep, shared with other owners of the same digest: they have fetched it too. Undefined if
   * the budget has no room for it, in all or with the rest of the namespace.
   */
  hold(namespace: string, content: Fetched): Fetched | undefined {
    const id = idOf(content);
    let kept = this.#contents.get(id);
    if (!kept) {
      const left = this.#most - this.#used - content.size;
      if ((this.#held.get(namespace) ?? 0) + content.size > TIMES_LEFT * left) return undefined;
      kept = { content, holders: new Map() };
      this.#contents.set(id, kept);
      this.#used += content.size;
    }
    const owners = kept.holders.get(namespace) ?? 0;
    kept.holders.set(namespace, owners + 1);
    if (owners === 0) this.#count(namespace, kept.content.size);
    return kept.content;
  }

  release(namespace: string, content: Fetched): void {
    const id = idOf(content);
    const kept = this.#contents.get(id);
    const owners = kept?.holders.get(namespace);
    if (!kept || owners === undefined) return;
    if (owners > 1) return void kept.holders.set(namespace, owners - 1);
    kept.holders.delete(namespace);
    this.#count(namespace, -kept.content.size);
    if (kept.holders.size > 0) return;
    this.#contents.delete(id);
    this.#used -= kept.content.size;
  }

  #count(namespace: string, bytes: number): void {
    const held = (this.#held.get(namespace) ?? 0) + bytes;
    if (held > 0) this.#held.set(namespace, held);
    else this.#held.delete(namespace);
  }
}

/** Names content: the same file yields other files as a document and as a plugin, or under another name. */
function idOf({ digest, files }: Fetched): string {
  return JSON.stringify([digest, ...files.keys()]);
}
