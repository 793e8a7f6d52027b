/**
 * What a GatewayProject may not make of its pods without a word of the operator (docs/decisions.md#resulting-pod),
 * field by field.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { gatewayProjects } from '../api/resources.ts';
import { isRecord } from '../kube/kube-object.ts';
import { allowsImage, DEFAULT_POD_POLICY, POD_FIELDS, type PodField, type PodPolicy } from './pod-policy.ts';
import { podRefusal, podTemplate } from './pod-template.ts';

const REVISION = {
  revision: 1,
  artifactHash: `sha256:${'a'.repeat(64)}`,
  archive: 'a'.repeat(64),
  createdAt: '',
  parts: 1,
};
const ALL: PodPolicy = {
  ...DEFAULT_POD_POLICY,
  images: ['helper'],
  fields: new Set(Object.keys(POD_FIELDS).filter((name): name is PodField => name in POD_FIELDS)),
};

function project(template: object | undefined, more: object = {}, pods: object = {}) {
  return gatewayProjects.parse({
    metadata: { name: 'shop', namespace: 'default', uid: 'uid-1', generation: 1 },
    spec: { specs: { selector: {} }, ...more, pods: { ...(template ? { template } : {}), ...pods } },
  });
}

const refusal = (template: object | undefined, policy?: PodPolicy, more?: object, pods?: object) =>
  podRefusal(project(template, more, pods), REVISION, {
    image: 'registry.example.org/gw:0.8.0',
    trustedKeys: ['ab'.repeat(32)],
    ...(policy ? { policy } : {}),
  });

const gateway = (fields: object) => ({ spec: { containers: [{ name: 'gateway', ...fields }] } });
const further = (fields: object) => ({ spec: { containers: [{ name: 'more', image: 'helper:1', ...fields }] } });
const volume = (fields: object) => ({ spec: { volumes: [{ name: 'more', ...fields }] } });

const REFUSED: readonly (readonly [string, PodField, object])[] = [
  ['another ServiceAccount', 'serviceAccountName', { spec: { serviceAccountName: 'admin' } }],
  ['the same by its old name', 'serviceAccountName', { spec: { serviceAccount: 'admin' } }],
  ['a token', 'automountServiceAccountToken', { spec: { automountServiceAccountToken: true } }],
  ['a token by default', 'automountServiceAccountToken', { spec: { automountServiceAccountToken: null } }],
  ['processes of the node', 'hostPID', { spec: { hostPID: true } }],
  ['its network', 'hostNetwork', { spec: { hostNetwork: true } }],
  ['its memory', 'hostIPC', { spec: { hostIPC: true } }],
  ['its users', 'hostUsers', { spec: { hostUsers: true } }],
  ['its folders', 'hostPath', volume({ hostPath: { path: '/' } })],
  ['its ports', 'hostPort', further({ ports: [{ containerPort: 80, hostPort: 80 }] })],
  ['a node by name', 'nodeName', { spec: { nodeName: 'control-plane' } }],
  ['another runtime', 'runtimeClassName', { spec: { runtimeClassName: 'none' } }],
  ['one process namespace', 'shareProcessNamespace', { spec: { shareProcessNamespace: true } }],
  ['another user', 'securityContext', { spec: { securityContext: { runAsUser: 0, runAsNonRoot: false } } }],
  ['no context at all', 'securityContext', { spec: { securityContext: null } }],
  ['privileges', 'securityContext', gateway({ securityContext: { privileged: true } })],
  ['privileges of a further container', 'securityContext', further({ securityContext: { privileged: true } })],
  [
    'capabilities of a further container',
    'securityContext',
    further({ securityContext: { capabilities: { add: ['NET_ADMIN'] } } }),
  ],
  ['root in a further container', 'securityContext', further({ securityContext: { runAsUser: 0 } })],
  [
    'no AppArmor',
    'securityContext',
    { metadata: { annotations: { 'container.apparmor.security.beta.kubernetes.io/gateway': 'unconfined' } } },
  ],
  ['a file of the image as a message', 'other', gateway({ terminationMessagePath: '/app/gw.js' })],
  ['a finalizer', 'other', { metadata: { finalizers: ['example.org/never'] } }],
  ['a port of the node for the gateway', 'hostPort', gateway({ ports: [{ containerPort: 8080, hostPort: 443 }] })],
  ['another command', 'command', gateway({ command: ['sh'] })],
  ['other arguments', 'args', gateway({ args: ['serve', '--egress-allow', '0.0.0.0/0'] })],
  ['no arguments', 'args', gateway({ args: null })],
  ['a command at the start', 'lifecycle', gateway({ lifecycle: { postStart: { exec: { command: ['id'] } } } })],
  ['a probe that runs something', 'probes', gateway({ livenessProbe: { exec: { command: ['id'] } } })],
  ['no probe', 'probes', gateway({ readinessProbe: null })],
  ['ports', 'ports', gateway({ ports: [{ containerPort: 22 }] })],
  ['code by a variable', 'env', gateway({ env: [{ name: 'NODE_OPTIONS', value: '--import=/tmp/x.mjs' }] })],
  ['a library by a variable', 'env', gateway({ env: [{ name: 'LD_PRELOAD', value: '/tmp/x.so' }] })],
  ['an option of the gateway', 'env', gateway({ env: [{ name: 'GW_ALLOW_INTERNAL_EGRESS', value: 'true' }] })],
  ['another program called node', 'env', gateway({ env: [{ name: 'PATH', value: '/opt/x' }] })],
  ['modules of the C library', 'env', gateway({ env: [{ name: 'GCONV_PATH', value: '/opt/x' }] })],
  ['a variable that repeats another', 'env', gateway({ env: [{ name: 'A', value: 'x $(GW_STATE)' }] })],
  ['another trusted key', 'env', gateway({ env: [{ name: 'GW_TRUSTED_PUBKEY', value: 'cd' }] })],
  ['no trusted key', 'env', gateway({ env: [{ name: 'GW_TRUSTED_PUBKEY', $patch: 'delete' }] })],
  ['no variables', 'env', gateway({ env: null })],
  ['a whole ConfigMap of variables', 'envFrom', gateway({ envFrom: [{ configMapRef: { name: 'options' } }] })],
  ['a working folder', 'other', gateway({ workingDir: '/tmp' })],
  ['a mount over the program', 'volumeMounts', gateway({ volumeMounts: [{ name: 'tmp', mountPath: '/app' }] })],
  ['a mount over Node.js', 'volumeMounts', gateway({ volumeMounts: [{ name: 'tmp', mountPath: '/usr/local/bin/' }] })],
  ["OpenSSL's configuration", 'volumeMounts', gateway({ volumeMounts: [{ name: 'tmp', mountPath: '/etc/ssl' }] })],
  [
    'the same, as one file',
    'volumeMounts',
    gateway({ volumeMounts: [{ name: 'tmp', mountPath: '/etc/ssl/openssl.cnf', subPath: 'openssl.cnf' }] }),
  ],
  ['its modules', 'volumeMounts', gateway({ volumeMounts: [{ name: 'tmp', mountPath: '/home/iojs/build' }] })],
  [
    'a mount in what the operator mounts',
    'volumeMounts',
    gateway({ volumeMounts: [{ name: 'tmp', mountPath: '/artifact/x' }] }),
  ],
  ['a mount over it', 'volumeMounts', gateway({ volumeMounts: [{ name: 'tmp', mountPath: '/tmp/..//tmp/x' }] })],
  ['a volume of the operator', 'volumeMounts', gateway({ volumeMounts: [{ name: 'artifact', mountPath: '/opt/a' }] })],
  ['a mount by a detour', 'volumeMounts', gateway({ volumeMounts: [{ name: 'tmp', mountPath: '/tmp/../app' }] })],
  ['a mount over all', 'volumeMounts', gateway({ volumeMounts: [{ name: 'tmp', mountPath: '/' }] })],
  [
    'a mount that others see',
    'volumeMounts',
    gateway({ volumeMounts: [{ name: 'tmp', mountPath: '/mnt', mountPropagation: 'Bidirectional' }] }),
  ],
  [
    'another folder in place of the artifact',
    'volumeMounts',
    gateway({ volumeMounts: [{ name: 'tmp', mountPath: '/artifact', readOnly: false }] }),
  ],
  [
    'another volume in its place',
    'volumes',
    { spec: { volumes: [{ name: 'artifact', configMap: { name: 'mine' } }] } },
  ],
  ['a claim', 'volumes', volume({ persistentVolumeClaim: { claimName: 'data' } })],
  ['a driver', 'volumes', volume({ csi: { driver: 'secrets-store.csi.k8s.io' } })],
  [
    'a token in a volume',
    'volumes',
    volume({ projected: { sources: [{ serviceAccountToken: { path: 'token', audience: 'api' } }] } }),
  ],
  ['a device', 'volumes', further({ volumeDevices: [{ name: 'a', devicePath: '/dev/sda' }] })],
  ['a further container', 'containers', further({})],
  ['one before it', 'initContainers', { spec: { initContainers: [{ name: 'more', image: 'helper:1' }] } }],
  ['an ephemeral one', 'other', { spec: { ephemeralContainers: [{ name: 'debug', image: 'helper:1' }] } }],
  ['a claim of resources', 'other', { spec: { resourceClaims: [{ name: 'gpu' }] } }],
];

describe('a pod is not made with', () => {
  it.each(REFUSED)('%s: %s must be allowed', (_, field, template) => {
    const others = new Set([...ALL.fields].filter((each) => each !== field));
    const message = refusal(template, { ...ALL, fields: others });
    expect(message).toMatch(/^spec\.pods\.template: /);
    expect(message).toContain(`must be allowed with --allow-pod-fields ${field} of the operator`);
    expect(refusal(template)).toBeDefined();
    expect(refusal(template, ALL)).toBeUndefined();
  });

  it('Secrets that the project does not name, wherever they stand', () => {
    const templates = [
      volume({ secret: { secretName: 'admin' } }),
      volume({ projected: { sources: [{ secret: { name: 'admin' } }] } }),
      gateway({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'admin', key: 'a' } } }] }),
      further({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'admin', key: 'a' } } }] }),
      further({ envFrom: [{ secretRef: { name: 'admin' } }] }),
      gateway({ envFrom: [{ secretRef: { name: 'admin' } }] }),
      volume({ csi: { driver: 'x', nodePublishSecretRef: { name: 'admin' } } }),
      volume({ azureFile: { secretName: 'admin', shareName: 'x' } }),
      volume({ projected: { sources: [{ secret: { name: 'admin', secretName: 'shop' } }] } }),
      { spec: { imagePullSecrets: [{ name: 'admin' }] } },
    ];
    for (const template of templates) {
      expect(refusal(template, ALL)).toContain('names Secret "admin": list it in spec.secrets.template');
      expect(refusal(template, ALL, { secrets: { template: ['admin'] } })).toBeUndefined();
    }
  });

  it('images that the operator does not allow, whichever field names them', () => {
    const asked = 'image "evil.example/gw:1" must be allowed with --allow-images of the operator';
    expect(refusal(undefined, ALL, {}, { image: 'evil.example/gw:1' })).toBe(`spec.pods: ${asked}`);
    expect(refusal(gateway({ image: 'evil.example/gw:1' }), ALL)).toContain(
      'set the image of the container "gateway" in spec.pods.image',
    );
    expect(refusal(further({ image: 'evil.example/gw:1' }), ALL)).toBe(`spec.pods.template: ${asked}`);
    expect(refusal(undefined, undefined, {}, { image: 'registry.example.org/gw:0.7.0' })).toBeUndefined();
  });

  it('any patch, where the operator takes none', () => {
    const policy = { ...ALL, templatePatches: false };
    expect(refusal({ spec: { hostname: 'a' } }, policy)).toContain('--template-patches=off');
    expect(refusal(undefined, policy)).toBeUndefined();
  });
});

describe('a pod is made with', () => {
  it.each([
    ['labels and annotations', { metadata: { labels: { team: 'a' }, annotations: { 'example.org/a': 'b' } } }],
    ['scheduling', { spec: { nodeSelector: { a: 'b' }, schedulerName: 'own', priorityClassName: 'high' } }],
    ['its end', { spec: { terminationGracePeriodSeconds: 120 } }],
    [
      'DNS',
      { spec: { dnsPolicy: 'None', dnsConfig: { nameservers: ['10.0.0.1'] }, hostAliases: [{ ip: '10.0.0.1' }] } },
    ],
    ['resources', gateway({ resources: { limits: { cpu: '2' } } })],
    ['timings of probes', gateway({ readinessProbe: { periodSeconds: 5 }, livenessProbe: { failureThreshold: 9 } })],
    [
      'variables',
      gateway({
        env: [
          { name: 'TZ', value: 'UTC' },
          { name: 'NODE', valueFrom: { fieldRef: {} } },
        ],
      }),
    ],
    [
      'volumes, and mounts of them',
      {
        spec: {
          volumes: [
            { name: 'ca', configMap: { name: 'ca' } },
            { name: 'scratch', emptyDir: {} },
            { name: 'about', downwardAPI: { items: [] } },
            { name: 'all', projected: { sources: [{ configMap: { name: 'ca' } }, { downwardAPI: {} }] } },
            { name: 'tmp', emptyDir: { sizeLimit: '1Gi' } },
          ],
          containers: [{ name: 'gateway', volumeMounts: [{ name: 'ca', mountPath: '/etc/gw/ca' }] }],
        },
      },
    ],
  ])('%s', (_, template) => {
    expect(refusal(template)).toBeUndefined();
  });
});

it.each<[string, readonly string[], boolean]>([
  ['registry.example.org/gw:1', [], true],
  [`registry.example.org/gw@sha256:${'a'.repeat(64)}`, [], true],
  ['registry.example.org/gw-evil:1', [], false],
  ['registry.example.org:5000/gw:1', [], false],
  ['evil.example/registry.example.org/gw:1', [], false],
  ['other.example/team/gw:1', ['other.example/team/*'], true],
  ['other.example/teams/gw:1', ['other.example/team/*'], false],
  ['other.example/team/../x:1', ['other.example/team/*'], false],
  ['other.example/gw:1', ['other.example/gw:1'], true],
  ['other.example/gw:2', ['other.example/gw:1'], false],
  ['other.example/gw:2', ['other.example/gw'], true],
  ['other.example:5000/gw', ['other.example'], false],
  ['gw other', ['gw other'], false],
])('image %s, allowed %j: %s', (image, images, allowed) => {
  expect(allowsImage(image, 'registry.example.org/gw:0.8.0', { images })).toBe(allowed);
});

describe('whatever a patch says', () => {
  const names = fc.constantFrom(
    ...['gateway', 'artifact', 'tmp', 'more', 'GW_TRUSTED_PUBKEY', 'NODE_OPTIONS', 'A', 'shop-gateway'],
  );
  const keys = fc.constantFrom(
    ...['spec', 'metadata', 'containers', 'initContainers', 'volumes', 'env', 'volumeMounts', 'name', 'value'],
    ...['$patch', 'securityContext', 'privileged', 'hostPID', 'serviceAccountName', 'image', 'command', 'args'],
    ...['mountPath', 'secret', 'secretName', 'hostPath', 'annotations', 'labels', 'readinessProbe', 'exec'],
  );
  const leaf = fc.oneof(names, fc.constantFrom('delete', 'replace', '/app', '/tmp', null, true, 0, {}, []));
  const { patch } = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, tie('object'), fc.array(tie('object'))),
    object: fc.dictionary(keys, tie('value'), { maxKeys: 4 }),
    patch: fc.record(
      {
        metadata: fc.dictionary(keys, tie('value'), { maxKeys: 3 }),
        spec: fc.record(
          {
            containers: fc.array(fc.record({ name: names, more: fc.constant(undefined) }).chain(withFields), {
              maxLength: 2,
            }),
            volumes: fc.array(fc.record({ name: names }), { maxLength: 2 }),
            hostPID: leaf,
            serviceAccountName: leaf,
            securityContext: tie('object'),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    ),
  }));

  function withFields({ name }: { readonly name: string }) {
    return fc
      .dictionary(keys, leaf, { maxKeys: 4 })
      .map((fields) => ({ ...fields, name }) as Readonly<Record<string, unknown>>);
  }

  it('what runs is what the operator made, with its command, user and ServiceAccount', () => {
    const settings = { image: 'gw:test', trustedKeys: ['ab'.repeat(32)] };
    const own = partsOf(podTemplate(project(undefined), REVISION, settings));
    fc.assert(
      fc.property(patch, (template) => {
        if (!isRecord(template)) return;
        const of = project(template);
        expect(partsOf(podTemplate(of, REVISION, settings))).toEqual(own);
      }),
      propertyRuns(500),
    );
  });

  function partsOf(template: object): unknown {
    const plain: unknown = JSON.parse(JSON.stringify(template));
    const spec = isRecord(plain) && isRecord(plain['spec']) ? plain['spec'] : {};
    const containers = Array.isArray(spec['containers']) ? spec['containers'] : [];
    const { hostPID, hostNetwork, serviceAccountName, securityContext, initContainers } = spec;
    const of = containers.map(({ name, image, command, args, securityContext: context }) => ({
      ...{ name, image, command, args, context },
    }));
    return { of, hostPID, hostNetwork, serviceAccountName, securityContext, initContainers };
  }
});
