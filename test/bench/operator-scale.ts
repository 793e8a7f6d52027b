/**
 * The operator with many objects: 1,000 ApiSpecs in 100 projects of ten namespaces, on the cluster of KUBECONFIG (an
 * API server without nodes is enough: the projects have no pods). Says how long it takes until all are stored, the
 * memory, and what an operator costs, CPU time and requests, while nothing changes.
 *
 *   node test/bench/operator-scale.ts [--projects 100] [--specs 10] [--idle SECONDS]
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ApiProxy } from '../operator/api-proxy.ts';
import { apiSpec, project } from '../operator/manifests.ts';
import { OperatorProcess } from '../operator/operator-process.ts';
import { User } from '../operator/user.ts';

const { values } = parseArgs({
  options: {
    projects: { type: 'string', default: '100' },
    specs: { type: 'string', default: '10' },
    idle: { type: 'string', default: '600' },
  },
});
const projects = Number(values.projects);
const specs = Number(values.specs);
const idle = Number(values.idle);
const NAMESPACES = 10;
const TICKS = 100;

interface Use {
  readonly cpuSeconds: number;
  readonly residentMb: number;
  readonly peakMb: number;
}

/** From /proc: user and system time, resident memory and the most of it. */
async function useOf(pid: number): Promise<Use> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ');
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const mb = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS,
    residentMb: mb('VmRSS'),
    peakMb: mb('VmHWM'),
  };
}

const users: User[] = [];
for (let n = 0; n < NAMESPACES; n++) users.push(await User.start('scale'));
const home = users[0];
if (!home) throw new Error('there is no namespace');
const proxy = await ApiProxy.start({ record: false });
const started = performance.now();
const since = () => ((performance.now() - started) / 1000).toFixed(1);
const operator = await OperatorProcess.start(proxy.kubeconfig, [
  ...[
    '--namespace',
    home.namespace,
    '--no-leader-election',
    '--namespaces',
    users.map((user) => user.namespace).join(','),
  ],
]);

try {
  await operator.until('watching');
  console.log(`${since()} s: watching; ${JSON.stringify(await useOf(operator.pid))}`);
  const waiting = Array.from({ length: projects }, (_, n) => n).values();
  const apply = async () => {
    for (const n of waiting) {
      const user = users[n % NAMESPACES];
      if (!user) continue;
      const labels = { app: `p${n}` };
      for (let s = 0; s < specs; s++)
        await user.apply('ApiSpec', `p${n}-${s}`, { ...apiSpec(`p${n}-${s}`, `/p${s}`), metadata: { labels } });
      await user.apply('GatewayProject', `p${n}`, project({ specs: { selector: { matchLabels: labels } } }));
    }
  };
  await Promise.all(Array.from({ length: 8 }, apply));
  console.log(`${since()} s: ${projects * specs} ApiSpecs and ${projects} projects applied`);

  for (;;) {
    const found = (await Promise.all(users.map((user) => user.list('GatewayProject')))).flat();
    const stored = found.filter(({ status }) => JSON.stringify(status ?? {}).includes('"reason":"Stored"')).length;
    if (stored === projects) break;
    await pause(1000);
  }
  console.log(`${since()} s: all stored; ${JSON.stringify(await useOf(operator.pid))}`);
  while (Date.now() - proxy.lastWrite < 10_000) await pause(1000);
  console.log(`${since()} s: quiet; ${JSON.stringify(await useOf(operator.pid))}`);
  console.log(`requests until then: ${JSON.stringify(Object.fromEntries(proxy.counts))}`);

  proxy.counts.clear();
  const before = await useOf(operator.pid);
  await pause(idle * 1000);
  const after = await useOf(operator.pid);
  const requests = [...proxy.counts.values()].reduce((sum, count) => sum + count, 0);
  console.log(`${idle} s in which nothing changed: ${JSON.stringify(after)}`);
  console.log(`CPU: ${(((after.cpuSeconds - before.cpuSeconds) / idle) * 100).toFixed(2)} % of a core`);
  console.log(
    `requests an hour: ${Math.round((requests / idle) * 3600)} ${JSON.stringify(Object.fromEntries(proxy.counts))}`,
  );
} finally {
  await operator.stop();
  await proxy.close();
  for (const user of users) await user.leave();
  await home.api.close();
}
