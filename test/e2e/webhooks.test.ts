/**
 * The validating webhook on a real cluster (docs/webhooks.md): what kubectl is told, in any order, and while nobody
 * answers. Needs KUBECONFIG and the image in the cluster as GW_E2E_IMAGE, kubectl and helm.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { type InstalledOperator, installOperator, missing, skipped } from './installed-operator.ts';
import { execute, type Kubectl } from './kubectl.ts';

let operator: InstalledOperator;
let k: Kubectl;

function apiSpec(name: string, path: string, dispatch: object): string {
  const document = {
    openapi: '3.1.0',
    info: { title: name, version: '1' },
    paths: { [path]: { get: { responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': dispatch } } },
  };
  const spec = { source: { inline: JSON.stringify(document) } };
  return JSON.stringify({ apiVersion: 'gw.dev/v1alpha1', kind: 'ApiSpec', metadata: { name }, spec });
}

const good = (name: string, path = '/a') => apiSpec(name, path, { name: 'mock' });
const bad = (name: string) => apiSpec(name, '/a', { config: {} });
const project = JSON.stringify({
  apiVersion: 'gw.dev/v1alpha1',
  kind: 'GatewayProject',
  metadata: { name: 'shop' },
  spec: { specs: { names: ['books', 'orders'] }, plugins: [{ name: 'mock' }], pods: { replicas: 0 } },
});

/** With what kubectl writes to its standard error: warnings go there. */
function told(args: string, stdin = ''): Promise<string> {
  return execute('sh', ['-c', `kubectl -n ${operator.namespace} ${args} 2>&1`], stdin);
}

const given = (how: readonly string[], object: string) =>
  execute('kubectl', ['-n', operator.namespace, ...how, '-f', '-'], object);

async function scaleOperator(replicas: number): Promise<void> {
  const { system } = operator;
  const name = (await execute('kubectl', ['-n', system, 'get', 'deployments.apps', '-o', 'name'])).trim();
  await execute('kubectl', ['-n', system, 'scale', name, `--replicas=${replicas}`]);
  if (replicas > 0) await execute('kubectl', ['-n', system, 'rollout', 'status', name, '--timeout=120s']);
  else await execute('kubectl', ['-n', system, 'wait', '--for=delete', 'pod', '--all', '--timeout=60s']);
}

describe.skipIf(missing.length > 0)(`webhooks on a cluster${skipped}`, () => {
  beforeAll(async () => {
    operator = await installOperator('webhooks', ['replicas=1']);
    k = operator.k;
    // An API server that has no route to the pod yet lets everything in, as while nobody answers.
    const refused = () => expect(given(['apply', '--dry-run=server'], bad('books'))).rejects.toThrow('E1012');
    await eventually(refused);
  });

  afterAll(() => operator?.uninstall(), 300_000);

  it('a wrong document is refused with the diagnostics of the compiler, also in a dry run', async () => {
    for (const how of [['apply', '--dry-run=server'], ['apply'], ['create']]) {
      await expect(given(how, bad('books'))).rejects.toThrow(
        /admission webhook "objects\.gw\.dev" denied the request: ApiSpec "books": spec\.source\.inline:1:\d+: error E1012 .*\/paths\/~1a\/get\/x-gw-dispatch/,
      );
    }
    expect(await k('get', 'apispecs', '-o', 'name')).toBe('');
  });

  it('objects come in any order, with warnings of what is not there yet, and leave in any order', async () => {
    expect(await told('apply -f -', project)).toContain('Warning: gw: ApiSpec "books" does not exist');
    expect(await told('apply -f -', good('books'))).toContain(
      'Warning: gw: a GatewayProject that uses it lacks other objects: its status says which',
    );
    expect(await told('apply -f -', good('orders'))).toMatch(/Warning: gw: .*E1010/);
    expect(await told('apply -f -', good('orders', '/b'))).not.toContain('Warning');
    await k.condition('gatewayproject/shop', 'Stored');
    expect(await told('delete apispec books')).toContain(
      'Warning: gw: ApiSpec "books" is in use by 1 GatewayProject(s)',
    );
    expect(await told('apply -f -', good('books'))).not.toContain('Warning');
  });

  it('answers at a path that nobody but API servers knows, and that an upgrade of the chart leaves', async () => {
    const { release, system } = operator;
    const configured = async () => {
      const kinds = ['validatingwebhookconfiguration', 'mutatingwebhookconfiguration'];
      const path = '{range .webhooks[*]}{.clientConfig.service.path}{"\\n"}{end}';
      const texts = kinds.map((kind) =>
        execute('kubectl', ['get', kind, `${release}.${system}`, '-o', `jsonpath=${path}`]),
      );
      return (await Promise.all(texts)).join('').trim().split('\n');
    };
    const before = await configured();
    const [secret = ''] = /^\/webhooks\/[0-9a-f]{40}/.exec(before[0] ?? '') ?? [];
    expect(before).toEqual([`${secret}/validate`, `${secret}/pods`, `${secret}/pods`]);
    const address = await execute('kubectl', [
      ...['-n', system, 'get', 'service', `${release}-webhooks`, '-o', 'jsonpath={.spec.clusterIP}'],
    ]);
    const ask = (path: string) =>
      execute('curl', ['-sk', '-o', '/dev/null', '-w', '%{http_code}', '-d', '{}', `https://${address}${path}`]);
    expect(await Promise.all(['/webhooks/validate', '/webhooks/pods', '/', `${secret}x/pods`].map(ask))).toEqual(
      Array(4).fill('404'),
    );
    // It is one: what is wrong is what was sent.
    expect(await ask(`${secret}/validate`)).toBe('400');
    const chart = join(import.meta.dirname, '..', '..', 'charts', 'operator');
    await execute('helm', ['upgrade', release, chart, '-n', system, '--reuse-values', '--wait', '--timeout', '180s']);
    expect(await configured()).toEqual(before);
    await expect(given(['apply', '--dry-run=server'], bad('books'))).rejects.toThrow('E1012');
  });

  it('nothing differs after an apply: what is written is what was given', async () => {
    for (const object of [project, good('books'), good('orders', '/b')])
      expect(await told('diff -f -', object)).toBe('');
  });

  it('while nobody answers, a wrong object is let in, serves nobody, and says the same in its status', async () => {
    await scaleOperator(0);
    await k.apply(bad('books'));
    await scaleOperator(1);
    await k.condition('apispec/books', 'Compiled', 'False');
    const message = await k.field('apispec/books', '{.status.conditions[?(@.type=="Compiled")].message}');
    expect(message).toContain('books/books.yaml:1:');
    expect(await k.field('gatewayproject/shop', '{.status.conditions[?(@.type=="Compiled")].status}')).toBe('False');
    await k('label', 'apispec', 'books', 'team=a');
    await k.apply(good('books'));
    await k.condition('gatewayproject/shop', 'Compiled');
  });
});
