/** Live events of a project: one stream a project, shared by what is on the page. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ApiError } from '../../src/client/api-error.ts';
import type { StreamEvent } from '../../src/client/operation-types.ts';
import { client } from '../api/client.ts';

/** Whether changes arrive by themselves at present. */
export const live = signal(false);

type EventName = StreamEvent<'projects.events'>['event'];
/** `reconnected`: the stream was lost, and is there again. */
type Listener = (name: EventName | 'reconnected') => void;
const listeners = new Set<Listener>();

/** Milliseconds from a lost stream to the next attempt; doubled each time, up to the last. */
const BACKOFF = { first: 500, last: 10_000 };

/** Keeps the stream of the project open while it is on the page. After a gap listeners hear `reconnected`. */
export function useProjectStream(id: string): void {
  useEffect(() => {
    const abort = new AbortController();
    follow(id, abort.signal);
    return () => abort.abort();
  }, [id]);
}

async function follow(id: string, signal: AbortSignal): Promise<void> {
  let wait = BACKOFF.first;
  for (let lost = false; !signal.aborted; lost = true) {
    try {
      const events = await client.events('projects.events', { params: { id } }, { signal });
      wait = BACKOFF.first;
      live.value = true;
      if (lost) tell('reconnected');
      for await (const { event } of events) tell(event);
    } catch (error) {
      // A retry would be refused, or not found, again.
      if (error instanceof ApiError && [401, 403, 404].includes(error.status)) return;
    } finally {
      live.value = false;
    }
    await pause(wait, signal);
    wait = Math.min(wait * 2, BACKOFF.last);
  }
}

function tell(name: EventName | 'reconnected'): void {
  for (const listener of listeners) listener(name);
}

/** Calls for events of these names, and after a gap in the stream. */
function useLive(names: readonly EventName[], listener: () => void): void {
  const latest = useRef(listener);
  latest.current = listener;
  const key = names.join();
  useEffect(() => {
    const wanted = new Set<string>([...key.split(','), 'reconnected']);
    const hear: Listener = (name) => wanted.has(name) && latest.current();
    listeners.add(hear);
    return () => listeners.delete(hear);
  }, [key]);
}

/** Calls at most once in `ms` however often it is asked to; for lists that are read anew. */
export function useLiveReload(names: readonly EventName[], reload: () => void, ms = 300): void {
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
