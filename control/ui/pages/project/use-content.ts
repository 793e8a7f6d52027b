/** The files of a revision of a spec. */
import { send } from '../../api/client.ts';
import type { SpecRevision } from '../../api/types.ts';
import { type Loaded, useLoaded } from '../../data/use-loaded.ts';
import { filesOf } from '../../editor/archive.ts';

/** Contents by path, a document by the name that it is compiled under; a revision never changes, so it is asked for once. */
export function useContent(specId: string, revision: SpecRevision | undefined): Loaded<ReadonlyMap<string, string>> {
  const path = revision ? `/specs/${specId}/content?revision=${revision.revision}` : null;
  return useLoaded(path, async (signal) =>
    filesOf(await (await send('GET', path ?? '', { signal })).blob(), revision?.filename ?? '', revision?.entry ?? ''),
  );
}
