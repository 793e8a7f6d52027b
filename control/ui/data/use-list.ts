/** A list of the server, a page at a time. */
import { useCallback, useState } from 'preact/hooks';
import { list, type Page } from '../api/client.ts';
import { type Loaded, useLoaded } from './use-loaded.ts';

export interface LoadedList<T> extends Loaded<Page<T>> {
  readonly items: readonly T[] | undefined;
  /** Loads the next page; null where there is none. */
  readonly more: (() => void) | null;
  readonly loadingMore: boolean;
}

/** `path` with its query; null asks for nothing. */
export function useList<T>(path: string | null): LoadedList<T> {
  const loaded = useLoaded<Page<T>>(path, (signal) => list<T>(path ?? '', signal));
  const { data, set, reload } = loaded;
  const [loadingMore, setLoadingMore] = useState(false);
  const more = useCallback(() => {
    if (!data?.next) return;
    setLoadingMore(true);
    // Where the next page cannot be had, the list is read anew, and says why.
    list<T>(data.next)
      .then((page) => set({ items: [...data.items, ...page.items], next: page.next }), reload)
      .finally(() => setLoadingMore(false));
  }, [data, set, reload]);
  return { ...loaded, items: data?.items, more: data?.next ? more : null, loadingMore };
}

/** Every page, for lists that are chosen from. At most `limit` items. */
export async function listAll<T>(path: string, signal?: AbortSignal, limit = 2000): Promise<readonly T[]> {
  const items: T[] = [];
  let next: string | null = path;
  while (next !== null && items.length < limit) {
    const page: Page<T> = await list<T>(next, signal);
    items.push(...page.items);
    next = page.next;
  }
  return items;
}
