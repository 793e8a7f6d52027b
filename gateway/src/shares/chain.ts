/**
 * A list whose links are in its nodes. A Map keeps an order, too, but finding the first key takes as long as the number
 * of deleted keys before it.
 */
export interface Link<N> {
  older: N | null;
  newer: N | null;
}

export class Chain<N extends Link<N>> {
  oldest: N | null = null;
  newest: N | null = null;

  append(node: N): void {
    node.older = this.newest;
    node.newer = null;
    if (this.newest === null) this.oldest = node;
    else this.newest.newer = node;
    this.newest = node;
  }

  /** Only of a node that is in it. */
  unlink(node: N): void {
    const { older, newer } = node;
    if (older === null) this.oldest = newer;
    else older.newer = newer;
    if (newer === null) this.newest = older;
    else newer.older = older;
    node.older = null;
    node.newer = null;
  }

  /** Makes it the newest. */
  touch(node: N): void {
    if (node.newer === null) return;
    this.unlink(node);
    this.append(node);
  }
}
