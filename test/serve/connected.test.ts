/**
 * Connected mode: real `gw serve` processes on a real channel (docs/data-plane-protocol.md;
 * docs/decisions.md#artifact-optional-when-connected).
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compile } from '../../gateway/src/compiler/index.ts';
import { loadBuiltinPlugin } from '../../gateway/src/plugins/builtin.ts';
import { type Gateway, type GatewayOptions, jsonOf, startGateway } from './gateway.ts';
import { makeCertificate, OPENSSL } from './http.ts';
import { KEY, LinkServer, PROJECT, sendFile } from './link-server.ts';
import { scrape } from './scrape.ts';

/** Answers with `body`. `padding`: bytes of description, so that the file is not small. */
async function artifact(body: string, { signingKey, padding = 0 }: { signingKey?: string; padding?: number } = {}) {
  const dispatch = { name: 'mock', config: { body } };
  // Hard to compress.
  const description = Array.from({ length: padding / 16 }, () =>
    Math.random().toString(36).padEnd(16).slice(0, 16),
  ).join('');
  const operation = { description, responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': dispatch };
  const document = { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: { '/a': { get: operation } } };
  const result = await compile({
    specs: ['api.json'],
    files: [{ name: 'api.json', bytes: Buffer.from(JSON.stringify(document)) }],
    plugins: [loadBuiltinPlugin('mock')],
    flags: { sourceDateEpoch: 0, ...(signingKey === undefined ? {} : { signingKey }) },
  });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result.artifact;
}

function signer() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { x } = publicKey.export({ format: 'jwk' });
  return {
    signingKey: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    trusted: Buffer.from(x ?? '', 'base64url').toString('hex'),
  };
}

describe('connected mode', () => {
  let control: LinkServer;
  let dir = '';
  const gateways: Gateway[] = [];
  beforeEach(async () => {
    control = await LinkServer.start();
    dir = mkdtempSync(join(tmpdir(), 'gw-connected-'));
  });
  afterEach(async () => {
    await Promise.all(gateways.splice(0).map((each) => each.stop()));
    await control.kill();
    rmSync(dir, { recursive: true, force: true });
    expect(control.errors).toEqual([]);
  });

  const start = async (options: GatewayOptions = {}, file: Uint8Array | null = null) => {
    const gw = await startGateway(file, { ...options, args: [...control.args, ...(options.args ?? [])] });
    gateways.push(gw);
    return gw;
  };
  const text = async (gw: Gateway) => {
    const response = await fetch(`${gw.url}/a`);
    return `${response.status} ${await response.text()}`;
  };
  const fetches = () => control.heard.filter(({ kind }) => kind === 'fetched').length;

  // docs/decisions.md#artifact-optional-when-connected
  it('is not ready and answers 503 until the first artifact is there, and then serves it', async () => {
    const gw = await start();
    await control.until('connected');
    expect((await fetch(`${gw.admin}/ready`)).status).toBe(503);
    expect(await jsonOf(await fetch(`${gw.admin}/health`))).toMatchObject({ status: 'healthy' });
    for (const path of ['/a', '/__gw/health']) {
      const response = await fetch(gw.url + path);
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toBe('5');
      expect(await jsonOf(response)).toMatchObject({ type: 'urn:gw:error:no-artifact', status: 503 });
    }
    const notice = await control.deploy(await artifact('one'));
    const status = await control.outcome(notice, 'applied');
    expect(status).toMatchObject({
      artifact_id: notice.artifact_id,
      artifact_hash: notice.artifact_hash,
      reason: null,
    });
    expect(await text(gw)).toBe('200 one');
    expect((await fetch(`${gw.admin}/ready`)).status).toBe(200);
    const fetched = await control.until('fetched');
    expect(fetched.authorization).toBe(`Bearer ${KEY}`);
    expect(JSON.stringify(gw.log)).not.toContain(KEY);
  });

  it('says who it is: name, labels, version, formats, what it serves', async () => {
    await start(
      { args: ['--data-plane-name', 'edge-1', '--data-plane-label', 'zone=a,tier=front'] },
      await artifact('start'),
    );
    const { hello, plane } = await control.until('connected');
    expect(hello).toMatchObject({
      name: 'edge-1',
      labels: { zone: 'a', tier: 'front' },
      project_id: PROJECT,
      artifact_versions: [6],
      artifact_hash: expect.stringMatching(/^sha256:/),
    });
    expect(plane).toMatchObject({ name: 'edge-1', artifactHash: hello.artifact_hash, address: '127.0.0.1' });
  });

  it('takes updates under load with no failed request, and serves what it says that it serves', async () => {
    const gw = await start({}, await artifact('start'));
    let stop = false;
    const load = Array.from({ length: 4 }, async () => {
      const seen = new Set<string>();
      while (!stop) seen.add(await text(gw));
      return seen;
    });
    for (let i = 0; i < 10; i++) {
      await control.outcome(await control.deploy(await artifact(`v${i}`)), 'applied');
      expect(await text(gw)).toBe(`200 v${i}`);
    }
    stop = true;
    const seen = (await Promise.all(load)).flatMap((each) => [...each]);
    expect(seen.filter((each) => !/^200 (start|v\d)$/.test(each))).toEqual([]);
    const metrics = await scrape(gw.admin);
    expect(metrics.value('gw_artifact_updates_total', { result: 'applied' })).toBe(10);
    expect(metrics.value('gw_control_plane_connected')).toBe(1);
    expect(metrics.value('gw_artifact_drift')).toBe(0);
  });

  it('acknowledges when all workers serve it', async () => {
    const gw = await start({ args: ['--workers', '2'] });
    expect(await text(gw)).toMatch(/^503 /);
    for (const body of ['one', 'two']) {
      await control.outcome(await control.deploy(await artifact(body)), 'applied');
      const answers = await Promise.all(Array.from({ length: 20 }, () => text(gw)));
      expect(new Set(answers)).toEqual(new Set([`200 ${body}`]));
    }
    const metrics = await scrape(gw.admin);
    expect(metrics.value('gw_artifact_updates_total', { result: 'applied' })).toBe(2);
  });

  it('only the newest counts where several come at once', async () => {
    const gw = await start();
    const artifacts = await Promise.all(['one', 'two', 'three', 'four'].map((body) => artifact(body)));
    const notices = [];
    for (const each of artifacts) notices.push(await control.deploy(each));
    const last = notices.at(-1);
    if (last) await control.outcome(last, 'applied');
    expect(await text(gw)).toBe('200 four');
  });

  it('goes back to an earlier artifact', async () => {
    const gw = await start();
    const [one, two] = [await artifact('one'), await artifact('two')];
    await control.outcome(await control.deploy(one), 'applied');
    await control.outcome(await control.deploy(two), 'applied');
    await control.outcome(await control.deploy(one), 'applied');
    expect(await text(gw)).toBe('200 one');
  });

  describe('refuses, says why, and serves on', () => {
    const served = async (options: GatewayOptions = {}, file?: Uint8Array) =>
      start(options, file ?? (await artifact('old')));
    const refusal = async (gw: Gateway) => {
      const line = await gw.logged(({ msg }) => msg.startsWith('new artifact rejected'));
      expect(await text(gw)).toBe('200 old');
      expect((await scrape(gw.admin)).value('gw_artifact_updates_total', { result: 'refused' })).toBe(1);
      return line;
    };

    it('an artifact that no trusted key has signed', async () => {
      const { signingKey, trusted } = signer();
      const gw = await served({ env: { GW_TRUSTED_PUBKEY: trusted } }, await artifact('old', { signingKey }));
      const bad = await control.deploy(await artifact('new'));
      expect(await control.outcome(bad, 'refused')).toMatchObject({
        reason: 'signature',
        deployment_id: bad.deployment_id,
      });
      expect(await refusal(gw)).toMatchObject({ level: 'error', code: 'signature' });
      const good = await control.deploy(await artifact('new', { signingKey }));
      await control.outcome(good, 'applied');
      expect(await text(gw)).toBe('200 new');
    });

    it('a file with another sha256, after three tries', async () => {
      const gw = await served();
      const notice = await control.deploy(await artifact('new'), { sha256: `sha256:${'0'.repeat(64)}` });
      expect(await control.outcome(notice, 'refused')).toMatchObject({ reason: 'checksum' });
      expect(fetches()).toBe(3);
      await refusal(gw);
    });

    it('a file of another size', async () => {
      const gw = await served();
      const bytes = await artifact('new');
      const notice = await control.deploy(bytes, { size: bytes.length - 1 });
      expect(await control.outcome(notice, 'refused')).toMatchObject({ reason: 'checksum' });
      await refusal(gw);
    });

    it('more bytes than it says, where no length tells so before', async () => {
      const gw = await served();
      const endless = (response: ServerResponse) => {
        response.on('error', () => {});
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65536)));
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      };
      control.faults.push(endless, endless, endless);
      const notice = await control.deploy(await artifact('new'));
      expect(await control.outcome(notice, 'refused')).toMatchObject({ reason: 'checksum' });
      await refusal(gw);
    });

    it('a file that is too large, without fetching it', async () => {
      const gw = await served();
      const notice = await control.deploy(await artifact('new'), { size: 1 << 30 });
      expect(await control.outcome(notice, 'refused')).toMatchObject({ reason: 'too-large' });
      expect(fetches()).toBe(0);
      await refusal(gw);
    });

    it('an artifact whose artifact_hash is another', async () => {
      const gw = await served();
      const notice = await control.deploy(await artifact('new'), { artifact_hash: `sha256:${'0'.repeat(64)}` });
      expect(await control.outcome(notice, 'refused')).toMatchObject({ reason: 'checksum' });
      await refusal(gw);
    });

    it('a secret that does not resolve, until SIGHUP finds it', async () => {
      const secret = join(dir, 'body');
      const gw = await served({ env: { GW_SECRETS_DIR: dir } });
      const notice = await control.deploy(await artifact(`file://${secret}`));
      expect(await control.outcome(notice, 'refused')).toMatchObject({
        reason: 'secrets',
        detail: expect.stringContaining('body'),
      });
      await refusal(gw);
      writeFileSync(secret, 'found');
      gw.signal('SIGHUP');
      await control.outcome(notice, 'applied');
      expect(await text(gw)).toBe('200 found');
    });

    it('a redirect, and goes on trying', async () => {
      const gw = await served({}, await artifact('old'));
      await control.until('connected');
      const elsewhere = await LinkServer.start();
      const redirect = (response: ServerResponse) => {
        response.writeHead(302, { location: `${elsewhere.url.replace('ws:', 'http:')}/stolen` }).end();
      };
      control.faults.push(redirect, redirect, redirect);
      const notice = await control.deploy(await artifact('new'));
      expect(await control.outcome(notice, 'refused')).toMatchObject({
        reason: 'download-failed',
        detail: expect.stringContaining('redirects are not followed'),
      });
      expect(elsewhere.heard).toEqual([]);
      await elsewhere.kill();
      await control.outcome(notice, 'applied');
      expect(await text(gw)).toBe('200 new');
    });
  });

  it('goes on where a download broke off', async () => {
    const gw = await start();
    const bytes = Buffer.from(await artifact('resumed', { padding: 1 << 20 }));
    const half = Math.floor(bytes.length / 2);
    control.faults.push((response, file) => {
      const etag = '"v1"';
      response.writeHead(200, { etag, 'content-length': file.length });
      response.write(file.subarray(0, half), () => setTimeout(() => response.destroy(), 100));
    });
    await control.outcome(await control.deploy(bytes), 'applied');
    expect(await text(gw)).toBe('200 resumed');
    const ranges = control.heard.flatMap((event) => (event.kind === 'fetched' ? [event.range] : []));
    expect(ranges[0]).toBeUndefined();
    expect(Number(/^bytes=(\d+)-$/.exec(ranges[1] ?? '')?.[1])).toBeGreaterThan(0);
    expect(ranges.length).toBe(2);
  });

  it('begins anew where the file has changed since it broke off', async () => {
    const gw = await start();
    const bytes = Buffer.from(await artifact('anew', { padding: 1 << 18 }));
    control.faults.push(
      (response) => {
        response.writeHead(200, { etag: '"old"', 'content-length': bytes.length });
        response.write(Buffer.alloc(1000), () => setTimeout(() => response.destroy(), 50));
      },
      // If-Range does not hold: the whole file (RFC 9110, section 13.1.5).
      (response, file, request) => {
        expect(request.headers['if-range']).toBe('"old"');
        sendFile(response, file, undefined);
      },
    );
    await control.outcome(await control.deploy(bytes), 'applied');
    expect(await text(gw)).toBe('200 anew');
  });

  it('serves on while the control plane is away, comes back, and catches up', async () => {
    const gw = await start();
    await control.outcome(await control.deploy(await artifact('one')), 'applied');
    await control.kill();
    await gw.logged(({ msg }) => msg.startsWith('not connected'));
    expect(await text(gw)).toBe('200 one');
    expect((await scrape(gw.admin)).value('gw_control_plane_connected')).toBe(0);
    const from = control.heard.length;
    const next = await control.deploy(await artifact('two'));
    await control.listen();
    const { hello } = await control.until('connected', () => true, from);
    const [first] = control.heard.flatMap((event) => (event.kind === 'connected' ? [event.hello] : []));
    expect(hello.instance_id).toBe(first?.instance_id);
    await control.outcome(next, 'applied');
    expect(await text(gw)).toBe('200 two');
    expect(gw.log.filter(({ msg }) => msg.startsWith('not connected')).length).toBeLessThanOrEqual(2);
  });

  it('goes elsewhere when the control plane drains', async () => {
    await start();
    await control.until('connected');
    await control.channel.drain({ spreadMs: 10 });
    expect((await control.until('disconnected')).reason).toBe('drained');
    const from = control.heard.length;
    await control.kill();
    await control.listen();
    await control.until('connected', () => true, from);
  });

  describe('--cache-dir', () => {
    const cached = async (body = 'cached', options: GatewayOptions = {}, file: Uint8Array | null = null) => {
      const first = await start({ ...options, args: ['--cache-dir', join(dir, 'cache')] }, file);
      await control.outcome(await control.deploy(await artifact(body)), 'applied');
      expect(await first.stop()).toBe(0);
    };
    const again = (file: Uint8Array | null = null) => start({ args: ['--cache-dir', join(dir, 'cache')] }, file);

    it('has the last good artifact, which serves while the control plane is away', async () => {
      await cached();
      await control.kill();
      const gw = await again();
      expect(await text(gw)).toBe('200 cached');
      expect((await fetch(`${gw.admin}/ready`)).status).toBe(200);
      const next = await control.deploy(await artifact('next'));
      await control.listen();
      await control.outcome(next, 'applied');
      expect(await text(gw)).toBe('200 next');
      expect(readdirSync(join(dir, 'cache')).filter((name) => name.endsWith('.gwa')).length).toBe(1);
    });

    it('is the same data plane after a restart, and fetches nothing twice', async () => {
      await cached();
      const from = control.heard.length;
      const before = fetches();
      await again();
      const { hello, plane } = await control.until('connected', () => true, from);
      await control.until('reported', () => true, from);
      expect(plane.artifactHash).toBe(hello.artifact_hash);
      const ids = control.heard.flatMap((event) => (event.kind === 'connected' ? [event.plane.dataPlaneId] : []));
      expect(new Set(ids).size).toBe(1);
      expect(fetches()).toBe(before);
    });

    it('is not used where it is damaged', async () => {
      await cached();
      await control.kill();
      for (const name of readdirSync(join(dir, 'cache')).filter((each) => each.endsWith('.gwa'))) {
        const bytes = readFileSync(join(dir, 'cache', name));
        bytes[100] = (bytes[100] ?? 0) ^ 1;
        writeFileSync(join(dir, 'cache', name), bytes);
      }
      const gw = await again();
      expect(await text(gw)).toMatch(/^503 /);
      expect(await gw.logged(({ msg }) => msg === 'the cached artifact is not used')).toMatchObject({ level: 'warn' });
      writeFileSync(join(dir, 'cache', 'artifact.json'), '{"control_plane": 1');
      const other = await again();
      await other.logged(({ msg }) => msg === 'the cached artifact is not used');
      expect(await text(other)).toMatch(/^503 /);
    });

    it('is not used where no trusted key has signed it', async () => {
      await cached();
      await control.kill();
      const { trusted } = signer();
      const gw = await start({ args: ['--cache-dir', join(dir, 'cache')], env: { GW_TRUSTED_PUBKEY: trusted } });
      await gw.logged(
        ({ msg, reason }) => msg === 'the cached artifact is not used' && String(reason).includes('sign'),
      );
      expect(await text(gw)).toMatch(/^503 /);
    });

    it('is of its project alone', async () => {
      await cached();
      await control.kill();
      const other = ['--project-id', '00000000-0000-4000-8000-000000000000'];
      const gw = await start({ args: [...other, '--cache-dir', join(dir, 'cache')] });
      expect(await text(gw)).toMatch(/^503 /);
      const line = await gw.logged(({ msg }) => msg === 'the cached artifact is not used');
      expect(line['reason']).toContain('it is of another project');
    });

    it('is used by another address of the control plane, and says so', async () => {
      await cached();
      await control.kill();
      const elsewhere = ['--control-plane', 'ws://127.0.0.2:9', '--cache-dir', join(dir, 'cache')];
      const gw = await start({ args: elsewhere });
      expect(await text(gw)).toBe('200 cached');
      const moved = 'the cached artifact came from another address of the control plane';
      expect(await gw.logged(({ msg }) => msg === moved)).toMatchObject({ control_plane: 'http://127.0.0.2:9/' });
    });

    it('is served, or else awaited, where the folder of --artifact has lost its parts', async () => {
      const empty = mkdtempSync(join(dir, 'artifact-'));
      const args = ['--cache-dir', join(dir, 'cache'), '--artifact', empty];
      const first = await start({ args });
      await first.logged(({ msg }) => msg.startsWith('waiting for the control plane'));
      await control.outcome(await control.deploy(await artifact('one')), 'applied');
      await first.stop();
      await control.kill();
      expect(await text(await start({ args }))).toBe('200 one');
    });

    it('is newer than --artifact, unless that is another one since', async () => {
      await cached('cached', {}, await artifact('start'));
      await control.kill();
      expect(await text(await again(await artifact('start')))).toBe('200 cached');
      expect(await text(await again(await artifact('another')))).toBe('200 another');
    });
  });

  it('a wrong key is refused: it says so once, and serves on', async () => {
    const gw = await start({ args: ['--api-key', 'another-planted-key'] }, await artifact('start'));
    const line = await gw.logged(({ msg }) => msg.startsWith('the control plane rejected'));
    expect(line).toMatchObject({ level: 'error', code: 'bad-key' });
    expect(await text(gw)).toBe('200 start');
    expect(JSON.stringify(gw.log)).not.toContain('planted');
  });

  it('a key that is revoked ends the connection at once, and what is served stays', async () => {
    const gw = await start();
    await control.outcome(await control.deploy(await artifact('one')), 'applied');
    control.revoke(KEY);
    expect((await control.until('disconnected')).reason).toBe('revoked');
    const line = await gw.logged(({ msg }) => msg.startsWith('the control plane rejected'));
    expect(line).toMatchObject({ code: 'revoked' });
    expect(await text(gw)).toBe('200 one');
    expect(control.channel.counts()).toMatchObject({ connected: 0, closedTotal: { revoked: 1 } });
  });

  it('a control plane that is none is no reason to end', async () => {
    await control.kill();
    const gw = await start({}, await artifact('start'));
    const line = await gw.logged(({ msg }) => msg.startsWith('not connected'));
    expect(line).toMatchObject({ level: 'warn', reason: expect.stringContaining('ECONNREFUSED') });
    expect(await text(gw)).toBe('200 start');
    expect(await gw.stop()).toBe(0);
  });

  it('stops at once in the middle of a download', async () => {
    const gw = await start({ args: ['--shutdown-timeout', '1'] }, await artifact('start'));
    control.faults.push((response, file) => {
      response.writeHead(200, { 'content-length': file.length });
      response.write(file.subarray(0, 10));
    });
    await control.deploy(await artifact('never'));
    await control.until('fetched');
    expect(await gw.stop()).toBe(0);
    expect((await control.until('disconnected')).reason).toBe('closed');
  });
});

describe('wss://', () => {
  it.skipIf(!OPENSSL && process.env['GW_NO_SKIP'] !== '1')(
    'is verified: a stranger gets no key, one whose CA is known does (needs openssl)',
    async () => {
      const dir = mkdtempSync(join(tmpdir(), 'gw-wss-'));
      const { cert, key } = makeCertificate(dir, 'control');
      const control = await LinkServer.start({}, { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') });
      try {
        const notice = await control.deploy(await artifact('over TLS'));
        const stranger = await startGateway(null, { args: control.args });
        const line = await stranger.logged(({ msg }) => msg.startsWith('not connected'));
        expect(line['reason']).toContain('self-signed certificate');
        await stranger.stop();
        expect(control.heard).toEqual([]);
        const gw = await startGateway(null, { args: control.args, env: { NODE_EXTRA_CA_CERTS: cert } });
        await control.outcome(notice, 'applied');
        expect(await (await fetch(`${gw.url}/a`)).text()).toBe('over TLS');
        await gw.stop();
      } finally {
        await control.kill();
        rmSync(dir, { recursive: true });
      }
    },
  );
});

describe('drift', () => {
  it('is seen on both sides, and over when what is wanted is served', async () => {
    const control = await LinkServer.start({ heartbeatMs: 200, driftGraceMs: 300 });
    const gw = await startGateway(await artifact('old'), { args: control.args });
    try {
      await control.until('connected');
      const bytes = await artifact('wanted');
      const notice = await control.deploy(bytes, { sha256: `sha256:${'0'.repeat(64)}` });
      const { report } = await control.until('drifted', ({ report: { drifted } }) => drifted);
      expect(report).toMatchObject({ wanted: notice.artifact_hash });
      await gw.logged(({ msg }) => msg.startsWith('drift: '));
      expect(await jsonOf(await fetch(`${gw.admin}/provenance`))).toMatchObject({ drift_detected: true });
      expect((await scrape(gw.admin)).value('gw_artifact_drift')).toBe(1);
      expect(control.channel.counts().drifted).toBe(1);
      await control.deploy(bytes);
      await control.until('drifted', ({ report: { drifted } }) => !drifted);
      await gw.logged(({ msg }) => msg === 'drift resolved');
      expect(await jsonOf(await fetch(`${gw.admin}/provenance`))).toMatchObject({ drift_detected: false });
      expect(control.heard.filter(({ kind }) => kind === 'drifted').length).toBe(2);
    } finally {
      await gw.stop();
      await control.kill();
    }
  });
});
