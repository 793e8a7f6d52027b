/** What somebody edits by hand in an object that the operator makes is put back, lists with keys too. Needs KUBECONFIG. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../operator/src/kube/kube-object.ts';
import { eventually } from '../eventually.ts';
import { ApiProxy } from './api-proxy.ts';
import { apiSpec, project } from './manifests.ts';
import { OperatorProcess } from './operator-process.ts';
import { User } from './user.ts';

const missing = process.env['KUBECONFIG'] ? '' : ' (skipped: KUBECONFIG not set)';

describe.skipIf(missing !== '')(`edits by hand${missing}`, () => {
  let user: User;
  let proxy: ApiProxy;
  let operator: OperatorProcess;

  async function serviceSpec(): Promise<{ readonly [field: string]: unknown }> {
    const spec = (await user.get('Service', 'books-gateway'))?.['spec'];
    return isRecord(spec) ? spec : {};
  }
  const ports = async () => {
    const found = (await serviceSpec())['ports'];
    return Array.isArray(found) ? found.filter(isRecord).map(({ name, port }) => `${name} ${port}`) : [];
  };
  const untilPorts = (...expected: readonly string[]) =>
    eventually(async () => expect(await ports()).toEqual(expected));
  const port = (number: number) => ({ port: number, name: 'http', targetPort: 'http', protocol: 'TCP' });

  beforeAll(async () => {
    user = await User.start('edits');
    proxy = await ApiProxy.start();
    const args = ['--namespace', user.namespace, '--namespaces', user.namespace, '--no-leader-election'];
    operator = await OperatorProcess.start(proxy.kubeconfig, args);
    await operator.until('watching');
    await user.apply('ApiSpec', 'books', apiSpec('one'));
    await user.apply('GatewayProject', 'books', project());
    await untilPorts('http 80');
  });
  afterAll(async () => {
    await operator.stop('SIGKILL');
    await proxy.close();
    await user.leave();
    await user.api.close();
  });

  it('another port of the Service is put back, with its address kept', async () => {
    const { clusterIP } = await serviceSpec();
    await user.patch('Service', 'books-gateway', { spec: { ports: [port(81)] } });
    await untilPorts('http 80');
    expect(await serviceSpec()).toMatchObject({ clusterIP });
    await eventually(async () =>
      expect((await user.list('Event')).map(({ note }) => note)).toContain(
        '"kubectl-edit" sets .spec.ports of Service "books-gateway": the operator takes them back',
      ),
    );
  });

  it('what is wanted later replaces what was put back', async () => {
    await user.apply('GatewayProject', 'books', project({ service: { port: 8080 } }));
    await untilPorts('http 8080');
    await user.apply('GatewayProject', 'books', project());
    await untilPorts('http 80');
  });

  it('a port that somebody else applies under our name is taken back, too', async () => {
    await user.apply('Service', 'books-gateway', { spec: { ports: [{ ...port(80), name: 'taken' }] } }, 'somebody');
    await untilPorts('http 80');
    await user.patch('Service', 'books-gateway', { spec: { ports: [port(82)] } });
    await untilPorts('http 80');
  });

  it('a workload that is paused, or slowed down, goes on as the project says', async () => {
    const pace = async () => {
      const spec = (await user.get('Workload', 'books-gateway'))?.['spec'];
      return isRecord(spec) ? [spec['replicas'], spec['paused'], spec['minReadySeconds']] : [];
    };
    const wanted = await eventually(async () => {
      const found = await pace();
      expect(found).toHaveLength(3);
      return found;
    });
    await user.patch('Workload', 'books-gateway', { spec: { replicas: 0, paused: true, minReadySeconds: 18 } });
    await eventually(async () => expect(await pace()).toEqual(wanted));
  });

  it('an artifact whose ConfigMap holds another one is made again, and an Event says so', async () => {
    const part = async () =>
      (await user.list('ConfigMap')).find(({ metadata }) => /-[0-9a-f]{64}-0$/.test(metadata.name));
    const before = await eventually(async () => {
      const found = await part();
      expect(found).toBeDefined();
      return found;
    });
    if (!before) throw new Error('no part');
    const { name, labels, annotations, ownerReferences } = before.metadata;
    const [file = ''] = Object.keys(isRecord(before['binaryData']) ? before['binaryData'] : {});
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels, annotations, ownerReferences },
      immutable: true,
      binaryData: { [file]: btoa('another') },
    };
    // The operator makes again what is deleted, and may be first.
    await eventually(async () => {
      await user.remove('ConfigMap', name);
      await user.api.json({ method: 'POST', path: user.path('ConfigMap'), body });
    });
    await eventually(async () => expect((await part())?.['binaryData']).toEqual(before['binaryData']));
    await eventually(async () =>
      expect((await user.list('Event')).map(({ reason }) => reason)).toContain('ArtifactExchanged'),
    );
  });
});
