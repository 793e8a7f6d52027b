/** Idempotency-Key over REST, on both databases. */
import { load } from 'js-yaml';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DATABASE_AT_HAND, testDatabase, unopenedDatabase } from '../../../test/control/database.ts';
import { type AskInit, type ControlServer, startControl } from '../../../test/control/server.ts';
import { IdempotencyKey } from './idempotency-key.ts';

describe.each(DATABASE_AT_HAND)('Idempotency-Key on %s', (_name, kind, absent) => {
  describe.skipIf(absent)('over REST', () => {
    let database: Awaited<ReturnType<typeof unopenedDatabase>>;
    let control: ControlServer;
    let other: ControlServer;
    beforeAll(async () => {
      database = await unopenedDatabase(kind);
      control = await startControl({ databaseUrl: database.url });
      other = kind === 'postgres' ? await startControl({ databaseUrl: database.url }) : control;
    });
    afterAll(async () => {
      if (other !== control) await other?.stop();
      await control?.stop();
      await database?.drop();
    });

    const post = async (
      key: string,
      json: unknown,
      { server = control, ...init }: AskInit & { server?: ControlServer } = {},
    ) => {
      const answer = await server.ask('/projects', {
        method: 'POST',
        json,
        headers: { 'idempotency-key': key },
        ...init,
      });
      return {
        status: answer.status,
        replayed: answer.headers.get('idempotency-replayed'),
        retryAfter: answer.headers.get('retry-after'),
        location: answer.headers.get('location'),
        etag: answer.headers.get('etag'),
        type: answer.headers.get('content-type'),
        body: (await answer.json()) as Record<string, unknown>,
      };
    };

    it('answers the same request as before, headers and all, and does nothing again', async () => {
      const first = await post('a', { name: 'once' });
      const again = await post('a', { name: 'once' }, { server: other });
      expect(first).toMatchObject({ status: 201, replayed: null, etag: '"1"' });
      expect(again).toEqual({ ...first, replayed: 'true' });
      const created = await control.get<object[]>('/audit?action=projects.create&limit=200');
      expect(created.filter((entry) => JSON.stringify(entry).includes('"once"'))).toHaveLength(1);
    });

    it('is taken by every POST but those whose answer holds a secret, which refuse it and make nothing', async () => {
      interface Posted {
        readonly post?: { readonly operationId: string; readonly parameters?: readonly { readonly name: string }[] };
      }
      const { paths } = load(await (await control.ask('/openapi')).text()) as { paths: Record<string, Posted> };
      const posts = Object.values(paths).flatMap(({ post: each }) => each ?? []);
      const without = posts.filter(({ parameters = [] }) => !parameters.some(({ name }) => name === 'idempotency-key'));
      expect(posts.length).toBeGreaterThan(10);
      expect(without.map(({ operationId }) => operationId).sort()).toEqual(['apiKeys.create', 'tokens.create']);
      const { body: project } = await post('secret', { name: 'secrets' });
      const asked = {
        '/tokens': { name: 'unseen', role: 'viewer' },
        [`/projects/${project['id']}/api-keys`]: { name: 'unseen' },
      };
      for (const [path, json] of Object.entries(asked)) {
        const refused = await control.ask(path, { method: 'POST', json, headers: { 'idempotency-key': 'k' } });
        expect([refused.status, await refused.json()]).toMatchObject([
          400,
          { detail: expect.stringContaining('send the request without Idempotency-Key') },
        ]);
        expect(await control.get(path)).toEqual([]);
        expect((await control.ask(path, { method: 'POST', json })).status).toBe(201);
      }
    });

    it('refuses the key of another request', async () => {
      await post('b', { name: 'b1' });
      expect(await post('b', { name: 'b2' })).toMatchObject({
        status: 422,
        replayed: null,
        body: { type: 'urn:gw:error:idempotency-key-reused' },
      });
    });

    it('keeps refusals by the operation, and not what was refused before it', async () => {
      await post('c1', { name: 'c' });
      expect(await post('c2', { name: 'c' })).toMatchObject({ status: 409, replayed: null });
      expect(await post('c2', { name: 'c' })).toMatchObject({
        status: 409,
        replayed: 'true',
        type: 'application/problem+json',
        body: { type: 'urn:gw:error:conflict' },
      });
      expect(await post('c3', { name: '' })).toMatchObject({ status: 400, replayed: null });
      expect(await post('c3', { name: 'c3' })).toMatchObject({ status: 201, replayed: null });
    });

    it('does once what is asked for many times at once, at any replica', async () => {
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, i) => post('d', { name: 'd' }, { server: i % 2 ? other : control })),
      );
      const made = answers.filter(({ status, replayed }) => status === 201 && replayed === null);
      expect(made).toHaveLength(1);
      for (const answer of answers) {
        if (answer.status === 409)
          expect([answer.retryAfter, answer.body['detail']]).toEqual(['1', expect.stringContaining('in progress')]);
        else expect(answer.body).toEqual(made[0]?.body);
      }
      expect(await post('d', { name: 'd' })).toMatchObject({ status: 201, replayed: 'true' });
    });

    it('is by caller', async () => {
      const { token } = await control.get<{ token: string }>('/tokens', {
        method: 'POST',
        json: { name: 'other', role: 'admin' },
      });
      await post('e', { name: 'e1' });
      expect(await post('e', { name: 'e2' }, { token })).toMatchObject({ status: 201, replayed: null });
    });

    it.each(['', 'a b', 'x'.repeat(256), 'ü'])('refuses the key %j', async (key) => {
      expect((await post(key, { name: 'never' })).status).toBe(400);
    });
  });

  describe.skipIf(absent)('in its table', () => {
    let database: Awaited<ReturnType<typeof testDatabase>>;
    beforeAll(async () => {
      database = await testDatabase(kind);
    });
    afterAll(() => database?.close());
    const key = (name: string) => new IdempotencyKey(database.db.kysely, 'admin', name);
    const answer = { status: 201, headers: { etag: '"1"' }, body: { text: 'a\u0000b' } };

    it('is taken over when its replica has died, and then what the first keeps does not count', async () => {
      const [first, second] = [key('died'), key('died')];
      expect(await first.claim('same')).toBe('mine');
      expect(await second.claim('same')).toBe('under way');
      await sql`update idempotency_keys set claimed_at = now() - interval '61 seconds' where key = 'died'`.execute(
        database.db.kysely,
      );
      await expect(second.claim('else')).rejects.toThrow('another request');
      expect(await second.claim('same')).toBe('mine');
      await first.keep({ ...answer, status: 500 });
      await first.release();
      await second.keep(answer);
      expect(await key('died').claim('same')).toEqual(answer);
    });

    it('is renewed while at work, and free again when released', async () => {
      const first = key('long');
      await first.claim('same');
      await sql`update idempotency_keys set claimed_at = now() - interval '61 seconds' where key = 'long'`.execute(
        database.db.kysely,
      );
      await first.renew();
      expect(await key('long').claim('same')).toBe('under way');
      await first.release();
      expect(await key('long').claim('else')).toBe('mine');
    });

    it('is forgotten after a day', async () => {
      const first = key('old');
      await first.claim('same');
      await first.keep(answer);
      await sql`update idempotency_keys set created_at = now() - interval '25 hours' where key = 'old'`.execute(
        database.db.kysely,
      );
      expect(await key('old').claim('else')).toBe('mine');
      expect(await key('old').claim('else')).toBe('under way');
    });
  });
});
