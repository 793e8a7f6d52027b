/** Charts packed and pushed as they are published, and used from the registry. Needs helm and docker-registry. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DockerRegistry, hasDockerRegistry, startDockerRegistry } from '../docker-registry.ts';
import { execute } from '../e2e/kubectl.ts';
import { fromValues, hasHelm, renderText, root } from './helm.ts';

const run = promisify(execFile);
const missing = [
  ...(hasHelm ? [] : ['helm is not installed']),
  ...(hasDockerRegistry ? [] : ['there is no docker-registry']),
];
const skipped = missing.length > 0 ? ` (skipped: ${missing.join(' and ')})` : '';

describe.skipIf(missing.length > 0)(`charts in a registry${skipped}`, () => {
  let registry: DockerRegistry;
  beforeAll(async () => {
    registry = await startDockerRegistry();
  });
  afterAll(() => registry.close());

  it('are the charts of the checkout', async () => {
    const target = `oci://${registry.host}/charts`;
    await run(process.execPath, [join(root, 'scripts', 'pack-charts.ts'), '--push', target, '--plain-http']);
    for (const chart of ['operator', 'gateway']) {
      const values = fromValues(chart, 'default-values.yaml');
      const url = `${target}/gw-${chart}`;
      const options = ['-n', 'gw-system', '--kube-version', '1.34', '--plain-http', ...values];
      expect(await execute('helm', ['template', `gw-${chart}`, url, ...options])).toBe(
        await renderText(chart, ...values),
      );
    }
  });

  it('refuses a target that is no registry', async () => {
    const packing = run(process.execPath, [join(root, 'scripts', 'pack-charts.ts'), '--push', 'registry/charts']);
    await expect(packing).rejects.toThrow('expected oci://REGISTRY/PATH');
  });
});
