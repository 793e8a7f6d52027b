/** How `gw serve` gets on with the collector of its traces (docs/reference/gateway.md#traces). */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { compileSpec, refusedStart, startGateway } from './gateway.ts';
import { document, PLUGINS } from './traced-project.ts';

describe('the collector', () => {
  it('gets headers and compression as OpenTelemetry has them, from every worker, and the log has none of it', async () => {
    const seen: { url: string | undefined; headers: IncomingHttpHeaders }[] = [];
    const instances = new Set<string>();
    const collector = createServer((request, response) => {
      seen.push({ url: request.url, headers: request.headers });
      const chunks: Buffer[] = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        const [id] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(gunzipSync(Buffer.concat(chunks)).toString('latin1')) ?? [];
        if (id !== undefined) instances.add(id);
        response.end();
      });
    });
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
    const { port } = collector.address() as AddressInfo;
    const gw = await startGateway(await compileSpec(document('http://127.0.0.1:1'), PLUGINS), {
      args: ['--otlp-endpoint', `http://127.0.0.1:${port}/base/`, '--workers', '2'],
      env: { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20planted', OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' },
    });
    // Whichever worker takes a connection, with enough of them both have had some.
    await expect
      .poll(
        async () => {
          for (let i = 0; i < 8; i++) await fetch(`${gw.url}/mock`, { headers: { connection: 'close' } });
          return instances.size;
        },
        { interval: 500 },
      )
      .toBe(2);
    expect(await gw.stop()).toBe(0);
    collector.close();
    for (const { url, headers } of seen) {
      expect(url).toBe('/base/v1/traces');
      expect(headers).toMatchObject({
        authorization: 'Bearer planted',
        'content-encoding': 'gzip',
        'content-type': 'application/x-protobuf',
      });
    }
    expect(JSON.stringify(gw.log)).not.toContain('planted');
  });
});

describe('a collector that goes away', () => {
  it('is logged once, holds up no request, and gets spans again when it is back', async () => {
    let up = false;
    let received = 0;
    const collector = createServer((request, response) => {
      if (up) received++;
      request.resume().on('end', () => response.writeHead(up ? 200 : 400).end());
    });
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
    const { port } = collector.address() as AddressInfo;
    const gw = await startGateway(await compileSpec(document('http://127.0.0.1:1'), PLUGINS), {
      args: ['--otlp-endpoint', `http://127.0.0.1:${port}`],
    });
    const lines = (part: string) => gw.log.filter(({ msg }) => msg.includes(part));
    const request = async () => expect((await fetch(`${gw.url}/mock`)).status).toBe(200);
    await request();
    const away = await gw.logged(({ msg }) => msg.startsWith('cannot export traces'));
    expect(away).toMatchObject({ level: 'warn', endpoint: `http://127.0.0.1:${port}`, reason: expect.any(String) });
    for (let i = 0; i < 3; i++) {
      await request();
      await new Promise((resolve) =>
        collector.once('request', (_request, response) => response.once('finish', resolve)),
      );
    }
    expect(lines('cannot export traces')).toHaveLength(1);
    up = true;
    await request();
    const back = await gw.logged(({ msg }) => msg === 'traces are exported again');
    expect(back['spans_lost']).toBeGreaterThanOrEqual(8);
    expect(received).toBeGreaterThan(0);
    expect(await gw.stop()).toBe(0);
    collector.close();
  });

  it('keeps no shutdown waiting', async () => {
    const gw = await startGateway(await compileSpec(document('http://127.0.0.1:1'), PLUGINS), {
      args: ['--otlp-endpoint', 'http://127.0.0.1:1', '--shutdown-timeout', '1'],
    });
    expect((await fetch(`${gw.url}/mock`, { headers: { connection: 'close' } })).status).toBe(200);
    expect(await gw.stop()).toBe(0);
    expect(gw.log.find(({ msg }) => msg === 'spans were not exported')).toMatchObject({ spans: 2 });
  });
});

describe('gw serve refuses', () => {
  it.each([
    [['--otlp-endpoint', 'collector:4317'], {}, 'must begin with http://'],
    [['--otlp-endpoint', 'not a url'], {}, 'give one such as http://collector:4318'],
    [['--otlp-endpoint', 'http://user:planted@127.0.0.1:4318'], {}, 'OTEL_EXPORTER_OTLP_HEADERS'],
    [
      ['--otlp-endpoint', 'http://127.0.0.1:4318'],
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
      'must be http/protobuf or grpc',
    ],
    [['--trace-sampling', '1.5'], {}, 'Give a number from 0.0 to 1.0'],
  ])('%j', async (args, env, reason) => {
    const { code, stderr } = await refusedStart(['--artifact', 'none.gwa', ...args], env);
    expect(code).toBe(1);
    expect(stderr).toContain(reason);
    expect(stderr).not.toContain('planted');
  });
});
