/** Every object of operator/src/objects/goldens, as an API server takes it. Needs KUBECONFIG and kubectl. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execute } from './kubectl.ts';

const folder = join(import.meta.dirname, '..', '..', 'operator', 'src', 'objects', 'goldens');
const goldens = readdirSync(folder).filter((file) => file.endsWith('.yaml') && !file.endsWith('.in.yaml'));
const namespace = `gw-goldens-${randomBytes(3).toString('hex')}`;
const absent = process.env['KUBECONFIG'] === undefined;
/** Kinds that need not be installed: what is made of them is tried where they are. */
const CUSTOM = /^kind: (HTTPRoute|PodMonitor)$/m;

describe.skipIf(absent)(`a cluster takes${absent ? ' (skipped: KUBECONFIG not set)' : ''}`, () => {
  beforeAll(async () => {
    await execute('kubectl', ['create', 'namespace', namespace]);
    await execute('kubectl', ['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted']);
  });
  afterAll(() => execute('kubectl', ['delete', 'namespace', namespace, '--wait=false']));

  it.each(goldens)('%s, in a namespace for restricted pods', async (file) => {
    const documents = readFileSync(join(folder, file), 'utf8')
      .replaceAll('namespace: default', `namespace: ${namespace}`)
      .split(/^---\n/m)
      .filter((document) => !CUSTOM.test(document));
    const args = ['apply', '--server-side', '--dry-run=server', '--warnings-as-errors', '-f', '-'];
    const out = await execute('kubectl', args, documents.join('---\n'));
    expect(out.match(/serverside-applied \(server dry run\)/g)).toHaveLength(documents.length);
  });
});
