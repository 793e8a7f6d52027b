/**
 * Plugins that are bound in the control plane survive pushes of the document, by the command line against a real server
 * (docs/reference/control-plane.md#kept-bindings).
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compiled, createProject, hashByCommandLine } from './compiling.ts';
import { DATABASE_KINDS, unopenedDatabase } from './database.ts';
import { type GwControl, gwControl } from './gw-control.ts';
import { ADMIN_TOKEN, type ControlServer, startControl } from './server.ts';

const DOCUMENT = `openapi: 3.1.0
info: { title: Books, version: "1" }
paths:
  /books:
    get:
      operationId: listBooks
      x-gw-dispatch: { name: mock }
  /secrets:
    get:
      operationId: listSecrets
      x-gw-dispatch: { name: mock }
`;

interface Bound {
  readonly path: string;
  readonly state: string;
  readonly middlewares?: readonly { readonly name: string }[];
}

describe.each(DATABASE_KINDS)('a pushed document on %s', (_name, kind, absent) => {
  describe.skipIf(absent)('with bindings', () => {
    let folder = '';
    let database: Awaited<ReturnType<typeof unopenedDatabase>>;
    let server: ControlServer;
    let run: GwControl;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'gw-bindings-'));
      database = await unopenedDatabase(kind);
      server = await startControl({ databaseUrl: database.url, args: ['--admin-bind', 'off'] });
      run = gwControl({ XDG_CONFIG_HOME: folder, GW_CONTROL_SERVER: server.url, GW_CONTROL_TOKEN: ADMIN_TOKEN });
    });
    afterAll(async () => {
      await server?.stop();
      await database?.drop();
      rmSync(folder, { recursive: true, force: true });
    });

    async function push(name: string, text: string, ...flags: readonly string[]) {
      const file = join(folder, `${name}.yaml`);
      writeFileSync(file, text);
      return run(['specs', 'push', file, ...flags]);
    }
    async function bind(name: string, patch: object) {
      const file = join(folder, 'patch.json');
      writeFileSync(file, JSON.stringify(patch));
      expect(await run(['specs', 'bind', name, '--patch', file])).toMatchObject({ code: 0, stderr: '' });
    }
    async function list<T = Bound>(what: string, name: string): Promise<readonly T[]> {
      const { stdout } = await run(['specs', what, name, '--json']);
      return JSON.parse(stdout);
    }
    /** Names of middlewares by path. */
    const chains = async (name: string) =>
      Object.fromEntries(
        (await list('operations', name)).map(({ path, middlewares = [] }) => [
          path,
          middlewares.map((each) => each.name),
        ]),
      );
    const ACL_OF_SECRETS = { listSecrets: { middlewares: [{ name: 'acl', config: { allow_groups: ['staff'] } }] } };

    it('keeps them, also where it is pushed again as it was', async () => {
      await push('kept', DOCUMENT);
      await bind('kept', ACL_OF_SECRETS);
      const same = await push('kept', DOCUMENT);
      expect([same.code, same.stdout]).toEqual([
        0,
        expect.stringMatching(/revision:\s+2[\s\S]*applied: GET \/secrets/),
      ]);
      const next = await push('kept', DOCUMENT.replace('Books', 'More books'));
      expect([next.code, next.stdout]).toEqual([
        0,
        expect.stringMatching(/revision:\s+3[\s\S]*applied: GET \/secrets/),
      ]);
      expect(await chains('kept')).toEqual({ '/books': [], '/secrets': ['acl'] });
      const bare = await run(['specs', 'content', 'kept', '--without-bindings']);
      expect(bare.stdout).toBe(DOCUMENT.replace('Books', 'More books'));
      const whole = await run(['specs', 'content', 'kept']);
      expect(whole.stdout).toContain('acl');
      // What was downloaded is pushed as it is: nothing is new.
      expect((await push('kept', whole.stdout)).stdout).toMatch(/revision:\s+3/);
    });

    it('refuses operations that are changed or lost until somebody says what becomes of the bindings', async () => {
      await push('moved', DOCUMENT);
      await bind('moved', { ...ACL_OF_SECRETS, listBooks: { middlewares: [{ name: 'cors' }] } });
      const moved = DOCUMENT.replace('/secrets', '/v2/secrets').replace(/ {2}\/books[\s\S]*mock \}\n(?= {2}\/v2)/, '');
      const refused = await push('moved', moved);
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringMatching(/--bindings keep\|discard[\s\S]*changed/),
      ]);
      expect(refused.stderr).toContain('GET /books lost: the document has no such operation');
      expect(refused.stderr).toContain('GET /secrets changed: the operation is GET /v2/secrets now');
      expect(await chains('moved')).toEqual({ '/books': ['cors'], '/secrets': ['acl'] });

      expect(await push('moved', moved, '--bindings', 'keep')).toMatchObject({ code: 0 });
      expect(await chains('moved')).toEqual({ '/v2/secrets': ['acl'] });
      expect(await list('bindings', 'moved')).toMatchObject([
        { path: '/books', state: 'lost' },
        { path: '/v2/secrets', state: 'applied' },
      ]);
      // What was kept is no news, and is applied where its operation is there again.
      expect(await push('moved', moved.replace('Books', 'Later'))).toMatchObject({ code: 0 });
      expect(await push('moved', DOCUMENT.replace('/secrets', '/v2/secrets'))).toMatchObject({ code: 0 });
      expect(await chains('moved')).toEqual({ '/books': ['cors'], '/v2/secrets': ['acl'] });

      const discarded = await push('moved', DOCUMENT, '--bindings', 'discard');
      expect([discarded.code, discarded.stdout]).toEqual([0, expect.stringContaining('discarded: GET /v2/secrets')]);
      expect(await chains('moved')).toEqual({ '/books': ['cors'], '/secrets': [] });
    });

    it('counts less than a binding where both name a chain, and lists that', async () => {
      await push('contested', DOCUMENT);
      await bind('contested', ACL_OF_SECRETS);
      const own = DOCUMENT.replace('operationId: listSecrets', 'operationId: listSecrets\n      x-gw-middlewares: []');
      const pushed = await push('contested', own);
      expect([pushed.code, pushed.stdout]).toEqual([0, expect.stringContaining('conflict: GET /secrets')]);
      expect(await chains('contested')).toEqual({ '/books': [], '/secrets': ['acl'] });
      expect(await list('bindings', 'contested')).toMatchObject([{ path: '/secrets', state: 'conflict' }]);
      expect(await run(['specs', 'unbind', 'contested', 'listSecrets'])).toMatchObject({ code: 0 });
      expect(await chains('contested')).toEqual({ '/books': [], '/secrets': [] });
      expect((await run(['specs', 'content', 'contested'])).stdout).toBe(own);
    });

    it('loses none of them to pushes at the same time', async () => {
      await push('raced', DOCUMENT);
      const pushes = Array.from({ length: 6 }, (_, i) => {
        const body = new FormData();
        body.append('name', 'raced');
        body.append('file', new Blob([DOCUMENT.replace('Books', `Edition ${i}`)]), 'raced.yaml');
        return server.ask('/specs', { method: 'POST', body });
      });
      await Promise.all([...pushes, bind('raced', ACL_OF_SECRETS)]);
      expect((await Promise.all(pushes)).map(({ status }) => status)).toEqual(pushes.map(() => 201));
      expect(await chains('raced')).toEqual({ '/books': [], '/secrets': ['acl'] });
    });

    it('has the hash of a folder that holds it with its bindings', async () => {
      const id = await createProject(server);
      for (const name of ['mock', 'acl']) {
        const [plugin] = await server.get<{ version: string }[]>(`/plugins/${name}`);
        await server.get(`/projects/${id}/plugins`, {
          method: 'POST',
          json: { plugin_name: name, plugin_version: plugin?.version },
        });
      }
      const upload = (text: string) => {
        const body = new FormData();
        body.append('file', new Blob([text]), 'hashed.yaml');
        return server.get<{ id: string }>(`/projects/${id}/specs`, { method: 'POST', body });
      };
      const spec = await upload(DOCUMENT);
      await server.get(`/specs/${spec.id}/operations`, { method: 'PATCH', json: ACL_OF_SECRETS });
      await upload(DOCUMENT);
      const bound = await compiled(server, `/projects/${id}`);
      const text = await (await server.ask(`/specs/${spec.id}/content`)).text();
      const project = mkdtempSync(join(folder, 'project-'));
      mkdirSync(join(project, 'specs'));
      writeFileSync(join(project, 'specs', 'hashed.yaml'), text);
      const manifest = join(project, 'gw.yaml');
      writeFileSync(manifest, 'specs: specs\nplugins: { mock: {}, acl: {} }\n');
      expect([bound.status, bound.artifact_hash]).toEqual(['succeeded', await hashByCommandLine(manifest)]);
      expect(text).toContain('acl');
    });
  });
});
