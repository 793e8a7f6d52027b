/** Something that a person starts, and that takes a while or fails. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Action<A extends unknown[]> {
  readonly run: (...args: A) => void;
  readonly busy: boolean;
  readonly error: unknown;
  readonly clear: () => void;
}

/** While one run is under way, others are ignored: a double click does a thing once. */
export function useAction<A extends unknown[]>(act: (...args: A) => Promise<unknown>): Action<A> {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const running = useRef(false);
  const mounted = useRef(true);
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    mounted.current = true;
    return () => {
      mounted.current = false;
    };
  }, []);
  const run = useCallback((...args: A) => {
    if (running.current) return;
    running.current = true;
    setBusy(true);
    setError(undefined);
    latest
      .current(...args)
      .catch((failure: unknown) => mounted.current && setError(failure))
      .finally(() => {
        running.current = false;
        if (mounted.current) setBusy(false);
      });
  }, []);
  const clear = useCallback(() => setError(undefined), []);
  return { run, busy, error, clear };
}
