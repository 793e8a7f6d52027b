/** docs/kubernetes.md, typed as it is written, where an operator is installed. */
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, walkPage } from '../docs/page-suite.ts';
import { GW_OPERATOR } from '../programs/gw-operator.ts';
import { type InstalledOperator, image, missing } from './installed-operator.ts';
import { execute } from './kubectl.ts';
import { sharedOperator } from './shared-operator.ts';

let operator: InstalledOperator | undefined;

/** The examples with the image that is tested, which no registry has. */
async function copyExamples(folder: string): Promise<void> {
  await cp(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true });
  const inventory = join(folder, 'examples', 'bookstore', '2-inventory.yaml');
  const text = await readFile(inventory, 'utf8');
  await writeFile(inventory, text.replaceAll('image: gw:0.8.0', `image: ${image}`));
}

/** Whose context has the namespace. */
async function kubeconfigOf(namespace: string, file: string): Promise<string> {
  await writeFile(file, await execute('kubectl', ['config', 'view', '--raw', '--flatten', '--minify']));
  await execute('kubectl', ['--kubeconfig', file, 'config', 'set-context', '--current', '--namespace', namespace]);
  return file;
}

walkPage(
  'docs/kubernetes.md',
  {
    programs: { 'gw-operator': [GW_OPERATOR], 'kubectl-gw': [GW_OPERATOR, 'kubectl'] },
    tools: ['kubectl', 'curl', 'openssl'],
    ports: [8080],
    async prepare(folder) {
      operator = await sharedOperator('page');
      await copyExamples(folder);
      return { KUBECONFIG: await kubeconfigOf(operator.namespace, join(folder, 'kubeconfig')) };
    },
    after: async () => operator?.uninstall(),
  },
  missing.length > 0 ? `${missing.join(' and ')} not set` : '',
);
