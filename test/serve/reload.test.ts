/** A new artifact while `gw serve` serves: file and ConfigMap folder, good and bad, under load; SIGHUP. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';

const artifact = (body: string) =>
  compileSpec(
    {
      openapi: '3.1.0',
      info: { title: 'T', version: '1' },
      paths: {
        '/a': {
          get: { responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': { name: 'mock', config: { body } } },
        },
      },
    },
    ['mock'],
  );

describe('reload', () => {
  let dir = '';
  let gw: Gateway | null = null;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'gw-reload-'));
  });
  afterEach(async () => {
    await gw?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const replace = (file: string, bytes: Uint8Array) => {
    writeFileSync(`${file}.new`, bytes);
    renameSync(`${file}.new`, file);
  };
  const loaded = (count: number) =>
    gw?.logged(() => gw?.log.filter(({ msg }) => msg === 'artifact loaded').length === count);

  it('takes a file that replaces its artifact, with no failed request, and refuses a bad one', async () => {
    const file = join(dir, 'api.gwa');
    writeFileSync(file, await artifact('one'));
    gw = await startGateway(await artifact('unused'), { args: ['--artifact', file] });
    const url = `${gw.url}/a`;
    let stop = false;
    const load = Array.from({ length: 4 }, async () => {
      const seen = new Set<string>();
      while (!stop) {
        const response = await fetch(url);
        expect(response.status).toBe(200);
        seen.add(await response.text());
      }
      return seen;
    });
    replace(file, await artifact('two'));
    await loaded(2);
    expect(await (await fetch(url)).text()).toBe('two');
    replace(file, (await artifact('three')).subarray(0, 200));
    const refused = await gw.logged(({ msg }) => msg.startsWith('new artifact rejected'));
    expect(refused).toMatchObject({ level: 'error', reason: expect.stringContaining('api.gwa') });
    expect(await (await fetch(url)).text()).toBe('two');
    replace(file, await artifact('four'));
    await loaded(3);
    stop = true;
    const seen = new Set((await Promise.all(load)).flatMap((each) => [...each]));
    expect([...seen].every((each) => ['one', 'two', 'four'].includes(each))).toBe(true);
    expect(seen).toContain('one');
    expect(seen).toContain('two');
  });

  it('follows the link of a ConfigMap volume', async () => {
    const version = async (name: string, body: string) => {
      mkdirSync(join(dir, name));
      writeFileSync(join(dir, name, 'api.gwa.0000'), await artifact(body));
    };
    await version('..1', 'one');
    symlinkSync('..1', join(dir, '..data'));
    symlinkSync('..data/api.gwa.0000', join(dir, 'api.gwa.0000'));
    gw = await startGateway(await artifact('unused'), { args: ['--artifact', dir] });
    expect(await (await fetch(`${gw.url}/a`)).text()).toBe('one');
    await version('..2', 'two');
    symlinkSync('..2', join(dir, '..data_tmp'));
    renameSync(join(dir, '..data_tmp'), join(dir, '..data'));
    await loaded(2);
    expect(await (await fetch(`${gw.url}/a`)).text()).toBe('two');
  });

  // docs/decisions.md#secrets-resolved
  it('resolves secrets anew on SIGHUP, and keeps the old ones where that fails', async () => {
    const secret = join(dir, 'body');
    writeFileSync(secret, 'first\n');
    gw = await startGateway(await artifact(`file://${secret}`), { env: { GW_SECRETS_DIR: dir } });
    const text = async () => (await fetch(`${gw?.url}/a`)).text();
    expect(await text()).toBe('first');
    writeFileSync(secret, 'second\n');
    gw.signal('SIGHUP');
    await loaded(2);
    expect(await text()).toBe('second');
    rmSync(secret);
    gw.signal('SIGHUP');
    const line = await gw.logged(({ msg }) => msg.startsWith('reload failed'));
    expect(line['reason']).toContain('body');
    expect(await text()).toBe('second');
  });

  it('resolves secrets anew when their directory changes, as a kubelet changes it, and keeps the old ones where that fails', async () => {
    const version = (name: string, files: Readonly<Record<string, string>>) => {
      mkdirSync(join(dir, name));
      for (const [file, text] of Object.entries(files)) writeFileSync(join(dir, name, file), text);
      symlinkSync(name, join(dir, '..data_tmp'));
      renameSync(join(dir, '..data_tmp'), join(dir, '..data'));
    };
    version('..1', { body: 'first\n' });
    symlinkSync('..data/body', join(dir, 'body'));
    gw = await startGateway(await artifact(`file://${join(dir, 'body')}`), {
      args: ['--workers', '2'],
      env: { GW_SECRETS_DIR: dir },
    });
    const text = async () => (await fetch(`${gw?.url}/a`)).text();
    expect(await text()).toBe('first');
    version('..2', { body: 'second\n' });
    await loaded(2);
    expect(await text()).toBe('second');
    version('..3', { other: 'third' });
    const line = await gw.logged(({ msg }) => msg.startsWith('new secrets rejected'));
    expect(line['reason']).toContain('body');
    expect(await text()).toBe('second');
    version('..4', { body: 'fourth' });
    await loaded(3);
    expect(await text()).toBe('fourth');
  });
});
