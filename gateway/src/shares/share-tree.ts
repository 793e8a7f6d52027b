/**
 * Holdings of owners in a shared resource. Owners are nested (`OwnerPath`), and shares bind at each level: when room
 * runs out, the one that holds most yields, no matter which asks (docs/decisions.md#shared-limits). Every step takes
 * the same time, however many owners there are.
 */
import { Chain, type Link } from './chain.ts';
import type { OwnerPath } from './owner-path.ts';

/** Something that is held. */
export interface Entry<T> extends Link<Entry<T>> {
  value: T;
  readonly weight: number;
  readonly owner: Owner<T>;
}

/** An owner that holds entries itself, or has children that do. Linked with owners of similar weight. */
interface Owner<T> extends Link<Owner<T>> {
  readonly name: string;
  readonly parent: Owner<T> | null;
  weight: number;
  /** In the order of their turns. */
  children: Map<string, Owner<T>> | null;
  /** Children by the class of their weight. */
  ranks: Chain<Owner<T>>[] | null;
  readonly entries: Chain<Entry<T>>;
}

export class ShareTree<T> {
  readonly #root: Owner<T> = newOwner<T>('', null);

  /** Weight of all entries. */
  get weight(): number {
    return this.#root.weight;
  }

  /** Returns the owner's weight, with all that is below it. */
  weightOf(path: OwnerPath): number {
    let owner: Owner<T> | undefined = this.#root;
    for (const name of path) owner = owner?.children?.get(name);
    return owner?.weight ?? 0;
  }

  /** Adds an entry. All paths of a tree end at the same kind of owner: one that holds entries has no children. */
  add(path: OwnerPath, value: T, weight = 1): Entry<T> {
    let owner = this.#root;
    for (const name of path) owner = childOf(owner, name);
    const entry: Entry<T> = { value, weight, owner, older: null, newer: null };
    owner.entries.append(entry);
    weigh(owner, weight);
    return entry;
  }

  remove(entry: Entry<T>): void {
    entry.owner.entries.unlink(entry);
    weigh(entry.owner, -entry.weight);
  }

  /** Makes it the newest of its owner, which becomes the last to yield among those that hold as much. */
  touch(entry: Entry<T>): void {
    entry.owner.entries.touch(entry);
    for (let each: Owner<T> = entry.owner; each.parent !== null; each = each.parent) {
      each.parent.ranks?.[rankOf(each.weight)]?.touch(each);
    }
  }

  /** The same owner's, with another weight; it is the newest then. */
  replace(entry: Entry<T>, value: T, weight: number): Entry<T> {
    const replaced: Entry<T> = { value, weight, owner: entry.owner, older: null, newer: null };
    entry.owner.entries.append(replaced);
    entry.owner.entries.unlink(entry);
    weigh(entry.owner, weight - entry.weight);
    return replaced;
  }

  /**
   * Returns the oldest entry of the owner that holds most, if `path` would hold less with `weight` more. `ties`: also
   * if it holds nothing yet, and would hold as much. Null: `path` is the one that holds most.
   */
  yielding(path: OwnerPath, weight = 1, { ties = false } = {}): Entry<T> | null {
    let owner = this.#root;
    for (const name of path) {
      const own = owner.children?.get(name);
      const wanted = (own?.weight ?? 0) + weight;
      const other = heaviest(owner, own);
      if (other !== null && (other.weight > wanted || (ties && own === undefined && other.weight === wanted))) {
        return heaviestOf(other).entries.oldest;
      }
      if (own === undefined) return null;
      owner = own;
    }
    return null;
  }

  /** Iterates over the values, by owner. */
  *[Symbol.iterator](): Generator<T> {
    yield* valuesOf(this.#root);
  }

  /** Returns the oldest entry of this very owner; null if it has none. */
  oldestOf(path: OwnerPath): Entry<T> | null {
    let owner: Owner<T> | undefined = this.#root;
    for (const name of path) owner = owner?.children?.get(name);
    return owner?.entries.oldest ?? null;
  }

  /** Returns the oldest entry of the next owner in turn, of those that `may`, by their outermost names. */
  inTurn(may: (name: string) => boolean = () => true): Entry<T> | null {
    let owner = this.#root;
    while (owner.children !== null) {
      const { children }: Owner<T> = owner;
      const next =
        owner === this.#root ? children.values().find(({ name }) => may(name)) : children.values().next().value;
      if (next === undefined) return null;
      children.delete(next.name);
      children.set(next.name, next);
      owner = next;
    }
    return owner.entries.oldest;
  }
}

function* valuesOf<T>(owner: Owner<T>): Generator<T> {
  for (const child of owner.children?.values() ?? []) yield* valuesOf(child);
  for (let each = owner.entries.oldest; each !== null; each = each.newer) yield each.value;
}

function newOwner<T>(name: string, parent: Owner<T> | null): Owner<T> {
  return { name, parent, weight: 0, children: null, ranks: null, entries: new Chain(), older: null, newer: null };
}

function childOf<T>(owner: Owner<T>, name: string): Owner<T> {
  owner.children ??= new Map();
  const known = owner.children.get(name);
  if (known !== undefined) return known;
  const child = newOwner(name, owner);
  owner.children.set(name, child);
  return child;
}

function weigh<T>(owner: Owner<T>, by: number): void {
  for (let each: Owner<T> | null = owner; each !== null; each = each.parent) {
    const { parent }: Owner<T> = each;
    const before = each.weight;
    each.weight += by;
    if (parent === null) continue;
    if (each.weight === 0) {
      parent.children?.delete(each.name);
      if (parent.children?.size === 0) parent.children = null;
    }
    rank(parent, each, before);
  }
}

function rank<T>(parent: Owner<T>, child: Owner<T>, before: number): void {
  const [from, to] = [rankOf(before), rankOf(child.weight)];
  if (from === to) return;
  parent.ranks ??= [];
  if (before > 0) parent.ranks[from]?.unlink(child);
  if (child.weight === 0) return;
  while (parent.ranks.length <= to) parent.ranks.push(new Chain());
  parent.ranks[to]?.append(child);
}

/** Weights up to 7 have a class each, larger ones four for each power of two. */
function rankOf(weight: number): number {
  if (weight < 8) return weight;
  const power = 31 - Math.clz32(weight);
  return 8 + (power - 3) * 4 + ((weight >> (power - 2)) & 3);
}

/** Returns a child of the highest class; null without a child other than `but`. */
function heaviest<T>({ ranks }: Owner<T>, but?: Owner<T>): Owner<T> | null {
  for (let at = (ranks?.length ?? 0) - 1; at > 0; at--) {
    const oldest = ranks?.[at]?.oldest ?? null;
    const found = oldest !== null && oldest === but ? oldest.newer : oldest;
    if (found !== null) return found;
  }
  return null;
}

function heaviestOf<T>(owner: Owner<T>): Owner<T> {
  let found = owner;
  for (let next = heaviest(found); next !== null; next = heaviest(found)) found = next;
  return found;
}
