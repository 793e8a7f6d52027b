/** What users do to one project of a namespace, at random. */
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { isObserved } from './cluster-state.ts';
import { apiSpec, document, project } from './manifests.ts';
import type { Found, User } from './user.ts';

export interface Step {
  readonly name: string;
  /** Which of several alike. */
  readonly n: number;
}

/** `id` is the project's name; what belongs to it carries it as a label. */
type Do = (user: User, id: string, n: number, key: string) => Promise<void>;

const labels = (id: string) => ({ metadata: { labels: { app: id } } });
const projectOf = (id: string, more: object = {}) =>
  project({ specs: { selector: { matchLabels: { app: id } } }, ...more });

const VARIANTS: readonly ((id: string) => object)[] = [
  () => ({}),
  () => ({ networkPolicy: { enabled: false } }),
  () => ({ revisionHistoryLimit: 2 }),
  () => ({ allowPlaintext: true }),
  (id) => ({ signing: { keySecret: { name: `${id}-signing` } } }),
  (id) => ({ plugins: [{ name: 'mock', pluginRef: `${id}-mock` }] }),
];

/** So long an object of the operator is waited for by who edits it, since an operator that is disturbed takes its time. */
const MADE_MS = 5000;

/** An object that the project owns. */
async function owned(user: User, kind: 'Service' | 'Workload' | 'ServiceAccount' | 'NetworkPolicy', id: string) {
  return user.get(kind, `${id}-gateway`);
}

async function edit(
  user: User,
  kind: 'Service' | 'Workload' | 'NetworkPolicy',
  id: string,
  body: object,
): Promise<void> {
  const end = performance.now() + MADE_MS;
  while (!(await owned(user, kind, id)) && performance.now() < end) await pause(250);
  // What goes between looking and editing is not there to be edited.
  if (await owned(user, kind, id)) await user.patch(kind, `${id}-gateway`, body).catch(() => undefined);
}

const STEPS: { readonly [name: string]: Do } = {
  spec: (user, id, n) => user.apply('ApiSpec', `${id}-${n % 2}`, { ...apiSpec(`v${n}`, `/p${n % 2}`), ...labels(id) }),
  'spec that is wrong': (user, id, n) =>
    user.apply('ApiSpec', `${id}-${n % 2}`, { ...labels(id), spec: { source: { inline: '{"openapi":' } } }),
  'spec of a ConfigMap': (user, id, n) =>
    user.apply('ApiSpec', `${id}-${n % 2}`, { ...labels(id), spec: { source: { configMap: { name: `${id}-docs` } } } }),
  'spec that is nobody’s': (user, id, n) =>
    user.apply('ApiSpec', `${id}-${n % 2}`, { ...apiSpec(`v${n}`), metadata: { labels: { app: 'nobody' } } }),
  'no spec': (user, id, n) => user.remove('ApiSpec', `${id}-${n % 2}`),
  docs: (user, id, n) =>
    user.apply('ConfigMap', `${id}-docs`, { data: { 'docs.json': document(`docs${n}`, '/docs') } }),
  'no docs': (user, id) => user.remove('ConfigMap', `${id}-docs`),
  plugin: (user, id, n) =>
    user.apply('PluginRef', `${id}-mock`, {
      spec: { plugin: 'mock', source: { builtin: { name: n % 4 === 0 ? 'no-such-plugin' : 'mock' } } },
    }),
  'no plugin': (user, id) => user.remove('PluginRef', `${id}-mock`),
  key: (user, id, _, key) => user.apply('Secret', `${id}-signing`, { stringData: { 'signing.pem': key } }),
  'no key': (user, id) => user.remove('Secret', `${id}-signing`),
  project: (user, id, n) => user.apply('GatewayProject', id, projectOf(id, VARIANTS[n % VARIANTS.length]?.(id))),
  'no project': (user, id) => user.remove('GatewayProject', id),
  deployment: (user, id) => user.apply('Deployment', id, { spec: { project: id, artifact: { latest: true } } }),
  'no deployment': (user, id) => user.remove('Deployment', id),
  'edited Service': (user, id) => edit(user, 'Service', id, { spec: { selector: { 'gw.dev/project': 'else' } } }),
  'edited workload': (user, id, n) => edit(user, 'Workload', id, { spec: { replicas: 0, minReadySeconds: n } }),
  'edited NetworkPolicy': (user, id) => edit(user, 'NetworkPolicy', id, { spec: { policyTypes: ['Egress'] } }),
  'deleted child': async (user, id, n) => {
    const kinds = ['Service', 'Workload', 'ServiceAccount', 'NetworkPolicy'] as const;
    const kind = kinds[n % kinds.length];
    if (kind) await user.remove(kind, `${id}-gateway`);
  },
  'deleted artifact': async (user, id) => {
    const part = (await user.list('ConfigMap')).find(
      (found: Found) => found.metadata.labels?.['gw.dev/project'] === id,
    );
    if (part) await user.remove('ConfigMap', part.metadata.name);
  },
};

/** What makes a project compile, whatever it lacks. */
export const REPAIR: readonly Step[] = [
  { name: 'spec', n: 0 },
  { name: 'no spec', n: 1 },
  { name: 'plugin', n: 1 },
  { name: 'key', n: 0 },
];

/** Sequences that begin with something to work on. */
export function sequences(count: number, seed: number): readonly (readonly Step[])[] {
  const step = fc.record({ name: fc.constantFrom(...Object.keys(STEPS)), n: fc.nat(30) });
  const beginning = [
    { name: 'spec', n: 0 },
    { name: 'project', n: 0 },
  ];
  const sequence = fc.array(step, { minLength: 3, maxLength: 12, size: 'max' });
  return fc.sample(sequence, { numRuns: count, seed }).map((steps) => [...beginning, ...steps]);
}

export async function take({ name, n }: Step, user: User, id: string, key: string): Promise<void> {
  await STEPS[name]?.(user, id, n, key);
}

/** Waits until the operator has said something of the project as it is, for a while at most. */
export async function untilSeen(user: User, id: string, ms: number): Promise<void> {
  const end = performance.now() + ms;
  do {
    await pause(250);
    const found = await user.get('GatewayProject', id);
    if (!found || isObserved(found)) return;
  } while (performance.now() < end);
}
