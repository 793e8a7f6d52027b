/** What happens in a project, as it happens: one stream a project, shared by what is on the page. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ServerEvent } from '../api/event-parser.ts';
import { readEvents } from '../api/event-stream.ts';
import { ApiError } from '../api/problem.ts';

/** Whether changes arrive by themselves at present. */
export const live = signal(false);

type Listener = (event: ServerEvent) => void;
const listeners = new Set<Listener>();

/** Milliseconds from a lost stream to the next attempt; doubled each time, up to the last. */
const BACKOFF = { first: 500, last: 10_000 };

/** Keeps the stream of the project open while it is on the page. After a gap listeners hear `reconnected`. */
export function useProjectStream(projectId: string): void {
  useEffect(() => {
    const abort = new AbortController();
    follow(`/projects/${projectId}/events`, abort.signal);
    return () => abort.abort();
  }, [projectId]);
}

async function follow(path: string, signal: AbortSignal): Promise<void> {
  let wait = BACKOFF.first;
  for (let lost = false; !signal.aborted; lost = true) {
    const opened = () => {
      wait = BACKOFF.first;
      live.value = true;
      if (lost) tell({ name: 'reconnected', data: null });
    };
    await readEvents(path, signal, { opened, event: tell }).catch((error: unknown) => {
      // What is refused now is refused later; what is not there will not come.
      if (error instanceof ApiError && [401, 403, 404].includes(error.status)) wait = Number.POSITIVE_INFINITY;
    });
    live.value = false;
    if (wait === Number.POSITIVE_INFINITY) return;
    await pause(wait, signal);
    wait = Math.min(wait * 2, BACKOFF.last);
  }
}

function tell(event: ServerEvent): void {
  for (const listener of listeners) listener(event);
}

/** Calls for events of these names, and after a gap in the stream. */
export function useLive(names: readonly string[], listener: Listener): void {
  const latest = useRef(listener);
  latest.current = listener;
  const key = names.join();
  useEffect(() => {
    const wanted = new Set([...key.split(','), 'reconnected']);
    const hear = (event: ServerEvent) => wanted.has(event.name) && latest.current(event);
    listeners.add(hear);
    return () => listeners.delete(hear);
  }, [key]);
}

/** Calls at most once in `ms` however often it is asked to; for lists that are read anew. */
export function useLiveReload(names: readonly string[], reload: () => void, ms = 300): void {
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useLive(names, () => {
    timer.current ??= setTimeout(() => {
      timer.current = null;
      reload();
    }, ms);
  });
  useEffect(() => () => void (timer.current && clearTimeout(timer.current)), []);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
