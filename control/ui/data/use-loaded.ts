/** Data that a page shows: loaded when it opens, and again when it may have changed. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Loaded<T> {
  /** Undefined until it is there; while it is loaded again, what was there before. */
  readonly data: T | undefined;
  readonly error: unknown;
  readonly loading: boolean;
  readonly reload: () => void;
  /** Replaces what is shown by what is known to be newer. */
  readonly set: (data: T) => void;
}

interface State<T> {
  readonly key: string | null;
  readonly data?: T;
  readonly error?: unknown;
}

/** `key` says what is asked for: when it changes, what was there before is dropped. Null asks for nothing. */
export function useLoaded<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<State<T>>({ key: null });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  // Another turn asks again.
  useEffect(() => {
    if (key === null) return;
    const abort = new AbortController();
    latest.current(abort.signal).then(
      (data) => !abort.signal.aborted && setState({ key, data }),
      (error) => !abort.signal.aborted && setState((last) => ({ ...(last.key === key ? last : {}), key, error })),
    );
    return () => abort.abort();
  }, [key, turn]);
  const reload = useCallback(() => setTurn((last) => last + 1), []);
  const set = useCallback((data: T) => setState({ key, data }), [key]);
  const current = state.key === key ? state : {};
  const { data, error } = current as Partial<State<T>>;
  return { data, error, loading: key !== null && data === undefined && error === undefined, reload, set };
}
