/** The registry of plugins over REST, on both databases. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '@gw/gateway/version';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODULE_LIMITS } from '../../../../gateway/src/wasm/binary/limits.ts';
import { moduleOf, type Parts } from '../../../../gateway/src/wasm/binary/module-of.ts';
import { DATABASE_AT_HAND, unopenedDatabase } from '../../../../test/control/database.ts';
import { type ControlServer, startControl } from '../../../../test/control/server.ts';
import { MAX_MODULE, type Plugin } from './schemas.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const fixture = (name: string, file: string) => readFileSync(join(ROOT, 'test', 'fixtures', 'plugins', name, file));
const WASM = fixture('two-headers', 'two-headers.wasm');
const CALLER = fixture('caller', 'caller.wasm');

interface Form {
  readonly [field: string]: string | Uint8Array;
}

function formOf(fields: Form): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, new Blob([new Uint8Array(value)]), 'plugin.wasm');
  }
  return form;
}

const MINIMAL = { name: 'stamp', version: '1.0.0', type: 'middleware' };

describe.each(DATABASE_AT_HAND)('the registry on %s', (_name, kind, absent) => {
  describe.skipIf(absent)('over REST', () => {
    let database: Awaited<ReturnType<typeof unopenedDatabase>>;
    let control: ControlServer;
    beforeAll(async () => {
      database = await unopenedDatabase(kind);
      control = await startControl({ databaseUrl: database.url });
    });
    afterAll(async () => {
      await control?.stop();
      await database?.drop();
    });

    const register = (fields: Form, headers: Record<string, string> = {}) =>
      control.ask('/plugins', { method: 'POST', body: formOf(fields), headers });

    it('takes a version with all that plugin.toml would say, and gives it back', async () => {
      const schema = { type: 'object', properties: { a: { type: 'string' } } };
      const answer = await register({
        file: CALLER,
        name: 'caller',
        version: '1.2.0',
        type: 'dispatcher',
        description: 'Calls 📞',
        capabilities: JSON.stringify({ host_functions: ['host_http_call'], request_body: 'buffer', cpu_ms: 50 }),
        config_schema: JSON.stringify(schema),
      });
      const plugin: unknown = await answer.json();
      expect([answer.status, plugin]).toMatchObject([201, { name: 'caller', version: '1.2.0', type: 'dispatcher' }]);
      expect(plugin).toMatchObject({
        description: 'Calls 📞',
        capabilities: ['host_http_call'],
        request_body: 'buffer',
        config_schema: schema,
        sha256: createHash('sha256').update(CALLER).digest('hex'),
        size: CALLER.length,
        builtin: false,
      });
      const location = answer.headers.get('location') ?? '';
      expect(await control.get(location)).toEqual(plugin);
      const headers = { 'if-none-match': answer.headers.get('etag') ?? '' };
      expect((await control.ask(location, { headers })).status).toBe(304);
    });

    it('takes bodies from the module where the form lists host functions alone, and grants nothing that it leaves out', async () => {
      const form = { name: 'caller-two', type: 'dispatcher', file: CALLER };
      const bare = await register({ ...form, version: '1.0.0' });
      expect(bare.status).toBe(422);
      expect(await bare.text()).toContain('a gateway would not load it');
      const listed = await register({ ...form, version: '1.0.1', capabilities: '["host_http_call"]' });
      expect(await listed.json()).toMatchObject({
        capabilities: ['host_http_call'],
        request_body: 'buffer',
        config_schema: null,
      });
    });

    it('never replaces a version, and does a repeated registration once', async () => {
      const form = { ...MINIMAL, name: 'once', file: WASM };
      const headers = { 'idempotency-key': 'register-once' };
      const [first, again] = [await register(form, headers), await register(form, headers)];
      expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 201, 'true']);
      expect(await again.json()).toEqual(await first.json());
      expect(await (await register(form)).json()).toMatchObject({ status: 409, type: 'urn:gw:error:conflict' });
      expect((await register({ ...form, version: '1.0.1' }, headers)).status).toBe(422);
    });

    const MODULES: readonly (readonly [what: string, file: Uint8Array, message: RegExp, more?: Form])[] = [
      ['what is no module', Buffer.from('hello'), /not a WebAssembly module/],
      ['an empty file', new Uint8Array(), /not a WebAssembly module/],
      ['a module that is cut off', WASM.subarray(0, WASM.length / 2), /not a valid WebAssembly module/],
      ['a start section', moduleOf(startSection()), /start section/],
      ['an import from elsewhere', moduleOf({ imports: [['env', 'abort']] }), /imports env\.abort/],
      [
        'an import that is not declared',
        CALLER,
        /host_http_call, which the registration does not declare/,
        {
          type: 'dispatcher',
          capabilities: '[]',
        },
      ],
      ['a host function that no gateway has', WASM, /host_time_travel/, { capabilities: '["host_time_travel"]' }],
      ['exports of another type', WASM, /does not export dispatch/, { type: 'dispatcher' }],
    ];
    for (const [what, file, message, more = {}] of MODULES) {
      it(`refuses ${what}, as a gateway would`, async () => {
        const answer = await register({ ...MINIMAL, name: 'refused', ...more, file });
        const problem: unknown = await answer.json();
        expect(problem).toMatchObject({
          status: 422,
          type: 'urn:gw:error:plugin-invalid',
          errors: [{ pointer: '/file' }],
        });
        expect(JSON.stringify(problem)).toMatch(message);
        expect((await control.ask('/plugins/refused')).status).toBe(404);
      });
    }

    const FIELDS: readonly (readonly [what: string, field: string, value: string, status?: number])[] = [
      ['a name that plugin.toml could not have', 'name', 'Not Kebab'],
      ['a version that is none', 'version', '1.0'],
      ['another type', 'type', 'filter'],
      ['capabilities that are no JSON', 'capabilities', '[host_log]', 422],
      ['capabilities that are no list', 'capabilities', '"host_log"', 422],
      ['unknown capabilities', 'capabilities', '{"memory": 1}', 422],
      ['capabilities of the wrong form', 'capabilities', '{"cpu_ms": 0}', 422],
      ['capabilities that are no host functions', 'capabilities', '[1]', 422],
      ['a config schema that is no JSON', 'config_schema', '{', 422],
      ['a config schema that is no object', 'config_schema', 'true', 422],
      ['a config schema that is none', 'config_schema', '{"type": "strange"}', 422],
      ['a config schema that refers elsewhere', 'config_schema', '{"$ref": "https://example.com/schema"}', 422],
      ['a config schema with text that cannot be stored', 'config_schema', '{"title": "\\u0000"}', 422],
      ['an unknown field', 'colour', 'red'],
    ];
    for (const [what, field, value, status = 400] of FIELDS) {
      it(`refuses ${what}, and names the field`, async () => {
        const answer = await register({ ...MINIMAL, [field]: value, file: WASM });
        const problem: unknown = await answer.json();
        expect(problem).toMatchObject({ status });
        expect(JSON.stringify(problem)).toContain(field);
      });
    }

    it('takes modules as large as a gateway loads', () => {
      expect(MAX_MODULE).toBe(MODULE_LIMITS.bytes);
    });

    it('refuses a file of 17 MB with 413, a form without a file with 400, and JSON with 415', async () => {
      expect((await register({ ...MINIMAL, file: new Uint8Array(17 << 20) })).status).toBe(413);
      expect((await register(MINIMAL)).status).toBe(400);
      expect((await control.ask('/plugins', { method: 'POST', json: MINIMAL })).status).toBe(415);
    });

    it('lists every version, by name and type, in pages', async () => {
      await register({ ...MINIMAL, name: 'paged', version: '2.0.0', file: WASM });
      await register({ ...MINIMAL, name: 'paged', version: '10.0.0', file: WASM });
      await register({ ...MINIMAL, name: 'paged', version: '10.0.0-rc.1', file: WASM });
      const named = await control.get<Plugin[]>('/plugins?name=PAGE');
      expect(named.map(({ name }) => name)).toEqual(['paged', 'paged', 'paged']);
      expect(await control.get('/plugins?name=paged&type=dispatcher')).toEqual([]);
      const versions = await control.get<Plugin[]>('/plugins/paged');
      expect(versions.map(({ version }) => version)).toEqual(['10.0.0', '10.0.0-rc.1', '2.0.0']);
      const all: string[] = [];
      for (let path: string | null = '/plugins?limit=7'; path !== null; ) {
        const answer: Response = await control.ask(path);
        all.push(...idsOf(await answer.json()));
        path = /^<([^>]*)>/.exec(answer.headers.get('link') ?? '')?.[1] ?? null;
      }
      const whole = await control.get<Plugin[]>('/plugins?limit=200');
      expect(all).toEqual(whole.map(({ id }) => id));
      expect(new Set(all).size).toBeGreaterThan(22);
    });

    it('gives the module back, whole, in part, and not again', async () => {
      const path = `/plugins/mock/${VERSION}/download`;
      const whole = await control.ask(path);
      const bytes = Buffer.from(await whole.arrayBuffer());
      expect(whole.headers.get('content-type')).toBe('application/wasm');
      expect(whole.headers.get('content-disposition')).toBe(`attachment; filename="mock-${VERSION}.wasm"`);
      expect(whole.headers.get('etag')).toBe(`"${createHash('sha256').update(bytes).digest('hex')}"`);
      const part = await control.ask(path, { headers: { range: 'bytes=4-7' } });
      expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, bytes.subarray(4, 8)]);
      const headers = { 'if-none-match': whole.headers.get('etag') ?? '' };
      expect((await control.ask(path, { headers })).status).toBe(304);
      expect((await control.ask(path, { headers: { range: 'bytes=9999999-' } })).status).toBe(416);
      expect((await control.ask('/plugins/mock/9.9.9/download')).status).toBe(404);
    });

    it('deletes a version that nobody uses, and no other', async () => {
      await register({ ...MINIMAL, name: 'gone', file: WASM });
      const path = '/plugins/gone/1.0.0';
      const json = { plugin_name: 'gone', plugin_version: '1.0.0' };
      const { id } = await control.get<{ id: string }>('/projects', { method: 'POST', json: { name: 'user' } });
      await control.get(`/projects/${id}/plugins`, { method: 'POST', json });
      const used = await control.ask(path, { method: 'DELETE' });
      expect(await used.json()).toMatchObject({ status: 409, detail: expect.stringContaining('projects use') });
      await control.ask(`/projects/${id}/plugins/gone`, { method: 'DELETE' });
      expect((await control.ask(path, { method: 'DELETE' })).status).toBe(204);
      expect((await control.ask(path)).status).toBe(404);
      expect((await control.ask(path, { method: 'DELETE' })).status).toBe(404);
      const builtin = await control.ask(`/plugins/mock/${VERSION}`, { method: 'DELETE' });
      expect(await builtin.json()).toMatchObject({ status: 409, detail: expect.stringContaining('comes with gw') });
      const actions = (await control.get<{ action: string }[]>('/audit?limit=200')).map(({ action }) => action);
      expect(actions).toEqual(expect.arrayContaining(['plugins.register', 'plugins.delete']));
    });

    it('is for all to read, and for admins of everything to change', async () => {
      const { id } = await control.get<{ id: string }>('/projects', { method: 'POST', json: { name: 'bound' } });
      for (const [name, role, project_id] of [
        ['d', 'deployer', null],
        ['a', 'admin', id],
      ] as const) {
        const made = await control.get<{ token: string }>('/tokens', {
          method: 'POST',
          json: { name, role, project_id },
        });
        const { token } = made;
        expect((await control.ask('/plugins/mock', { token })).status).toBe(200);
        const body = formOf({ ...MINIMAL, name: 'forbidden', file: WASM });
        expect((await control.ask('/plugins', { method: 'POST', body, token })).status).toBe(403);
        expect((await control.ask(`/plugins/mock/${VERSION}`, { method: 'DELETE', token })).status).toBe(403);
      }
    });
  });
});

function startSection(): Parts {
  return {
    functions: [
      ['init', 0],
      ['on_request', 0],
      ['s', 2],
    ],
    sections: [[8, [2]]],
  };
}

function idsOf(page: unknown): string[] {
  if (!Array.isArray(page)) throw new Error('the answer is no list');
  return page.map(({ id }: Plugin) => id);
}
