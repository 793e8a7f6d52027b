/**
 * Two replicas with webhooks, the data-plane link and certificates of their own, over namespaces that a label selects,
 * with the chart's rights and no others: nothing is refused, and each verb is used. Needs KUBECONFIG, kubectl and helm.
 */
import { randomBytes } from 'node:crypto';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CERTIFICATE_RULES,
  CLUSTER_RULES,
  LINK_CLUSTER_RULES,
  LINK_RULES,
  RULES,
  WEBHOOK_RULES,
} from '../../operator/src/install/rbac.ts';
import { AUDIENCE } from '../../operator/src/link/token-reviewer.ts';
import { execute } from '../e2e/kubectl.ts';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { type ChartRights, chartRights, LINKED } from './chart-rights.ts';
import { apiSpec, project } from './manifests.ts';
import { OperatorProcess } from './operator-process.ts';
import { User } from './user.ts';

const missing = process.env['KUBECONFIG'] ? '' : ' (skipped: KUBECONFIG not set)';
const LABEL = 'gw.dev/rbac';
/** Begins with a letter: helm would take digits alone, or `12e345`, for a number. */
const RUN = `r${randomBytes(3).toString('hex')}`;

describe.skipIf(missing !== '')(`the operator's listener with the chart's rights${missing}`, () => {
  let user: User;
  let stranger: User;
  let rights: ChartRights;
  const operators: OperatorProcess[] = [];

  beforeAll(async () => {
    user = await User.start('rbac-listener', undefined, { [LABEL]: RUN });
    stranger = await User.start('rbac-app', user.api, { 'gw.dev/app': 'yes' });
    const selected = `watchNamespaceLabels.${LABEL.replace('.', '\\.')}=${RUN}`;
    rights = await chartRights(user.namespace, [selected], ['rbac', 'webhooks']);
  });
  afterAll(async () => {
    for (const operator of operators) await operator.stop('SIGKILL');
    await rights.close();
    await stranger.leave();
    await user.leave();
    await user.api.close();
  });

  /** A replica and the port of its listener. */
  async function replica(): Promise<{ readonly operator: OperatorProcess; readonly port: number }> {
    const port = await freePort();
    const operator = await OperatorProcess.start(rights.proxy.kubeconfig, [
      ...['--namespace', user.namespace, '--namespace-selector', `${LABEL}=${RUN}`],
      ...['--serve-bind', `127.0.0.1:${port}`, '--tls-name', '127.0.0.1'],
      ...['--webhook-service', 'webhooks', '--link-service', 'link', '--link-address', '192.0.2.1'],
      ...['--validating-webhook', rights.configuration, '--mutating-webhook', rights.configuration],
    ]);
    operators.push(operator);
    return { operator, port };
  }

  async function authority(): Promise<Buffer> {
    const data = (await user.get('Secret', 'gw-operator-tls'))?.['data'];
    return Buffer.from(String(Object(data)['ca.crt']), 'base64');
  }

  /** Status and body of what the listener answers. */
  async function ask(port: number, path: string, headers: Readonly<Record<string, string>>, body?: object) {
    const method = body ? 'POST' : 'GET';
    const asking = request({ host: '127.0.0.1', port, path, method, headers, ca: await authority() });
    asking.end(body && JSON.stringify(body));
    const answer = await new Promise<Parameters<typeof text>[0] & { readonly statusCode?: number }>(
      (resolve, reject) => {
        asking.on('response', resolve).on('error', reject);
      },
    );
    return { status: answer.statusCode, body: await text(answer) };
  }

  const pod = () => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'app',
      namespace: stranger.namespace,
      labels: { 'gw.dev/sidecar': 'true', 'gw.dev/injected': `${user.namespace}.books` },
      annotations: { 'gw.dev/project': `${user.namespace}/books`, 'gw.dev/port': 'http' },
    },
    spec: {
      nodeSelector: { 'gw.dev/nowhere': 'true' },
      containers: [{ name: 'app', image: 'gw.invalid/app:test', ports: [{ name: 'http', containerPort: 8080 }] }],
    },
  });

  it('uses each of them, and is refused nothing', async () => {
    const first = await replica();
    await first.operator.until('watching');
    await user.apply('ApiSpec', 'books', apiSpec('one'));
    const granting = { allowedNamespaces: { selector: { matchLabels: { 'gw.dev/app': 'yes' } } } };
    await user.apply('GatewayProject', 'books', project({ sidecar: granting }));
    await eventually(async () => expect(await user.condition('GatewayProject', 'books', 'Stored')).toBe('True Stored'));

    // A data plane: a pod that shows the token of its service account.
    await execute('kubectl', ['create', '-f', '-'], JSON.stringify(pod()));
    const token = await execute('kubectl', [
      ...['-n', stranger.namespace, 'create', 'token', 'default', '--audience', AUDIENCE],
      ...['--bound-object-kind', 'Pod', '--bound-object-name', 'app'],
    ]);
    const status = (await user.get('GatewayProject', 'books'))?.['status'];
    const archive = String(Object(status)['revisions']?.[0]?.archive);
    const path = `/artifacts/${user.namespace}/books/${archive}`;
    expect(await ask(first.port, path, { authorization: `Bearer ${token.trim()}` })).toMatchObject({ status: 200 });
    expect(await ask(first.port, path, {})).toMatchObject({ status: 401 });

    // The certificates are lost: the replica that does not lead makes new ones, and answers for pods all the same.
    await user.apply('Secret', 'gw-operator-tls', { stringData: { 'tls.crt': '', 'tls.key': '', 'ca.crt': '' } });
    const second = await replica();
    await second.operator.until('waiting for the Lease');
    await eventually(async () => expect((await authority()).toString()).toContain('BEGIN CERTIFICATE'));
    const review = {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: {
        uid: '1',
        operation: 'CREATE',
        namespace: stranger.namespace,
        kind: { group: '', version: 'v1', kind: 'Pod' },
        resource: { group: '', version: 'v1', resource: 'pods' },
        object: { ...pod(), metadata: { ...pod().metadata, labels: { 'gw.dev/sidecar': 'true' } } },
      },
    };
    await eventually(async () => {
      const path = Buffer.from(
        String(Object((await user.get('Secret', 'gw-operator-webhooks'))?.['data']).path),
        'base64',
      );
      const answer = await ask(second.port, `${path}/pods`, { 'content-type': 'application/json' }, review);
      expect(JSON.parse(answer.body)).toMatchObject({ response: { allowed: true, patchType: 'JSONPatch' } });
    });

    // It takes over: its address is where the link's Service leads to.
    expect(await first.operator.stop()).toBe(0);
    await second.operator.until('watching');

    const { proxy } = rights;
    await eventually(() => expect(rights.unused(LINK_RULES)).toEqual([]));
    expect(proxy.requests.filter((each) => each.status === 403 || each.status === 401)).toEqual([]);
    const rules = [...CLUSTER_RULES, ...CERTIFICATE_RULES, ...WEBHOOK_RULES, ...LINK_CLUSTER_RULES];
    expect(rights.unused(rules)).toEqual([]);
    expect(rights.unused(RULES).filter((right) => LINKED.has(right))).toEqual([]);
  });
});
