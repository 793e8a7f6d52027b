import { describe, expect, it } from 'vitest';
import { unsupportedPath } from './unsupported-paths.ts';

describe('a path of keys or calls of sessions', () => {
  it.each([
    ['/v1/realtime/client_secrets', 'realtime_keys'],
    ['/v1/r%65altime/sessions', 'realtime_keys'],
    ['/v1/realtime/transcription_sessions', 'realtime_keys'],
    ['/v1/realtime/calls', 'realtime_calls'],
    ['/v1/realtime/calls/rtc_1/accept', 'realtime_calls'],
  ])('is %s', (path, name) => {
    expect(unsupportedPath(path)?.problem).toMatchObject({
      status: 400,
      members: { code: `${name}_not_supported`, error: { type: 'invalid_request_error' } },
    });
  });

  it.each([
    '/v1/chat/completions',
    '/v1/realtime',
    '/realtime/calls',
    '/v1/realtime/calls/rtc_1/accept/now',
    '/v1/%2572ealtime/calls',
    '/v1%2Frealtime/calls',
  ])('is not %s', (path) => expect(unsupportedPath(path)).toBeNull());
});
