/** Admission reviews over HTTP, as an API server sends them, and as others do. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { isRecord } from '../kube/kube-object.ts';
import { type AdmissionAnswer, admissionHandler } from './admission.ts';

const closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(answer: () => Promise<AdmissionAnswer>) {
  const errors: unknown[] = [];
  const handle = admissionHandler(answer, (error) => errors.push(error));
  const server = createServer((request, response) => void handle(request, response, new URL('http://x/'))).listen(0);
  await once(server, 'listening');
  closing.push(() => server.close().closeAllConnections());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const send = async (body: string, method = 'POST') => {
    const response = await fetch(`http://127.0.0.1:${port}`, { method, ...(method === 'POST' ? { body } : {}) });
    const value: unknown = await response.json();
    return { status: response.status, response: isRecord(value) ? (value['response'] ?? value) : value };
  };
  const review = JSON.stringify({ request: { uid: 'u1', kind: { kind: 'Pod' }, operation: 'CREATE', namespace: 'a' } });
  return { send, review, errors };
}

describe('an admission review', () => {
  it('is answered with its uid, and a patch in base64', async () => {
    const patch = [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }];
    const { send, review } = await serve(async () => ({ allowed: true, patch, warnings: ['one\n  two'] }));
    const { status, response } = await send(review);
    const encoded = Buffer.from(JSON.stringify(patch)).toString('base64');
    expect([status, response]).toEqual([
      200,
      { uid: 'u1', allowed: true, patchType: 'JSONPatch', patch: encoded, warnings: ['one two'] },
    ]);
  });

  it('is refused with a reason, and with as many warnings as a server passes on', async () => {
    const warnings = Array.from({ length: 20 }, (_, n) => `${n} ${'x'.repeat(1000)}`);
    const { send, review } = await serve(async () => ({ allowed: false, message: 'no', code: 422, warnings }));
    const { response } = await send(review);
    expect(response).toMatchObject({ allowed: false, status: { code: 422, reason: 'Invalid', message: 'no' } });
    const shown = isRecord(response) && Array.isArray(response['warnings']) ? response['warnings'] : [];
    expect(shown).toHaveLength(8);
    expect(shown.join('').length).toBeLessThan(4096);
    expect(shown[7]).toBe('and 13 more');
  });

  it('that breaks is 500, so that the failure policy decides, and says nothing of why', async () => {
    const { send, review, errors } = await serve(async () => {
      throw new Error('secret');
    });
    expect(await send(review)).toEqual({
      status: 500,
      response: { error: 'the review failed; see the log of the operator' },
    });
    expect(errors).toHaveLength(1);
  });

  it.each([
    ['no JSON', '{', 400],
    ['no review', '[]', 400],
    ['a review without an operation', '{"request":{"uid":"u"}}', 400],
    ['larger than any object', JSON.stringify({ request: 'x'.repeat(9 << 20) }), 413],
  ])('is none where it is %s', async (_, body, expected) => {
    const { send } = await serve(async () => ({ allowed: true }));
    // A server that stops reading may cut the connection before its answer is read.
    const status = await send(body).then(
      (answer) => answer.status,
      () => 413,
    );
    expect(status).toBe(expected);
  });

  it('is sent by POST', async () => {
    expect((await (await serve(async () => ({ allowed: true }))).send('', 'GET')).status).toBe(405);
  });
});
