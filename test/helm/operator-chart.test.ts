/** The operator's chart, as helm renders it. Needs helm. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { OWN_RULES, RULES } from '../../operator/src/api/rbac.ts';
import { isRecord } from '../../operator/src/runtime/kube-object.ts';
import { execute } from '../e2e/kubectl.ts';

const chart = join(import.meta.dirname, '..', '..', 'charts', 'operator');
const hasHelm = spawnSync('helm', ['version'], { stdio: 'ignore' }).status === 0;

async function render(...values: readonly string[]): Promise<readonly { readonly [name: string]: unknown }[]> {
  const sets = values.flatMap((value) => ['--set', value]);
  const text = await execute('helm', [
    'template',
    'gw-operator',
    chart,
    '-n',
    'gw-system',
    '--kube-version',
    '1.34',
    ...sets,
  ]);
  return parseAllDocuments(text)
    .map((document) => document.toJS())
    .filter(isRecord);
}

const kindsOf = (objects: readonly { readonly [name: string]: unknown }[], kind: string) =>
  objects.filter((object) => object['kind'] === kind);

describe.skipIf(!hasHelm)(`the operator's chart${hasHelm ? '' : ' (skipped: helm is not installed)'}`, () => {
  it('is clean to helm lint', async () => {
    expect(await execute('helm', ['lint', '--strict', chart])).toContain('0 chart(s) failed');
  });

  it('gives the rights of the list and no others', async () => {
    const plain = (rules: typeof RULES) => rules.map(({ why: _, ...rule }) => rule);
    const everywhere = await render();
    expect(kindsOf(everywhere, 'ClusterRole').map((role) => role['rules'])).toEqual([plain(RULES)]);
    expect(kindsOf(everywhere, 'Role').map((role) => role['rules'])).toEqual([plain(OWN_RULES)]);
    const two = await render('watchNamespaces={a,b}');
    expect(kindsOf(two, 'ClusterRole')).toEqual([]);
    expect(kindsOf(two, 'Role').map((role) => role['rules'])).toEqual([plain(OWN_RULES), plain(RULES), plain(RULES)]);
  });

  it('installs the CustomResourceDefinitions, kept or not, or leaves them out', async () => {
    const policies = (objects: readonly { readonly [name: string]: unknown }[]) =>
      kindsOf(objects, 'CustomResourceDefinition').map(({ metadata }) =>
        isRecord(metadata) ? metadata['annotations'] : undefined,
      );
    expect(policies(await render())).toEqual(Array(4).fill({ 'helm.sh/resource-policy': 'keep' }));
    expect(policies(await render('crds.keep=false'))).toEqual(Array(4).fill(undefined));
    expect(policies(await render('crds.install=false'))).toEqual([]);
  });

  it.each(['bogus=1', 'image.tagg=x', 'replicas=-1', 'logLevel=loud', 'watchNamespaces={A_b}'])(
    'refuses %s',
    async (value) => {
      await expect(render(value)).rejects.toThrow(/don't meet the specifications of the schema/);
    },
  );
});
