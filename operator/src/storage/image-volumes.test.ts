import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiServer } from '../runtime/api-server.ts';
import { ImageVolumes } from './image-volumes.ts';

/** An API server in front of which something stands: policies, old versions. A real one is in test/e2e/oci.load.test.ts. */
describe('image volumes', () => {
  let server: Server | undefined;
  let asked: string[] = [];
  const told: string[] = [];

  afterEach(() => {
    server?.close().closeAllConnections();
    asked = [];
    told.length = 0;
  });

  /** `answer`: status and body of the dry run, with what was sent. */
  async function cluster(answer: (sent: string) => [number, string], minor = '34+'): Promise<ImageVolumes> {
    server = createServer((request, response) => {
      let sent = '';
      request.on('data', (chunk) => {
        sent += chunk;
      });
      request.on('end', () => {
        asked.push(`${request.method} ${request.url}`);
        const [status, body] = request.method === 'POST' ? answer(sent) : [200, JSON.stringify({ minor })];
        response.writeHead(status).end(body);
      });
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const config = new KubeConfig();
    config.loadFromClusterAndUser(
      { name: 'c', server: `http://127.0.0.1:${port}`, skipTLSVerify: true },
      { name: 'u' },
    );
    return new ImageVolumes(new ApiServer(config), (available, why) => told.push(`${available} ${why}`));
  }

  const status = (code: number, message: string): [number, string] => [
    code,
    JSON.stringify({ kind: 'Status', reason: 'Invalid', message, code }),
  ];
  /** As Kubernetes says it with the feature gate off. */
  const DROPPED =
    'Deployment.apps "gw-image-volume-check" is invalid: [spec.template.spec.volumes[0]: Required value: must specify a volume type, spec.template.spec.containers[0].volumeMounts[0].name: Not found: "artifact"]';

  it('are there where the API server takes them, which is asked once, and writes nothing', async () => {
    const volumes = await cluster((sent) => [201, sent]);
    expect(await Promise.all([volumes.available('a'), volumes.available('a')])).toEqual([true, true]);
    expect(await volumes.available('b')).toBe(true);
    expect(asked).toEqual(['POST /apis/apps/v1/namespaces/a/deployments?dryRun=All']);
    expect(told).toEqual(['true by a dry run']);
  });

  it('are not there where it drops the field', async () => {
    expect(await (await cluster(() => status(422, DROPPED))).available('a')).toBe(false);
    const silent = await cluster((sent) => [201, sent.replace(/"image":\{[^}]*\}/, '"emptyDir":{}')]);
    expect(await silent.available('a')).toBe(false);
  });

  it.each([
    ['34+', false],
    ['35', true],
  ])('go by the version 1.%s where a policy refuses the dry run, in that namespace alone', async (minor, expected) => {
    const volumes = await cluster(() => status(403, 'denied by a policy'), minor);
    expect(await volumes.available('a')).toBe(expected);
    expect(await volumes.available('a')).toBe(expected);
    expect(asked).toHaveLength(2);
    await volumes.available('b');
    expect(asked).toHaveLength(4);
    expect(told[0]).toContain('denied by a policy');
  });

  it('are asked for again where the API server could not answer', async () => {
    let answers = 0;
    const volumes = await cluster((sent) => (++answers === 1 ? status(503, 'starting') : [201, sent]));
    await expect(volumes.available('a')).rejects.toThrow('starting');
    expect(await volumes.available('a')).toBe(true);
  });
});
