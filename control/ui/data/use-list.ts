/** A list of the server: a page at a time, or all of it. */
import { useState } from 'preact/hooks';
import type { Page } from '../../src/client/client.ts';
import type { Input, Item, ListId } from '../../src/client/operation-types.ts';
import { client } from '../api/client.ts';
import { type Loaded, useLoaded } from './use-loaded.ts';

export interface LoadedList<T> extends Loaded<Page<T>> {
  readonly items: readonly T[] | undefined;
  /** Loads the next page; null on the last page. */
  readonly more: (() => void) | null;
  readonly loadingMore: boolean;
}

/** Input of every list. */
interface PageInput {
  readonly query?: { readonly cursor?: string | undefined };
}

export function useList<Id extends ListId>(id: Id, input: Input<Id> & PageInput): LoadedList<Item<Id>> {
  const loaded = useLoaded(JSON.stringify([id, input]), (signal) => client.page(id, input, { signal }));
  const { data, set, reload } = loaded;
  const [loadingMore, setLoadingMore] = useState(false);
  const more = () => {
    if (!data?.next) return;
    setLoadingMore(true);
    // Where the next page cannot be had, the list is read anew, and says why.
    client
      .page(id, { ...input, query: { ...input.query, cursor: data.next } })
      .then((page) => set({ items: [...data.items, ...page.items], next: page.next }), reload)
      .finally(() => setLoadingMore(false));
  };
  return { ...loaded, items: data?.items, more: data?.next ? more : null, loadingMore };
}

/** Every page, for lists that are chosen from. At most `limit` items. */
export function useAll<Id extends ListId>(id: Id, input: Input<Id>, limit = 2000): Loaded<readonly Item<Id>[]> {
  const key = JSON.stringify([id, input]);
  return useLoaded<readonly Item<Id>[]>(key, (signal) => client.list(id, input, { signal, limit }));
}
