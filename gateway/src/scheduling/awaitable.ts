/** A result that is there at once, unless something has to be waited for. Most requests wait for nothing. */
export type Awaitable<T> = T | Promise<T>;

/** Calls `next` with the value, at once if it is there. */
export function after<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Runs `work`, and calls `failed` if it fails, now or later. */
export function handled(work: () => Awaitable<unknown>, failed: (error: unknown) => void): void {
  try {
    const result = work();
    if (result instanceof Promise) result.catch(failed);
  } catch (error) {
    failed(error);
  }
}
