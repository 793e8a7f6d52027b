/** Specs over REST, on both databases. */
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProject } from '../../../../test/control/compiling.ts';
import { DATABASE_AT_HAND, unopenedDatabase } from '../../../../test/control/database.ts';
import { ADMIN_TOKEN, type ControlServer, startControl } from '../../../../test/control/server.ts';
import type { Spec, SpecOperation, SpecRevision, SpecUpload } from './schemas.ts';

const NOWHERE = '00000000-0000-4000-8000-000000000000';
const document = (title: string, paths = '{}') =>
  `openapi: 3.1.0\ninfo: { title: ${title}, version: "7" }\npaths: ${paths}\n`;
const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function tar(files: Readonly<Record<string, string>>, link?: string): Promise<Uint8Array<ArrayBuffer>> {
  const archive = pack();
  for (const [name, text] of Object.entries(files)) archive.entry({ name, mtime: new Date(0) }, text);
  if (link !== undefined) archive.entry({ name: link, type: 'symlink', linkname: '/etc/passwd' });
  archive.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of archive) if (chunk instanceof Uint8Array) chunks.push(chunk);
  return Uint8Array.from(Buffer.concat(chunks));
}

interface Upload {
  readonly filename?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

describe.each(DATABASE_AT_HAND)('specs on %s', (_name, kind, absent) => {
  describe.skipIf(absent)('over REST', () => {
    let database: Awaited<ReturnType<typeof unopenedDatabase>>;
    let server: ControlServer;
    beforeAll(async () => {
      database = await unopenedDatabase(kind);
      server = await startControl({ databaseUrl: database.url, args: ['--admin-bind', 'off'] });
    });
    afterAll(async () => {
      await server?.stop();
      await database?.drop();
    });

    function upload(content: string | Uint8Array<ArrayBuffer>, options: Upload = {}): Promise<Response> {
      const { filename = `${crypto.randomUUID()}.yaml`, fields = {}, path = '/specs', headers = {} } = options;
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) body.append(name, value);
      body.append('file', new Blob([content]), filename);
      return server.ask(path, { method: 'POST', body, headers });
    }
    async function uploaded(...given: Parameters<typeof upload>): Promise<SpecUpload> {
      const response = await upload(...given);
      const answer = await response.text();
      if (!response.ok) throw new Error(`${response.status} ${answer}`);
      return JSON.parse(answer);
    }
    async function problem(response: Response): Promise<readonly [number, string]> {
      const { status, detail }: { status: number; detail: string } = JSON.parse(await response.text());
      return [status, detail];
    }
    const bytesOf = async (path: string) => Buffer.from(await (await server.ask(path)).arrayBuffer()).toString();

    it('are uploaded, revised by an upload of the same name, and kept as they came', async () => {
      const filename = 'revised-books.yaml';
      const first = await upload(document('Books'), { filename });
      const { id, ...made }: SpecUpload = JSON.parse(await first.text());
      expect([first.status, first.headers.get('location'), made]).toEqual([
        201,
        `/specs/${id}`,
        {
          name: 'revised-books',
          revision: 1,
          sha256: sha256(document('Books')),
          document_sha256: sha256(document('Books')),
          bindings: [],
        },
      ]);
      const same = await upload(document('Books'), { filename });
      expect([same.status, await same.json()]).toEqual([200, { id, ...made }]);
      const second = await upload(document('More books'), { filename, headers: { 'if-match': '"1"' } });
      expect([second.status, second.headers.get('etag')]).toEqual([201, '"2"']);
      expect((await upload(document('Late'), { filename, headers: { 'if-match': '"1"' } })).status).toBe(412);
      expect(await server.get(`/specs/${id}`)).toMatchObject({ title: 'More books', version: '7', revision: 2 });
      expect(await server.get<SpecRevision[]>(`/specs/${id}/history`)).toMatchObject([
        { revision: 2, filename, spec_version: '3.1.0', created_by: 'admin' },
        { revision: 1, sha256: made.sha256, size: document('Books').length },
      ]);
      expect(await bytesOf(`/specs/${id}/content?revision=1`)).toBe(document('Books'));
      expect(await bytesOf(`/specs/${id}/content`)).toBe(document('More books'));
    });

    it('may come before their fields or behind them, and are named by them', async () => {
      const body = new FormData();
      body.append('file', new Blob([document('x')]), 'v1 final.yaml');
      body.append('name', 'named-behind');
      const made = await server.get<SpecUpload>('/specs', { method: 'POST', body });
      expect(made.name).toBe('named-behind');
      expect((await uploaded(document('x'), { fields: { name: 'named-before' } })).name).toBe('named-before');
      expect((await uploaded(document('x'), { filename: 'Made of+it @2.v1.json' })).name).toBe('Made-of-it-2.v1');
    });

    it('are of a project, where names are its own, or of none', async () => {
      const projectId = await createProject(server);
      const path = `/projects/${projectId}/specs`;
      const filename = 'shared-name.yaml';
      const [of, none] = [
        await uploaded(document('Of'), { path, filename }),
        await uploaded(document('None'), { filename }),
      ];
      expect(of.id).not.toBe(none.id);
      expect(await server.get<Spec[]>(path)).toMatchObject([{ id: of.id, project_id: projectId, title: 'Of' }]);
      const found = await server.get<Spec[]>('/specs?name=SHARED-n&sort=-updated_at');
      expect(found.map(({ id }) => id)).toEqual([none.id, of.id]);
      expect(await problem(await upload(document('x'), { path: `/projects/${NOWHERE}/specs` }))).toEqual([
        404,
        `there is no project "${NOWHERE}"`,
      ]);
    });

    it('are listed by pages, by type and by part of the name', async () => {
      const projectId = await createProject(server);
      const path = `/projects/${projectId}/specs`;
      for (const name of ['a_1', 'a-2', 'b']) await uploaded(document(name), { path, filename: `${name}.yaml` });
      const events = 'asyncapi: 3.0.0\ninfo: { title: Events, version: "1" }\n';
      await uploaded(events, { path, filename: 'events.yaml' });
      const names = async (query: string) => (await server.get<Spec[]>(`${path}?${query}`)).map(({ name }) => name);
      expect(await names('type=asyncapi')).toEqual(['events']);
      expect(await names('name=a_')).toEqual(['a_1']);
      const first = await server.ask(`${path}?limit=3`);
      const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
      expect([...((await first.json()) as Spec[]), ...(await server.get<Spec[]>(next))]).toHaveLength(4);
      expect(
        (
          await server.ask(
            `${path}?cursor=${Buffer.from('["-updated_at","x","y"]').toString('base64url')}&sort=-updated_at`,
          )
        ).status,
      ).toBe(400);
    });

    it('get a revision each, however many uploads come at once', async () => {
      const made = await Promise.all(
        Array.from({ length: 12 }, (_, i) => uploaded(document(`Edition ${i}`), { filename: 'at-once.yaml' })),
      );
      expect(new Set(made.map(({ id }) => id)).size).toBe(1);
      expect(made.map(({ revision }) => revision).sort((a, b) => a - b)).toEqual(made.map((_, i) => i + 1));
      const history = await server.get<SpecRevision[]>(`/specs/${made[0]?.id}/history`);
      expect(new Set(history.map((each) => each.sha256))).toEqual(new Set(made.map((each) => each.sha256)));
    });

    it('are answered as before where an upload is repeated with its Idempotency-Key', async () => {
      const options = { filename: 'repeated.yaml', headers: { 'idempotency-key': crypto.randomUUID() } };
      const first = await upload(document('One'), options);
      const again = await upload(document('One'), options);
      expect([again.status, again.headers.get('idempotency-replayed'), await again.json()]).toEqual([
        201,
        'true',
        await first.json(),
      ]);
      expect((await upload(document('Two'), options)).status).toBe(422);
    });

    it('are refused with what is wrong and where', async () => {
      const broken = await upload('openapi: 3.1.0\ninfo: [\n', { filename: 'broken.yaml' });
      expect(broken.headers.get('content-type')).toBe('application/problem+json');
      expect(await broken.json()).toMatchObject({
        type: 'urn:gw:error:spec-invalid',
        status: 422,
        errors: [{ code: 'E1002', severity: 'error', file: 'broken.yaml', line: 3 }],
      });
      const swagger = await (await upload('swagger: "2.0"\n')).json();
      expect(swagger).toMatchObject({ status: 422, errors: [{ code: 'E1001', pointer: '/swagger', line: 1 }] });
      const text = await (await upload('just text')).json();
      expect(text).toMatchObject({ status: 422, errors: [{ code: 'E1001' }] });
      const bomb = `openapi: 3.1.0\ninfo: &a0 [x]\n${Array.from({ length: 30 }, (_, i) => `x${i}: &a${i + 1} [*a${i}, *a${i}]\n`).join('')}`;
      expect(await (await upload(bomb)).json()).toMatchObject({ status: 422, errors: [{ code: 'E1002' }] });
      for (const name of ['openapi.yaml', 'asyncapi.json']) {
        expect((await problem(await upload(document('x'), { filename: name })))[0]).toBe(422);
      }
    });

    it('say what to send where they are zip or another format', async () => {
      for (const [head, what] of [
        ['504b0304', 'a zip archive'],
        ['fd377a585a00', 'compressed with xz'],
      ] as const) {
        const bytes = Uint8Array.from([...Buffer.from(head, 'hex'), ...Buffer.alloc(600)]);
        const [status, detail] = await problem(await upload(bytes, { filename: 'books.zip' }));
        expect([status, detail]).toEqual([400, expect.stringContaining(`the upload is ${what}: send`)]);
      }
    });

    it('may have file names in any script, and come back under them', async () => {
      const { id } = await uploaded(document('Japan'), { filename: '日本.yaml', fields: { name: 'japan' } });
      expect(await server.get(`/specs/${id}/history`)).toMatchObject([{ filename: '日本.yaml', entry: 'japan.yaml' }]);
      const { headers } = await server.ask(`/specs/${id}/content`);
      expect(headers.get('content-disposition')).toBe(
        `attachment; filename="__.yaml"; filename*=UTF-8''${encodeURIComponent('日本.yaml')}`,
      );
      const [status, detail] = await problem(await upload(document('Japan'), { filename: '日本.yaml' }));
      expect([status, detail]).toEqual([400, expect.stringContaining('give one as "name"')]);
      expect((await upload(document('x'), { filename: 'a\u202eb.yaml' })).status).toBe(400);
    });

    it('are listed by cursors of their own list alone', async () => {
      const projectId = await createProject(server);
      const path = `/projects/${projectId}/specs`;
      for (const name of ['a', 'b', 'c']) await uploaded(document(name), { path, filename: `${name}.yaml` });
      const link = (await server.ask(`${path}?limit=1`)).headers.get('link') ?? '';
      const cursor = new URL(/<([^>]+)>/.exec(link)?.[1] ?? '', server.url).searchParams.get('cursor');
      expect((await server.ask(`${path}?limit=2&cursor=${cursor}`)).status).toBe(200);
      for (const other of ['/specs', '/projects', '/plugins', `${path}?type=openapi`, `${path}?name=a`]) {
        const url = `${other}${other.includes('?') ? '&' : '?'}cursor=${cursor}`;
        expect([url, (await server.ask(url)).status]).toEqual([url, 400]);
      }
    });

    it('are refused to a project whose other document has the name, and are not where the name is their own', async () => {
      const path = `/projects/${await createProject(server)}/specs`;
      for (const name of ['one', 'two']) {
        await uploaded(document(name), { path, filename: 'spec.yaml', fields: { name } });
      }
      const archive = await tar({ 'api/two.yaml': document('Two again') });
      expect(await problem(await upload(archive, { path, filename: 'archived.tar' }))).toEqual([
        409,
        'the document of spec "two" is also called "two.yaml", and two with the same name do not compile in one project: rename "api/two.yaml" in the archive',
      ]);
      await uploaded(await tar({ 'three.yaml': document('Three') }), { path, filename: 'archived.tar' });
      const [status, detail] = await problem(await upload(document('x'), { path, filename: 'three.yaml' }));
      expect([status, detail]).toEqual([409, expect.stringContaining('give this spec another "name"')]);
      const both = await Promise.all(
        ['a', 'b'].map(async (name) =>
          upload(await tar({ 'at-once.yaml': document(name) }), { path, filename: `${name}.tar` }),
        ),
      );
      expect(both.map((response) => response.status).sort()).toEqual([201, 409]);
    });

    it('with a form that is none are refused, and leave nothing', async () => {
      const before = await server.get<Spec[]>('/specs?limit=200');
      const empty = await problem(await upload('', { filename: 'empty.yaml' }));
      expect(empty).toEqual([400, 'the file "empty.yaml" is empty']);
      expect(await problem(await upload(document('x'), { fields: { other: '1' } }))).toEqual([
        400,
        'the body is not valid: has an unknown property "other"',
      ]);
      expect((await upload(document('x'), { fields: { name: 'no spaces' } })).status).toBe(400);
      const two = new FormData();
      for (const name of ['a.yaml', 'b.yaml']) two.append('file', new Blob([document('x')]), name);
      expect(await problem(await server.ask('/specs', { method: 'POST', body: two }))).toEqual([
        400,
        'the form has more than one file',
      ]);
      const none = new FormData();
      none.append('name', 'x');
      expect((await problem(await server.ask('/specs', { method: 'POST', body: none })))[0]).toBe(400);
      expect((await server.ask('/specs', { method: 'POST', json: {} })).status).toBe(415);
      const headers = { 'content-type': 'multipart/form-data; boundary=x' };
      const cut = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.yaml"\r\n\r\nopenapi';
      expect((await server.ask('/specs', { method: 'POST', body: cut, headers })).status).toBe(400);
      expect(await server.get('/specs?limit=200')).toEqual(before);
    });

    it('of more than 32 MiB are 413, and the connection goes on', async () => {
      const large = await upload(new Uint8Array((32 << 20) + 1).fill(0x20));
      expect(await problem(large)).toEqual([413, `the file has more than ${32 << 20} bytes`]);
      for (let i = 0; i < 4; i++) expect((await server.ask('/specs')).status).toBe(200);
    });

    it('of a client that goes away leave nothing, and the next upload works', async () => {
      const { hostname, port } = new URL(server.url);
      const socket = connect(Number(port), hostname);
      const head = `POST /specs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ADMIN_TOKEN}\r\nContent-Length: 9000000\r\n`;
      const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="gone.yaml"\r\n\r\n';
      socket.write(`${head}Content-Type: multipart/form-data; boundary=x\r\n\r\n${part}`);
      await new Promise((resolve) => socket.write(Buffer.alloc(600_000, 0x20), resolve));
      socket.destroy();
      expect((await uploaded(document('After'), { filename: 'after-it.yaml' })).revision).toBe(1);
      expect(await server.get('/specs?name=gone')).toEqual([]);
    });

    it('may be archives of a document and what it refers to', async () => {
      const files = {
        'api/books.yaml': document('In an archive', '{ /a: { $ref: parts/a.yaml } }'),
        'api/parts/a.yaml': 'get: { operationId: getA, x-gw-dispatch: { name: mock } }\n',
        'api/README.md': '# Books',
        'api/.hidden.yaml': document('Hidden'),
      };
      const { id } = await uploaded(gzipSync(await tar(files)), { filename: 'archived.tar.gz' });
      expect(await server.get(`/specs/${id}`)).toMatchObject({ name: 'archived', title: 'In an archive' });
      expect(await server.get(`/specs/${id}/operations`)).toMatchObject([
        { operation_id: 'getA', method: 'GET', path: '/a', dispatch: { name: 'mock', config: {} } },
      ]);
      const response = await server.ask(`/specs/${id}/content`);
      expect(response.headers.get('content-type')).toBe('application/gzip');
      const patch = { method: 'PATCH', json: { getA: { dispatch: null } } };
      expect(await problem(await server.ask(`/specs/${id}/operations`, patch))).toEqual([
        422,
        'operation "getA" is written in "api/parts/a.yaml": upload that file again',
      ]);
    });

    it('in an archive are the named entry, or the only one, or the only one at its top', async () => {
      const files = { 'a.yaml': document('A'), 'b.yaml': document('B'), 'more/c.yaml': document('C') };
      const filename = 'several.tar';
      expect(await problem(await upload(await tar(files), { filename }))).toEqual([
        400,
        'several of its files are documents: choose one with "entry", of "a.yaml", "b.yaml"',
      ]);
      const named = await uploaded(await tar(files), { filename, fields: { entry: './more/c.yaml' } });
      expect(await server.get(`/specs/${named.id}`)).toMatchObject({ title: 'C' });
      const other = await uploaded(await tar(files), { filename, fields: { entry: 'b.yaml' } });
      expect(other).toMatchObject({ id: named.id, revision: 2, sha256: named.sha256 });
      expect((await upload(await tar(files), { filename, fields: { entry: 'd.yaml' } })).status).toBe(400);
      const { 'a.yaml': _, ...less } = files;
      const top = await uploaded(await tar(less), { filename: 'top.tar' });
      expect(await server.get(`/specs/${top.id}`)).toMatchObject({ title: 'B' });
    });

    it.each([
      ['a link', () => tar({ 'a.yaml': document('A') }, 'b.yaml'), 400, 'is not a regular file (symlink)'],
      ['a name that climbs', () => tar({ '../a.yaml': document('A') }), 422, 'not a relative path inside the project'],
      ['no document', () => tar({ 'a.yaml': 'a: 1\n' }), 400, 'none of its files is an OpenAPI or AsyncAPI document'],
      ['nothing', () => tar({}), 422, ''],
      [
        'half of it',
        async () => Uint8Array.from(gzipSync(await tar({ 'a.yaml': document('A') })).subarray(0, 60)),
        400,
        'cut short',
      ],
      ['too much', async () => Uint8Array.from(gzipSync(Buffer.alloc(65 << 20))), 400, 'unpacks to more than'],
      [
        'too many files',
        () => tar(Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`${i}.yaml`, '']))),
        400,
        'more than 1000 entries',
      ],
    ])('in an archive with %s are refused', async (_what, make, status, why) => {
      const [got, detail] = await problem(await upload(await make(), { filename: 'bad.tar' }));
      expect([got, detail]).toEqual([status, expect.stringContaining(why)]);
    });

    it('download whole, in part, and not again', async () => {
      const text = document('Downloaded');
      const { id } = await uploaded(text, { filename: 'download.json' });
      const ask = (headers: Record<string, string>) => server.ask(`/specs/${id}/content`, { headers });
      const whole = await ask({});
      expect(Object.fromEntries(whole.headers)).toMatchObject({
        etag: `"${sha256(text)}"`,
        'content-type': 'application/json',
        'content-disposition': 'attachment; filename="download.json"',
      });
      const part = await ask({ range: 'bytes=0-6' });
      expect([part.status, await part.text()]).toEqual([206, 'openapi']);
      expect((await ask({ range: 'bytes=9999-' })).status).toBe(416);
      expect((await ask({ 'if-none-match': `"${sha256(text)}"` })).status).toBe(304);
      expect((await server.ask(`/specs/${id}/content?revision=2`)).status).toBe(404);
      expect((await server.ask(`/specs/${id}/content?revision=2147483648`)).status).toBe(400);
    });

    it('show their operations by path and method, over all specs of a project', async () => {
      const projectId = await createProject(server);
      const path = `/projects/${projectId}/specs`;
      const one =
        '{ /b: { get: { summary: "B\\0", tags: [x], deprecated: true } }, /a: { post: {}, get: { operationId: a } } }';
      const two = '{ /ab: { get: { x-gw-middlewares: [{ name: cors }, {}] } } }';
      await uploaded(document('One', one), { path, filename: 'one.yaml' });
      await uploaded(document('Two', two), { path, filename: 'two.yaml' });
      const all: SpecOperation[] = [];
      for (let next: string | undefined = `/projects/${projectId}/operations?limit=1`; next; ) {
        const response: Response = await server.ask(next);
        all.push(...((await response.json()) as SpecOperation[]));
        next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
      }
      expect(all.map(({ method, path: at }) => `${method} ${at}`)).toEqual(['GET /a', 'POST /a', 'GET /ab', 'GET /b']);
      expect(all.slice(2)).toMatchObject([
        { dispatch: null, middlewares: [{ name: 'cors', config: {} }] },
        { summary: 'B\ufffd', tags: ['x'], deprecated: true, operation_id: null },
      ]);
    });

    it('take patches of their operations, which make revisions', async () => {
      const text = document('Patched', '\n  /a:\n    get: # here\n      operationId: a');
      const { id } = await uploaded(text, { filename: 'patched.yaml' });
      const patch = (json: object, headers = {}) =>
        server.ask(`/specs/${id}/operations`, {
          method: 'PATCH',
          body: JSON.stringify(json),
          headers: { 'content-type': 'application/merge-patch+json', ...headers },
        });
      const binding = { a: { dispatch: { name: 'mock', config: { status: 204 } } } };
      const made = await patch(binding, { 'if-match': '"1"' });
      expect([made.status, made.headers.get('etag'), await made.json()]).toMatchObject([
        200,
        '"2"',
        { id, revision: 2 },
      ]);
      expect(await bytesOf(`/specs/${id}/content`)).toBe(
        `${text}      x-gw-dispatch:\n        name: mock\n        config:\n          status: 204\n`,
      );
      expect(await server.get(`/specs/${id}/operations`)).toMatchObject([{ dispatch: { config: { status: 204 } } }]);
      expect(await (await patch(binding)).json()).toMatchObject({ revision: 2 });
      expect((await patch(binding, { 'if-match': '"1"' })).status).toBe(412);
      expect(await problem(await patch({ b: {} }))).toEqual([422, 'there is no operation "b": there are a']);
      expect((await patch({ a: { dispatch: 'mock' } })).status).toBe(400);
      const both = [{ a: { middlewares: [{ name: 'cors' }] } }, { a: { dispatch: { config: { status: 200 } } } }];
      expect((await Promise.all(both.map((each) => patch(each)))).map(({ status }) => status)).toEqual([200, 200]);
      expect(await server.get(`/specs/${id}/operations`)).toMatchObject([
        { dispatch: { config: { status: 200 } }, middlewares: [{ name: 'cors' }] },
      ]);
    });

    it('take patches of twenty clients at once, of different operations, and lose none', async () => {
      const ids = Array.from({ length: 20 }, (_, i) => `op${i}`);
      const paths = ids.map((id) => `\n  /${id}: { get: { operationId: ${id} } }`);
      const { id } = await uploaded(document('Patched at once', paths.join('')), { filename: 'patched-at-once.yaml' });
      const answers = await Promise.all(
        ids.map((each) =>
          server.ask(`/specs/${id}/operations`, { method: 'PATCH', json: { [each]: { dispatch: { name: 'mock' } } } }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200));
      expect(await server.get(`/specs/${id}`)).toMatchObject({ revision: 21 });
      const operations = await server.get<SpecOperation[]>(`/specs/${id}/operations`);
      expect(operations.map(({ dispatch }) => dispatch?.name)).toEqual(ids.map(() => 'mock'));
    });

    it('take patches within archives, of which all else stays', async () => {
      const files = {
        'books.yaml': document('Archived', '\n  /a: { get: { operationId: a } }'),
        'other.txt': 'as it is',
      };
      const { id } = await uploaded(gzipSync(await tar(files)), { filename: 'patched-archive.tgz' });
      await server.get(`/specs/${id}/operations`, { method: 'PATCH', json: { a: { dispatch: { name: 'mock' } } } });
      expect(await server.get(`/specs/${id}/operations`)).toMatchObject([{ dispatch: { name: 'mock' } }]);
      const again = await server.ask(`/specs/${id}/content`);
      const copy = await uploaded(Uint8Array.from(new Uint8Array(await again.arrayBuffer())), { filename: 'copy.tgz' });
      expect(await server.get(`/specs/${copy.id}/operations`)).toMatchObject([{ dispatch: { name: 'mock' } }]);
    });

    it('are gone when they are deleted, and are not deleted while they are compiled', async () => {
      const { id } = await uploaded(document('Deleted'), { filename: 'deleted.yaml' });
      const remove = (headers = {}) => server.ask(`/specs/${id}`, { method: 'DELETE', headers });
      expect((await remove({ 'if-match': '"9"' })).status).toBe(412);
      expect((await remove()).status).toBe(204);
      for (const path of ['', '/history', '/content', '/operations']) {
        expect((await server.ask(`/specs/${id}${path}`)).status).toBe(404);
      }
      expect((await remove()).status).toBe(404);
      const paths = Array.from({ length: 8000 }, (_, i) => `\n  /p${i}: { get: { x-gw-dispatch: { name: mock } } }`);
      const big = await uploaded(document('Big', paths.join('')), { filename: 'big.yaml' });
      const { id: compilation } = await server.get<{ id: string }>(`/specs/${big.id}/compile`, {
        method: 'POST',
        json: {},
      });
      expect(await problem(await server.ask(`/specs/${big.id}`, { method: 'DELETE' }))).toEqual([
        409,
        expect.stringContaining('is being compiled'),
      ]);
      await (await server.ask(`/compilations/${compilation}/events`)).text();
      expect((await server.ask(`/specs/${big.id}`, { method: 'DELETE' })).status).toBe(204);
    });

    it('are seen and changed by those who may, and the audit log says who, without contents', async () => {
      const [mine, other] = [await createProject(server), await createProject(server)];
      const token = async (role: string) =>
        (
          await server.get<{ token: string }>('/tokens', {
            method: 'POST',
            json: { name: `${role}-${crypto.randomUUID()}`, role, project_id: mine },
          })
        ).token;
      const [viewer, editor] = [await token('viewer'), await token('editor')];
      const body = () => {
        const form = new FormData();
        form.append('file', new Blob([document('Secret words')]), 'mine.yaml');
        return form;
      };
      const post = (project: string, as: string) =>
        server.ask(`/projects/${project}/specs`, { method: 'POST', body: body(), token: as });
      expect((await post(mine, viewer)).status).toBe(403);
      expect((await post(other, editor)).status).toBe(404);
      expect((await server.ask('/specs', { method: 'POST', body: body(), token: editor })).status).toBe(403);
      const { id }: SpecUpload = JSON.parse(await (await post(mine, editor)).text());
      const foreign = await uploaded(document('x'), { path: `/projects/${other}/specs`, filename: 'x.yaml' });
      expect((await server.ask(`/specs/${foreign.id}`, { token: viewer })).status).toBe(404);
      expect((await server.ask(`/specs/${foreign.id}`, { token: editor, method: 'DELETE' })).status).toBe(404);
      const seen = await server.get<Spec[]>('/specs', { token: viewer });
      expect(seen.map((each) => each.id)).toEqual([id]);
      const audit = await server.get<object[]>(`/audit?resource_id=${id}`);
      expect(audit).toMatchObject([
        { action: 'specs.uploadToProject', before: null, after: { name: 'mine', revision: 1 }, project_id: mine },
      ]);
      expect(JSON.stringify(audit)).not.toContain('Secret words');
    });
  });
});
