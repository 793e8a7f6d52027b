/**
 * One operator for all suites on a cluster that do not test installing it, and neither kill it nor set it up in a way
 * of their own. vitest.config.ts has it installed before the first of them and removed after the last one.
 */
import { randomBytes } from 'node:crypto';
import { type InstalledOperator, installOperator, missing, newNamespace, operatorIn } from './installed-operator.ts';
import { execute } from './kubectl.ts';

/** `SYSTEM RELEASE` of the installed one, for the processes that suites run in. */
const VARIABLE = 'GW_TEST_SHARED_OPERATOR';
/** Of the namespaces that it looks at. */
const LABEL = 'gw-shared-operator';

/** Two projects of vitest.config.ts ask for it: the first one installs it. */
export default async function setUp(): Promise<(() => Promise<void>) | undefined> {
  if (missing.length > 0 || process.env[VARIABLE]) return undefined;
  // A letter first: Helm would make a number of digits alone.
  const run = `run-${randomBytes(3).toString('hex')}`;
  const operator = await installOperator('shared', [
    'watchNamespaces=null',
    `watchNamespaceLabels.${LABEL}=${run}`,
    // Suites install control planes in namespaces of their own.
    'egress.allow={*.svc}',
  ]);
  process.env[VARIABLE] = `${operator.system} ${operator.release} ${run}`;
  return () => operator.uninstall();
}

function installed(): { readonly system: string; readonly release: string; readonly run: string } {
  const [system = '', release = '', run = ''] = (process.env[VARIABLE] ?? '').split(' ');
  return { system, release, run };
}

/** With a new namespace for who asks. */
export async function sharedOperator(name: string): Promise<InstalledOperator> {
  const { run, ...at } = installed();
  return operatorIn({ ...at, namespace: await newNamespace(name, { [LABEL]: run }) });
}

/** Has it look at one more. */
export async function lookedAt(namespace: string): Promise<void> {
  await execute('kubectl', ['label', 'namespace', namespace, `${LABEL}=${installed().run}`]);
}
