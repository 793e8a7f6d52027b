import { describe, expect, it } from 'vitest';
import { filesRequest } from './files-request.ts';

describe('a path of files or batches', () => {
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
  ])('is %s', (path, name) => {
    expect(filesRequest({ path, method: 'GET' })?.surface).toBe(name);
  });

  it.each([
    '/v1/chat/completions',
    '/files',
    '/v1/profiles',
    '/v1/files/file-1/other',
    '/v1/batches/batch_1/content',
    '/v1/files/file-1/v1/messages',
    '/v1/batcheses',
    '/v1/%2566iles',
    '/v1%2Ffiles',
  ])('is not %s', (path) => expect(filesRequest({ path, method: 'GET' })).toBeNull());
});

describe('an operation on files or batches', () => {
  it.each([
    ['POST', '/v1/files', 'upload', null],
    ['GET', '/v1/files', 'list', null],
    ['GET', '/v1/files/a', 'file', 'a'],
    ['DELETE', '/v1/files/a', 'delete', 'a'],
    ['GET', '/v1/files/a/content', 'content', 'a'],
    ['POST', '/v1/batches', 'create', null],
    ['GET', '/v1/batches', 'list', null],
    ['GET', '/v1/batches/a%2Fb', 'batch', 'a%2Fb'],
    ['POST', '/v1/batches/a/cancel', 'cancel', 'a'],
    ['POST', '/v1/files/a', null, 'a'],
    ['HEAD', '/v1/files/a/content', null, 'a'],
  ])('%s %s is %s', (method, path, operation, id) =>
    expect(filesRequest({ path, method })).toMatchObject({ operation, id }),
  );
});
