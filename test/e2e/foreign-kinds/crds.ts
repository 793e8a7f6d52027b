/** CustomResourceDefinitions of others that our charts make objects of, out of their Go modules. */
import { execFile, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';

const run = promisify(execFile);

/** Whether there is a go to fetch them with. */
export const hasGo = spawnSync('go', ['version'], { stdio: 'ignore' }).status === 0;

const FILES = [
  ['github.com/cert-manager/cert-manager', 'deploy/crds/crd-certificates.yaml'],
  ['github.com/cert-manager/cert-manager', 'deploy/crds/crd-issuers.yaml'],
  [
    'github.com/prometheus-operator/prometheus-operator',
    'example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml',
  ],
  ['sigs.k8s.io/gateway-api', 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
] as const;

/** As a list in JSON; by name in `names`. */
export async function foreignKinds(): Promise<{ readonly names: readonly string[]; readonly manifests: string }> {
  const crds = await Promise.all(
    FILES.map(async ([module, file]) => {
      const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd: import.meta.dirname });
      const { apiVersion, kind, metadata, spec } = parse(await readFile(join(JSON.parse(stdout).Dir, file), 'utf8'));
      // The API server admits groups of Kubernetes with the link to their approval only; labels may be templates.
      const annotations = { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api' };
      return { apiVersion, kind, metadata: { name: metadata.name, annotations }, spec };
    }),
  );
  return {
    names: crds.map(({ metadata }) => `crd/${metadata.name}`),
    manifests: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: crds }),
  };
}
