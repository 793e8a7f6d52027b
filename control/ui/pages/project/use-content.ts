/** The files of a revision of a spec. */
import { client } from '../../api/client.ts';
import type { SpecRevision } from '../../api/types.ts';
import { type Loaded, useLoaded } from '../../data/use-loaded.ts';
import { filesOf } from '../../editor/archive.ts';

/** Contents by path, a document by the name that it is compiled under; a revision never changes, so it is asked for once. */
export function useContent(
  specId: string,
  revision: SpecRevision | undefined,
  bindings: 'with' | 'without' = 'with',
): Loaded<ReadonlyMap<string, string>> {
  const key = revision ? `${specId} ${revision.revision} ${bindings}` : null;
  return useLoaded(key, async (signal) => {
    const query = { revision: revision?.revision, bindings };
    const response = await client.response('specs.content', { params: { id: specId }, query }, { signal });
    return filesOf(await response.blob(), revision?.filename ?? '', revision?.entry ?? '');
  });
}
