/** The REST API with the token of the session. */
import { type CallOptions, ControlClient } from '../../src/client/client.ts';
import { expire, token } from './session.ts';

/** An answer of 401 ends the session. */
export const client = new ControlClient({
  token: () => token.value ?? undefined,
  fetch: async (url, init) => {
    const response = await fetch(url, { ...init, credentials: 'omit' });
    if (response.status === 401) expire();
    return response;
  },
});

/** Returns options for a change of a resource only if it still is as read; without an ETag, for any change. */
export function ifMatch(etag: string | null | undefined): CallOptions {
  return etag ? { headers: { 'if-match': etag } } : {};
}
