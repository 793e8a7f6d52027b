/** Two replicas: one leads, the other takes over, and nothing is done twice. Needs KUBECONFIG. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../operator/src/kube/kube-object.ts';
import { eventually } from '../eventually.ts';
import { ApiProxy, type Recorded } from './api-proxy.ts';
import { apiSpec, project } from './manifests.ts';
import { OperatorProcess } from './operator-process.ts';
import { User } from './user.ts';

const missing = process.env['KUBECONFIG'] ? '' : ' (skipped: KUBECONFIG not set)';

interface Replica {
  readonly process: OperatorProcess;
  readonly proxy: ApiProxy;
}

describe.skipIf(missing !== '')(`two replicas${missing}`, () => {
  let user: User;
  const replicas: Replica[] = [];

  async function start(): Promise<Replica> {
    const proxy = await ApiProxy.start();
    const args = ['--namespaces', user.namespace, '--namespace', user.namespace];
    const replica = { proxy, process: await OperatorProcess.start(proxy.kubeconfig, args) };
    replicas.push(replica);
    await replica.process.until('waiting for the Lease');
    return replica;
  }

  const revision = async () => {
    const status = (await user.get('GatewayProject', 'books'))?.['status'];
    return isRecord(status) ? status['latestRevision'] : undefined;
  };
  const compiled = (expected: number) => eventually(async () => expect(await revision()).toBe(expected));

  /** Every revision once, from the first to this one. */
  async function eachOnce(last: number): Promise<void> {
    const parts = (await user.list('ConfigMap')).filter(
      ({ metadata }) => metadata.labels?.['gw.dev/project'] === 'books',
    );
    const numbers = parts
      .map(({ metadata }) => Number(metadata.annotations?.['gw.dev/revision']))
      .toSorted((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: last }, (_, n) => n + 1));
  }

  beforeAll(async () => {
    user = await User.start('failover');
  });
  afterAll(async () => {
    for (const { process, proxy } of replicas) {
      await process.stop('SIGKILL');
      await proxy.close();
    }
    await user.leave();
    await user.api.close();
  });

  it('one is killed, one is stopped, one comes back from a pause: each revision is made once', async () => {
    const first = await start();
    await first.process.until('watching');
    const second = await start();
    await user.apply('ApiSpec', 'books', apiSpec('one'));
    await user.apply('GatewayProject', 'books', project());
    await compiled(1);
    expect(second.process.said('leading')).toBe(false);

    // kill -9 in the middle of the next one: between the parts and the status.
    const stored = parts(first.proxy.requests).length;
    await user.apply('ApiSpec', 'books', apiSpec('two'));
    await eventually(() => expect(parts(first.proxy.requests).length).toBeGreaterThan(stored));
    await first.process.stop('SIGKILL');
    await second.process.until('watching');
    await compiled(2);
    await eachOnce(2);

    // SIGTERM gives the Lease back: the next one need not wait until it runs out.
    const third = await start();
    const before = performance.now();
    expect(await second.process.stop('SIGTERM')).toBe(0);
    await third.process.until('leading');
    expect(performance.now() - before).toBeLessThan(12_000);
    await user.apply('ApiSpec', 'books', apiSpec('three'));
    await compiled(3);
    await eachOnce(3);

    // One that was paused for longer than its Lease lasts writes nothing when it comes back, and ends.
    const fourth = await start();
    third.process.signal('SIGSTOP');
    await user.apply('ApiSpec', 'books', apiSpec('four'));
    await fourth.process.until('watching');
    await compiled(4);
    const paused = Date.now();
    third.process.signal('SIGCONT');
    expect(await third.process.exited).not.toBe(0);
    expect(third.process.errors).toContain('the Lease was lost');
    expect(writes(third.proxy.requests).filter(({ at }) => at >= paused)).toEqual([]);
    await eachOnce(4);
    expect(await user.condition('GatewayProject', 'books', 'Stored')).toBe('True Stored');
  });
});

function parts(requests: readonly Recorded[]): readonly Recorded[] {
  return requests.filter(({ verb, resource, status }) => verb === 'patch' && resource === 'configmaps' && status < 300);
}

/** What was written, apart from the Lease and Events. */
function writes(requests: readonly Recorded[]): readonly Recorded[] {
  return requests.filter(
    ({ verb, resource, status }) =>
      ['create', 'patch', 'update', 'delete'].includes(verb) &&
      !['leases', 'events'].includes(resource) &&
      status < 300,
  );
}
