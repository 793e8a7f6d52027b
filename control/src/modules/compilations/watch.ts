/** Follows a compilation: notifications trigger reads, polling finds missed ones. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../context.ts';
import { readCompilationNotification } from './notifications.ts';
import { present } from './present.ts';
import type { Compilation } from './schemas.ts';
import { findCompilation } from './store.ts';

/** Milliseconds between reads without a notification. */
const POLL_MS = 5_000;

export async function* changesOf(
  { db }: Context,
  first: Compilation,
  signal?: AbortSignal,
): AsyncGenerator<Compilation> {
  let wake = new AbortController();
  const look = () => wake.abort();
  const stop = db.notifications.listen(
    'compilations',
    (payload) => {
      if (readCompilationNotification(payload).id === first.id) look();
    },
    look,
  );
  signal?.addEventListener('abort', look, { once: true });
  try {
    yield first;
    for (let last = first; !hasEnded(last) && !signal?.aborted; ) {
      // Before the read of the table: a change during it triggers another read.
      const { signal: changed } = wake;
      const row = await findCompilation(db.kysely, first.id);
      if (!row) return;
      const now = present(row);
      if (JSON.stringify(now) !== JSON.stringify(last)) yield now;
      last = now;
      if (hasEnded(now) || signal?.aborted) return;
      await sleep(POLL_MS, undefined, { signal: changed }).catch(() => {});
      wake = changed.aborted ? new AbortController() : wake;
    }
  } finally {
    stop();
    signal?.removeEventListener('abort', look);
  }
}

function hasEnded({ status }: Pick<Compilation, 'status'>): boolean {
  return status === 'succeeded' || status === 'failed';
}
