/** A gateway in the process of the test, so that the test can count what is left of its clients. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { serveDefaults, serveOptions, THIS_MACHINE } from '../../gateway/src/cli/serve/serve-flags.ts';
import type { ServeFlags } from '../../gateway/src/options/serve-options.ts';
import { startGateway } from '../../gateway/src/serve/serve.ts';
import { createLog } from '../../gateway/src/telemetry/log.ts';
import { shownAddress } from '../../gateway/src/transport/listen-address.ts';

export interface GatewayHere {
  readonly port: number;
  /** Sum of the samples of a metric whose labels hold this text. */
  metric(name: string, labels?: string): Promise<number>;
  stop(): Promise<void>;
}

export async function startGatewayHere(artifact: Uint8Array, flags: Partial<ServeFlags>): Promise<GatewayHere> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-here-'));
  const file = join(dir, 'api.gwa');
  writeFileSync(file, artifact);
  const log = await createLog('error', 'json', 2);
  const anyPort = { host: '127.0.0.1', port: 0 };
  const gateway = await startGateway(
    {
      ...serveOptions({ ...serveDefaults(), artifact: file, listen: anyPort, adminBind: anyPort, ...flags }, {}),
      watchArtifact: false,
      allowPlaintextUpstream: true,
      egressAllow: THIS_MACHINE,
    },
    { log, stderr: (text) => void process.stderr.write(text) },
  );
  const metrics = `http://${shownAddress(gateway.adminAddress)}/metrics`;
  return {
    port: gateway.address.port,
    async metric(name, labels = '') {
      const lines = (await textOf(metrics))
        .split('\n')
        .filter((line) => line.startsWith(name) && line.includes(labels));
      return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
    },
    async stop() {
      await gateway.stop();
      await log.flush();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Over a connection that is gone afterwards. */
function textOf(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => resolve(text(response))).on('error', reject);
  });
}
