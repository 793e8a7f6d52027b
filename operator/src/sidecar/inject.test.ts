/** What becomes of a pod that gets a sidecar. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { gatewayProjects } from '../api/resources.ts';
import { isRecord } from '../kube/kube-object.ts';
import { hasSidecar, inject, type PatchOperation } from './inject.ts';
import { ANNOTATION_PROJECT, injectedLabel, LABEL_INJECTED, projectOfSidecar } from './labels.ts';
import { readPod } from './pod.ts';
import type { SidecarSettings } from './sidecar-container.ts';

const project = gatewayProjects.parse({
  metadata: { name: 'shop', namespace: 'apis', uid: 'uid-1' },
  spec: { specs: { selector: {} }, secrets: { directory: 'keys', env: ['vars'] }, egress: { allow: ['10.0.0.0/8'] } },
  status: { revision: 2, revisions: [{ revision: 2, artifactHash: 'h', archive: 'abc', createdAt: 'x', parts: 2 }] },
});
const settings: SidecarSettings = {
  image: 'gw:test',
  trustedKeys: ['ab'],
  link: {
    url: 'wss://gw-link.gw-system.svc/ws/data-plane',
    projectId: 'uid-1',
    ca: 'PEM',
    credential: { kind: 'service-account', audience: 'gw-operator' },
  },
};
const web = { name: 'http', containerPort: 8080 };

function podWith(spec: object, metadata: object = {}): unknown {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { generateName: 'orders-', labels: { app: 'orders' }, ...metadata },
    spec: { containers: [{ name: 'app', image: 'orders:1', ports: [web] }], ...spec },
  };
}

/** RFC 6902, as far as our patches go. */
function patched(pod: unknown, patch: readonly PatchOperation[]): unknown {
  const result: unknown = structuredClone(pod);
  for (const { path, value } of patch) {
    const keys = path
      .slice(1)
      .split('/')
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = keys.pop() ?? '';
    let at: unknown = result;
    for (const key of keys) at = Array.isArray(at) ? at[Number(key)] : isRecord(at) ? at[key] : undefined;
    if (Array.isArray(at) && last === '-') at.push(value);
    else if (at !== null && typeof at === 'object') Object.assign(at, { [last]: value });
    else throw new Error(`${path} leads nowhere`);
  }
  return result;
}

function injected(pod: unknown, namespace = 'apis', deps = settings) {
  const read = readPod(pod);
  if (!read) throw new Error('no pod');
  const injection = inject(read, namespace, project, deps);
  if (!injection.ok) throw new Error(injection.reason);
  const result = readPod(patched(pod, injection.patch));
  if (!result) throw new Error('the result is no pod');
  const sidecar = result.spec.initContainers?.find(({ name }) => name === 'gw-sidecar');
  return { ...injection, pod: result, sidecar: JSON.parse(JSON.stringify(sidecar)), whole: JSON.stringify(result) };
}

describe('a pod with a sidecar', () => {
  it('has gw serve under the name of its port, before the app, and is known by label and annotation', () => {
    const { pod, sidecar } = injected(podWith({}));
    expect(pod.spec.containers[0]?.ports).toEqual([{ name: 'gw-app', containerPort: 8080 }]);
    expect(sidecar.ports).toEqual([{ name: 'http', containerPort: 19080, protocol: 'TCP' }]);
    expect(sidecar.restartPolicy).toBe('Always');
    expect(sidecar.args.join(' ')).toContain(
      'serve --listen 0.0.0.0:19080 --app-port 8080 --admin-bind 127.0.0.1:19081',
    );
    expect(sidecar.args.join(' ')).toContain(
      '--control-plane wss://gw-link.gw-system.svc/ws/data-plane --project-id uid-1',
    );
    expect(sidecar.args.join(' ')).toContain('--egress-allow 10.0.0.0/8');
    expect(projectOfSidecar({ name: 'x', namespace: 'apis', ...pod.metadata })).toEqual({
      namespace: 'apis',
      name: 'shop',
    });
    expect(hasSidecar(pod)).toBe(true);
  });

  it('lets connections go when the pod begins to end, and not only when the app has', () => {
    const { sidecar } = injected(podWith({}));
    const [program, , script] = sidecar.lifecycle.preStop.exec.command;
    const killed: unknown[] = [];
    const cmdlines: { [path: string]: string } = {
      '/proc/1/cmdline': 'pause\0',
      '/proc/7/cmdline': 'node\0/app/gw.js\0serve\0--listen\0',
      '/proc/8/cmdline': 'node\0/app/app.js\0serve\0',
    };
    const fs = {
      readdirSync: () => ['self', '1', '7', '8', '9'],
      readFileSync: (path: string) => cmdlines[path] ?? expect.fail('gone'),
    };
    const kill = (...of: unknown[]) => killed.push(of);
    new Function('require', 'process', script)(() => fs, { kill });
    expect([program, killed]).toEqual(['node', [[7, 'SIGUSR1']]]);
  });

  it('has its probes and hooks asked of the app, and those of other containers left alone', () => {
    const http = { httpGet: { path: '/', port: 'http' } };
    const app = {
      name: 'app',
      ports: [web],
      readinessProbe: http,
      livenessProbe: { tcpSocket: { port: 'http' } },
      startupProbe: { httpGet: { port: 8080 } },
      lifecycle: { preStop: http },
    };
    const other = {
      name: 'other',
      ports: [{ name: 'metrics', containerPort: 9 }],
      readinessProbe: { httpGet: { port: 'metrics' } },
    };
    const { pod } = injected(podWith({ containers: [other, app] }));
    expect(pod.spec.containers[1]).toMatchObject({
      readinessProbe: { httpGet: { path: '/', port: 8080 } },
      livenessProbe: { tcpSocket: { port: 8080 } },
      startupProbe: { httpGet: { port: 8080 } },
      lifecycle: { preStop: { httpGet: { path: '/', port: 8080 } } },
    });
    expect(pod.spec.containers[0]).toEqual(other);
  });

  it('keeps what it has of init containers, volumes and everything else', () => {
    const own = {
      initContainers: [{ name: 'migrate', image: 'x' }],
      volumes: [{ name: 'data', emptyDir: {} }],
      imagePullSecrets: [{ name: 'mine' }],
      nodeSelector: { disk: 'ssd' },
    };
    const { whole, pod } = injected(podWith(own));
    expect(pod.spec.initContainers?.map(({ name }) => name)).toEqual(['migrate', 'gw-sidecar']);
    expect(JSON.parse(whole).spec).toMatchObject({
      nodeSelector: { disk: 'ssd' },
      imagePullSecrets: [{ name: 'mine' }],
    });
    expect(pod.spec.volumes?.map(({ name }) => name)).toEqual([
      'data',
      'gw-tmp',
      'gw-artifact',
      'gw-secrets',
      'gw-link',
      'gw-cache',
    ]);
  });

  it('meets the restricted Pod Security Standard, whatever the pod does', () => {
    const { sidecar } = injected(podWith({ securityContext: { runAsUser: 0, runAsNonRoot: false } }));
    expect(sidecar.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      privileged: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      runAsUser: 1000,
      runAsGroup: 1000,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    });
  });

  it('starts with what the project serves, and starts without where that is gone', () => {
    const { whole } = injected(podWith({}));
    const volume = JSON.parse(whole).spec.volumes.find(({ name }: { name: string }) => name === 'gw-artifact');
    expect(volume.projected.sources).toEqual([
      { configMap: { name: 'shop-abc-0', optional: true } },
      { configMap: { name: 'shop-abc-1', optional: true } },
    ]);
  });

  it('in another namespace has neither the secrets nor the artifact of the project, but what it names itself', () => {
    const { whole, sidecar } = injected(podWith({}), 'team');
    expect(whole).not.toMatch(/shop-abc|"keys"|"vars"/);
    expect(sidecar.args).not.toContain('--artifact');
    const annotations = { 'gw.dev/secrets-directory': 'mine', 'gw.dev/secrets-env': 'a, b' };
    const naming = injected(podWith({}, { annotations }), 'team');
    expect(naming.whole).toContain('"secret":{"secretName":"mine","optional":true,"defaultMode":292}');
    expect(naming.sidecar.envFrom).toEqual([
      { secretRef: { name: 'a', optional: true } },
      { secretRef: { name: 'b', optional: true } },
    ]);
  });

  it('has the resources and the log level of its annotations, and is told which are not understood', () => {
    const annotations = {
      'gw.dev/cpu-request': '200m',
      'gw.dev/memory-limit': '1Gi',
      'gw.dev/memory-request': 'much',
      'gw.dev/log-level': 'debug',
    };
    const { sidecar, warnings } = injected(podWith({}, { annotations }));
    expect(sidecar.resources).toEqual({ requests: { cpu: '200m', memory: '96Mi' }, limits: { memory: '1Gi' } });
    expect(sidecar.args.join(' ')).toContain('--log-level debug');
    expect(warnings).toEqual([
      'annotation gw.dev/memory-request is ignored: expected a quantity such as 100m or 128Mi',
    ]);
  });

  it('takes other ports where the pod has those of the sidecar', () => {
    const ports = [web, { containerPort: 19080 }, { containerPort: 19081 }];
    const { sidecar } = injected(podWith({ containers: [{ name: 'app', ports }] }));
    expect(sidecar.args.join(' ')).toContain('--listen 0.0.0.0:19082');
    expect(sidecar.args.join(' ')).toContain('--admin-bind 127.0.0.1:19083');
  });

  it('opens its admin port only where it is asked to', () => {
    const { sidecar } = injected(podWith({}, { annotations: { 'gw.dev/admin': 'true' } }));
    expect(sidecar.args.join(' ')).toContain('--admin-bind 0.0.0.0:19081');
    expect(sidecar.ports[1]).toEqual({ name: 'gw-admin', containerPort: 19081, protocol: 'TCP' });
  });
});

describe('the port that is taken', () => {
  const ports = (...each: object[]) => podWith({ containers: [{ name: 'app', ports: each }] });
  const grpc = { name: 'grpc', containerPort: 50 };
  it.each([
    ['the one named http', ports(grpc, web), {}, 'http'],
    ['the only one with a name', ports({ containerPort: 1 }, grpc), {}, 'grpc'],
    ['the one that the annotation names', ports(grpc, web), { 'gw.dev/port': 'grpc' }, 'grpc'],
  ])('is %s', (_, pod, annotations, expected) => {
    const { sidecar } = injected({ ...Object(pod), metadata: { annotations } });
    expect(sidecar.ports[0].name).toBe(expected);
  });

  it.each([
    ['there is none with a name', ports({ containerPort: 80 }), {}, 'it has no TCP port with a name'],
    ['the one that is named is not there', ports(web), { 'gw.dev/port': 'web' }, 'no TCP port named "web"'],
    [
      'there are several and none is http',
      ports(grpc, { name: 'rest', containerPort: 5 }),
      {},
      'choose one by annotation gw.dev/port',
    ],
    ['it is UDP', ports({ ...web, protocol: 'UDP' }), {}, 'no TCP port with a name'],
    ['the pod uses the network of its node', podWith({ hostNetwork: true }), {}, 'hostNetwork'],
    ['the pod is for Windows', podWith({ os: { name: 'windows' } }), {}, 'Windows'],
    ['a volume has a name of ours', podWith({ volumes: [{ name: 'gw-tmp', emptyDir: {} }] }), {}, 'rename "gw-tmp"'],
    [
      'a container has the name of the sidecar',
      podWith({ containers: [{ name: 'gw-sidecar', ports: [web] }] }),
      {},
      'is named "gw-sidecar"',
    ],
  ])('is none when %s', (_, pod, annotations, reason) => {
    expect(() => injected({ ...Object(pod), metadata: { annotations } })).toThrow(reason);
  });
});

it('whatever the pod: the name moves to the sidecar, the app keeps its numbers, and nothing else changes', () => {
  const name = fc.constantFrom('http', 'grpc', 'metrics', undefined);
  const port = fc.record({
    name,
    containerPort: fc.integer({ min: 1, max: 65535 }),
    protocol: fc.constantFrom('TCP', 'UDP', undefined),
  });
  const probe = fc.option(fc.record({ httpGet: fc.record({ port: fc.oneof(name, fc.integer({ min: 1, max: 9 })) }) }));
  const container = fc.record({ ports: fc.array(port, { maxLength: 3 }), readinessProbe: probe, livenessProbe: probe });
  const annotations = fc.record({ 'gw.dev/port': fc.constantFrom('http', 'grpc', 'none') }, { requiredKeys: [] });
  const pod = fc.record({ containers: fc.array(container, { minLength: 1, maxLength: 3 }), annotations });
  fc.assert(
    fc.property(pod, ({ containers, annotations: given }) => {
      // Without what is undefined or null, as from a server.
      const sent: unknown = JSON.parse(
        JSON.stringify(
          podWith({ containers: containers.map((each, n) => ({ name: `c${n}`, ...each })) }, { annotations: given }),
          (_, value: unknown) => value ?? undefined,
        ),
      );
      const before = readPod(sent);
      if (!before) throw new Error('no pod');
      const injection = inject(before, 'apis', project, settings);
      if (!injection.ok) {
        expect(injection.reason).not.toBe('');
        return;
      }
      const after = readPod(patched(sent, injection.patch));
      const ports = (of: typeof after) =>
        (of?.spec.containers ?? []).map((each) => (each.ports ?? []).map((p) => p.containerPort));
      expect(ports(after)).toEqual(ports(before));
      const sidecar = after?.spec.initContainers?.find((each) => each.name === 'gw-sidecar');
      const taken = sidecar?.ports?.[0];
      const named = (after?.spec.containers ?? []).flatMap((each) => each.ports ?? []);
      expect(named.filter((p) => p.name === taken?.name && p.protocol !== 'UDP')).toEqual([]);
      expect(named.filter((p) => p.name === 'gw-app')).toHaveLength(1);
      expect(ports(before).flat()).not.toContain(taken?.containerPort);
      // The app that was asked by the name is asked by its number.
      const owner = after?.spec.containers.find((each) => each.ports?.some((p) => p.name === 'gw-app'));
      for (const each of [owner?.readinessProbe, owner?.livenessProbe])
        expect(each?.httpGet?.port).not.toBe(taken?.name);
    }),
    propertyRuns(300),
  );
});

it('labels of sidecars fit, and tell projects apart', () => {
  const long = (end: string) => injectedLabel({ namespace: 'n'.repeat(60), name: `p${end}` });
  expect(injectedLabel({ namespace: 'apis', name: 'shop' })).toBe('apis.shop');
  expect(long('aaaa').length).toBeLessThanOrEqual(63);
  expect(long('aaaa')).not.toBe(long('aaab'));
  const claims = { labels: { [LABEL_INJECTED]: 'apis.shop' }, annotations: { [ANNOTATION_PROJECT]: 'apis/other' } };
  expect(projectOfSidecar({ name: 'x', ...claims })).toBeUndefined();
});
