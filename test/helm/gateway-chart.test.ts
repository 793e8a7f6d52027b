/** The gateway's chart: pods like the operator's, and values like the fields of its GatewayProject. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serveSchema } from '../../operator/src/api/gateway-pods.ts';
import { gatewayProjects } from '../../operator/src/api/resources.ts';
import { isRecord } from '../../operator/src/kube/kube-object.ts';
import { podTemplate } from '../../operator/src/objects/pod-template.ts';
import { at, charts, fromValues, hasHelm, ofKind, render, root, withoutHelm } from './helm.ts';

const CONTAINER = 'spec.template.spec.containers.0';
const set = (...values: readonly string[]) => values.flatMap((value) => ['--set', value]);
const artifact = set('artifact.configMaps={a}');

async function argumentsOf(...options: readonly string[]): Promise<readonly string[]> {
  const [deployment] = ofKind(await render('gateway', ...options), 'Deployment');
  const args = at(deployment, `${CONTAINER}.args`);
  return Array.isArray(args) ? args : [];
}

/** `[--name, value]` each, sorted: their order means nothing. */
function pairs(args: readonly string[]): readonly string[] {
  return args
    .join(' ')
    .split(/ (?=--)/)
    .toSorted();
}

/** Their names, labels and artifact are their own; the order of names means nothing. */
function comparable(template: unknown) {
  const spec = at(template, 'spec');
  const container = at(spec, 'containers.0');
  if (!isRecord(spec) || !isRecord(container)) throw new Error('no pod');
  const { serviceAccountName: _, topologySpreadConstraints: spread, volumes, containers: _c, ...plain } = spec;
  const { args, env, volumeMounts, ...rest } = container;
  const byName = (list: unknown) =>
    (Array.isArray(list) ? list : [])
      .filter((item) => item.name !== 'artifact')
      .toSorted((a, b) => String(a.name).localeCompare(String(b.name)));
  const { labelSelector: _l, ...constraint } = Object(at(spread, '0'));
  return {
    plain,
    constraint,
    container: rest,
    volumes: byName(volumes),
    volumeMounts: byName(volumeMounts),
    env: byName(env),
    args: Array.isArray(args) ? pairs(args) : [],
  };
}

describe.skipIf(!hasHelm)(`the gateway's chart${withoutHelm}`, () => {
  /** With TLS, a link and secrets: what the operator is told, and what the chart is. */
  const everything = {
    settings: {
      image: 'gw:0.8.0',
      trustedKeys: ['0'.repeat(64)],
      link: {
        url: 'wss://control.example.org/ws/data-plane',
        projectId: '7f1d0a51-9c1e-4a5f-8f0e-6a6d3f3f3f10',
        credential: { kind: 'secret', name: 'shop-key', key: 'data-plane-key', ca: 'ca.crt' },
      },
    },
    spec: {
      tls: { secret: 'shop-tls', minVersion: '1.3', clientAuth: 'required', clientCaSecret: 'clients' },
      secrets: { env: ['shop-env'], directory: 'shop-files' },
      serve: {
        trustedProxies: ['10.0.0.0/8'],
        adminHosts: ['gw.internal'],
        state: { url: { secret: 'redis', key: 'url' }, timeoutMs: 100 },
      },
      egress: { allow: ['inventory'] },
      allowPlaintext: true,
    },
    values: [
      ...[`trustedKeys={${'0'.repeat(64)}}`, 'controlPlane.url=wss://control.example.org/ws/data-plane'],
      ...['controlPlane.projectId=7f1d0a51-9c1e-4a5f-8f0e-6a6d3f3f3f10', 'controlPlane.keySecret.name=shop-key'],
      ...['controlPlane.keySecret.caKey=ca.crt', 'tls.secret=shop-tls', 'tls.clientAuth=required'],
      ...['tls.clientCaSecret=clients', 'secrets.env={shop-env}', 'secrets.directory=shop-files'],
      ...[
        'serve.trustedProxies={10.0.0.0/8}',
        'serve.adminHosts={gw.internal}',
        'serve.state.urlSecret.name=redis',
        'serve.state.timeoutMs=100',
      ],
      ...['egress.allow={inventory}', 'allowPlaintext=true'],
    ],
  } as const;

  it.each([
    ['by default', { settings: { image: 'gw:0.8.0', trustedKeys: [] }, spec: {}, values: [] }],
    ['with TLS, a link and secrets', everything],
  ] as const)('makes the pods that the operator makes, %s', async (_, { settings, spec, values }) => {
    const project = gatewayProjects.parse({
      metadata: { name: 'gw-gateway', namespace: 'gw-system', uid: 'uid-1', generation: 1 },
      spec: { specs: { selector: {} }, ...spec },
    });
    const revision = { revision: 1, artifactHash: 'sha256:00', archive: '00', createdAt: '', parts: 1 };
    const theirs = podTemplate(project, revision, settings);
    const strings = spec === everything.spec ? ['--set-string', 'tls.minVersion=1.3'] : [];
    const options = [...artifact, ...set(...values), ...strings];
    const [deployment] = ofKind(await render('gateway', ...options), 'Deployment');
    expect(comparable(at(deployment, 'spec.template'))).toEqual(comparable(JSON.parse(JSON.stringify(theirs))));
  });

  it('has every option of gw serve that a GatewayProject has, within the same limits', () => {
    const schema = JSON.parse(readFileSync(join(charts, 'gateway', 'values.schema.json'), 'utf8'));
    const values: unknown = schema.properties.serve.properties;
    if (!isRecord(values)) throw new Error('no serve');
    expect(Object.keys(values).toSorted()).toEqual(Object.keys(serveSchema.properties).toSorted());
    for (const [name, field] of Object.entries(serveSchema.properties)) {
      for (const limit of ['minimum', 'maximum'] as const)
        expect([name, limit, at(values[name], limit)]).toEqual([name, limit, at(field, limit)]);
    }
  });

  it('passes on every option, whole numbers whole, and none that gw serve does not know', async () => {
    const known = readFileSync(join(root, 'docs', 'cli.md'), 'utf8');
    const args = await argumentsOf(...fromValues('gateway', 'full-values.yaml'));
    expect(args.join(' ')).toContain('--max-buffered-bytes 268435456');
    expect(args.join(' ')).toContain('--trace-sampling 0.05');
    expect(args.join(' ')).toContain('--expose-health false');
    expect(args.join(' ')).toContain('--body-timeout 0');
    for (const option of args.filter((each) => each.startsWith('--'))) expect(known).toContain(`\`${option} `);
    const connected = await argumentsOf(...fromValues('gateway', 'control-plane-values.yaml'));
    expect(connected).not.toContain('--artifact');
    for (const option of connected.filter((each) => each.startsWith('--'))) expect(known).toContain(`\`${option} `);
  });

  it('takes new pods for another artifact that is given inline', async () => {
    const nameOf = async (inline: string) =>
      at(ofKind(await render('gateway', ...set(`artifact.inline=${inline}`)), 'ConfigMap')[0], 'metadata.name');
    expect(await nameOf('AAAA')).not.toBe(await nameOf('BBBB'));
    expect(await nameOf('AAAA')).toBe(await nameOf('AA AA'));
  });

  it.each([
    [[], 'artifact: give one of configMaps, oci.reference and inline, or controlPlane.url'],
    [['artifact.configMaps={a}', 'artifact.inline=AAAA'], 'artifact: give one of'],
    [['controlPlane.url=wss://a/ws/data-plane'], 'controlPlane.url needs controlPlane.projectId'],
    [['artifact.inline=AAAA', 'tls.clientAuth=required'], 'tls.clientAuth needs tls.secret'],
    [['artifact.inline=AAAA', 'ingress.enabled=true'], 'ingress.enabled needs ingress.hosts'],
    [['artifact.inline=AAAA', 'httpRoute.enabled=true'], 'httpRoute.enabled needs httpRoute.parentRefs'],
    [['artifact.inline=AAAA', 'service.nodePort=30080'], 'service.nodePort needs service.type'],
    [
      ['artifact.inline=AAAA', 'autoscaling.enabled=true', 'autoscaling.minReplicas=11'],
      'autoscaling.minReplicas must not be above maxReplicas',
    ],
    [['artifact.inline=AAAA', 'serve.maxHeaders=0'], "'/serve/maxHeaders': minimum"],
    [['artifact.inline=AAAA', 'serve.maxHeader=5'], "additional properties 'maxHeader' not allowed"],
    [['artifact.inline=AAAA', 'replica=5'], "additional properties 'replica' not allowed"],
    [['artifact.oci.reference=https://a/b'], "'/artifact/oci/reference': 'https://a/b' does not match pattern"],
  ])('refuses %j', async (values, message) => {
    await expect(render('gateway', ...set(...values))).rejects.toThrow(message);
  });
});
