/** What `gw serve` shows to a control plane and checks it by, and how long it waits for its word before it is ready. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, type GatewayOptions, startGateway } from './gateway.ts';
import { makeCertificate, OPENSSL } from './http.ts';
import { LinkServer, PROJECT } from './link-server.ts';

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

describe('the credentials of the link', () => {
  let control: LinkServer;
  let dir = '';
  let gw: Gateway | undefined;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'gw-credentials-'));
  });
  afterEach(async () => {
    await gw?.stop();
    gw = undefined;
    await control.kill();
    rmSync(dir, { recursive: true, force: true });
  });
  const where = () => ['--control-plane', control.url, '--project-id', PROJECT];
  const start = async (file: Uint8Array | null, options: GatewayOptions) => {
    gw = await startGateway(file, options);
    return gw;
  };
  const text = async ({ url }: Gateway) => (await fetch(`${url}/a`)).text();
  const ready = async ({ admin }: Gateway) => (await fetch(`${admin}/ready`)).status;

  it('are read from the file again at each connection and download', async () => {
    control = await LinkServer.start();
    // As long as a token of a service account.
    const [first, second] = ['a'.repeat(1400), 'b'.repeat(1400)];
    control.keys.set(first, 'key-a');
    control.keys.set(second, 'key-b');
    const key = join(dir, 'key');
    writeFileSync(key, `${first}\n`);
    const gateway = await start(null, { args: where(), env: { GW_API_KEY_FILE: key } });
    expect((await control.until('connected')).plane.keyId).toBe('key-a');
    writeFileSync(key, second);
    await control.outcome(await control.deploy(await artifact('one')), 'applied');
    expect((await control.until('fetched')).authorization).toBe(`Bearer ${second}`);
    const heard = control.heard.length;
    await control.kill();
    // Only now: a connection that is closed for its key is tried again after a minute.
    control.revoke(first);
    await control.listen();
    expect((await control.until('connected', () => true, heard)).plane.keyId).toBe('key-b');
    expect(JSON.stringify(gateway.log)).not.toMatch(/a{50}|b{50}/);
  });

  it('that cannot be read are said, and looked for again, while it serves on', async () => {
    control = await LinkServer.start();
    const key = join(dir, 'key');
    writeFileSync(key, 'planted-data-plane-key');
    const gateway = await start(await artifact('start'), { args: [...where(), '--api-key-file', key] });
    await control.until('connected');
    rmSync(key);
    await control.kill();
    await gateway.logged(({ reason }) => String(reason).includes('cannot read --api-key-file'));
    expect(await text(gateway)).toBe('start');
    writeFileSync(key, 'planted-data-plane-key');
    const heard = control.heard.length;
    await control.listen();
    await control.until('connected', () => true, heard);
  });

  it.skipIf(!OPENSSL)(
    'include the certificates that the control plane is checked by, as a file or as PEM (needs openssl)',
    async () => {
      const { cert, key } = makeCertificate(dir, 'control');
      control = await LinkServer.start({}, { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') });
      const notice = await control.deploy(await artifact('over TLS'));
      const args = [...control.args, '--control-plane-ca', cert];
      const byFile = await start(null, { args });
      await control.outcome(notice, 'applied');
      expect(await text(byFile)).toBe('over TLS');
      await byFile.stop();
      const heard = control.heard.length;
      const byText = await start(null, {
        args: control.args,
        env: { GW_CONTROL_PLANE_CA: readFileSync(cert, 'utf8') },
      });
      await control.until('reported', ({ status }) => status.outcome === 'applied', heard);
      expect(await text(byText)).toBe('over TLS');
    },
  );

  it('readiness waits for what is wanted, so that nothing older is served in the place of it', async () => {
    control = await LinkServer.start();
    let release = () => {};
    control.faults.push((response, file) => {
      release = () => response.writeHead(200, { 'content-length': file.length }).end(file);
    });
    const notice = await control.deploy(await artifact('newer'));
    const gateway = await start(await artifact('older'), { args: [...control.args, '--control-plane-wait', '60'] });
    await control.until('fetched');
    expect(await ready(gateway)).toBe(503);
    release();
    await control.outcome(notice, 'applied');
    await eventually(async () => expect(await ready(gateway)).toBe(200));
    expect(await text(gateway)).toBe('newer');
  });

  it('readiness waits no longer than it is told to', async () => {
    control = await LinkServer.start();
    await control.kill();
    const gateway = await start(await artifact('older'), { args: [...control.args, '--control-plane-wait', '2'] });
    expect(await ready(gateway)).toBe(503);
    await eventually(async () => expect(await ready(gateway)).toBe(200));
    expect(await text(gateway)).toBe('older');
  });
});
