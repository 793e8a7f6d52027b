import { describe, expect, it } from 'vitest';
import { notServed } from './not-served.ts';

describe('a path of files, batches, or keys and calls of sessions', () => {
  it.each([
    ['/v1/files', 'files'],
    ['/team/v1/files/file-1', 'files'],
    ['/v1/%66iles', 'files'],
    ['/v1/b%61t%63%68es/%5A', 'batches'],
    ['/v1/files/..%2Fbatches', 'files'],
    ['/v1/files/file-1/content', 'files'],
    ['/v1/batches', 'batches'],
    ['/v1/batches/batch_1', 'batches'],
    ['/v1/batches/batch_1/cancel', 'batches'],
    ['/v1/realtime/client_secrets', 'realtime_keys'],
    ['/v1/r%65altime/sessions', 'realtime_keys'],
    ['/v1/realtime/transcription_sessions', 'realtime_keys'],
    ['/v1/realtime/calls', 'realtime_calls'],
    ['/v1/realtime/calls/rtc_1/accept', 'realtime_calls'],
  ])('is %s', (path, name) => {
    expect(notServed(path)?.problem).toMatchObject({
      status: 400,
      members: { code: `${name}_not_supported`, error: { type: 'invalid_request_error' } },
    });
  });

  it.each([
    '/v1/chat/completions',
    '/files',
    '/v1/profiles',
    '/v1/files/file-1/other',
    '/v1/batches/batch_1/content',
    '/v1/files/file-1/v1/messages',
    '/v1/realtime',
    '/realtime/calls',
    '/v1/batcheses',
    '/v1/%2566iles',
    '/v1%2Ffiles',
  ])('is not %s', (path) => expect(notServed(path)).toBeNull());
});
