/**
 * How long it takes from `kubectl apply` of a changed ApiSpec until only the new artifact answers, on a cluster with pods
 * (KUBECONFIG, and the image in it as GW_E2E_IMAGE), and where the time of a rolling update goes.
 *
 *   node test/bench/apply-to-serving.ts [--changes 20] [--strategy Rolling|InPlace]
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isRecord } from '../../operator/src/kube/kube-object.ts';
import { image, installOperator } from '../e2e/installed-operator.ts';
import { document } from '../operator/manifests.ts';

const { values } = parseArgs({
  options: { changes: { type: 'string', default: '20' }, strategy: { type: 'string', default: 'Rolling' } },
});
/** As many new answers in a row, each over a connection of its own, count as "only the new one answers". */
const IN_A_ROW = 20;

/** Seconds after the start of `kubectl apply` at which a stage was over. */
type Stages = Record<string, number>;

function spec(body: string): string {
  return JSON.stringify({
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'ApiSpec',
    metadata: { name: 'shop' },
    spec: { source: { inline: document(body, '/a') } },
  });
}

const project = JSON.stringify({
  apiVersion: 'gw.dev/v1alpha1',
  kind: 'GatewayProject',
  metadata: { name: 'shop' },
  spec: {
    specs: { names: ['shop'] },
    plugins: [{ name: 'mock' }],
    rollout: { strategy: values.strategy },
    pods: { image, replicas: 2, resources: { requests: { cpu: '10m', memory: '64Mi' } } },
  },
});

/** Notes when the slowest of the pods made since `begun` had reached each stage. */
function stagesOf(pods: ReadonlyMap<string, Stages>, begun: number): Stages {
  const latest: Stages = {};
  for (const stages of pods.values()) {
    if ((stages['pod is made'] ?? 0) < begun) continue;
    for (const [name, at] of Object.entries(stages)) latest[name] = Math.max(latest[name] ?? 0, (at - begun) / 1000);
  }
  return latest;
}

function conditionOf({ status }: Record<string, unknown>, type: string): boolean {
  const conditions: unknown = isRecord(status) ? status['conditions'] : undefined;
  if (!Array.isArray(conditions)) return false;
  return conditions.some((each) => isRecord(each) && each['type'] === type && each['status'] === 'True');
}
const isRunning = (pod: Record<string, unknown>) => JSON.stringify(pod['status']).includes('"startedAt"');

const operator = await installOperator('bench');
const pods = new Map<string, Stages>();
const watch = spawn(
  'kubectl',
  ['-n', operator.namespace, 'get', 'pods', '-l', 'gw.dev/project=shop', '-w', '-o', 'jsonpath={@}{"\\n"}'],
  { stdio: ['ignore', 'pipe', 'ignore'] },
);
createInterface({ input: watch.stdout }).on('line', (line) => {
  const pod: unknown = JSON.parse(line);
  if (!isRecord(pod) || !isRecord(pod['metadata'])) return;
  const name = String(pod['metadata']['name']);
  const stages = pods.get(name) ?? { 'pod is made': performance.now() };
  pods.set(name, stages);
  if (conditionOf(pod, 'PodReadyToStartContainers')) stages['has its network and volumes'] ??= performance.now();
  if (isRunning(pod)) stages['container runs'] ??= performance.now();
  if (conditionOf(pod, 'Ready')) stages['is ready'] ??= performance.now();
});

async function answer(url: string): Promise<string> {
  const response = await fetch(url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(2000) });
  return response.text();
}

async function untilOnly(url: string, body: string): Promise<number> {
  let first = 0;
  for (let n = 0; n < IN_A_ROW; ) {
    const got = await answer(url);
    if (n === 0) first = performance.now();
    n = got === body ? n + 1 : 0;
    if (n === 0) await pause(10);
  }
  return first;
}

const at = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
const shown = (name: string, seconds: readonly number[]) => {
  const sorted = seconds.toSorted((a, b) => a - b);
  console.log(`${name.padEnd(32)} median ${at(sorted, 0.5).toFixed(2)} s   p95 ${at(sorted, 0.95).toFixed(2)} s`);
};

try {
  await operator.k.apply(spec('0'));
  await operator.k.apply(project);
  await operator.k.condition('gatewayproject/shop', 'Ready');
  const url = `http://${await operator.k.field('service/shop-gateway', '{.spec.clusterIP}')}/a`;
  const runs: Stages[] = [];
  for (let n = 1; n <= Number(values.changes); n++) {
    const begun = performance.now();
    await operator.k.apply(spec(String(n)));
    const applied = performance.now();
    const serving = await untilOnly(url, String(n));
    const stages = { 'kubectl has returned': (applied - begun) / 1000, ...stagesOf(pods, begun) };
    runs.push({ ...stages, 'only the new artifact answers': (serving - begun) / 1000 });
    await operator.k.condition('gatewayproject/shop', 'Ready');
    // What is replaced drains: that is no part of the next change.
    for (;;) {
      const left = await operator.k('get', 'pods', '-l', 'gw.dev/project=shop', '-o', 'name');
      if (left.trim().split('\n').length === 2) break;
      await pause(500);
    }
  }
  console.log(`${values.strategy}, two pods, ${values.changes} changes, from the start of kubectl apply:`);
  for (const name of Object.keys(runs[0] ?? {}))
    shown(
      name,
      runs.flatMap((stages) => stages[name] ?? []),
    );
} finally {
  watch.kill();
  await operator.uninstall();
}
