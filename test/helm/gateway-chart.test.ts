/** The gateway's chart: pods like the operator's, and values like the fields of its GatewayProject. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serveSchema } from '../../operator/src/api/gateway-pods.ts';
import { gatewayProjects } from '../../operator/src/api/resources.ts';
import { podTemplate } from '../../operator/src/objects/pod-template.ts';
import { isRecord } from '../../operator/src/runtime/kube-object.ts';
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

describe.skipIf(!hasHelm)(`the gateway's chart${withoutHelm}`, () => {
  it('makes the pods that the operator makes', async () => {
    const project = gatewayProjects.parse({
      metadata: { name: 'gw-gateway', namespace: 'gw-system', uid: 'uid-1', generation: 1 },
      spec: { specs: { selector: {} } },
    });
    const revision = { revision: 1, artifactHash: 'sha256:00', archive: '00', createdAt: '', parts: 1 };
    const theirs = podTemplate(project, revision, { image: 'gw:0.8.0', trustedKeys: [] });
    const [deployment] = ofKind(await render('gateway', ...artifact), 'Deployment');
    const ours = at(deployment, 'spec.template');
    // Their names, labels and artifact are their own.
    const comparable = (template: unknown) => {
      const spec = at(template, 'spec');
      const container = at(spec, 'containers.0');
      if (!isRecord(spec) || !isRecord(container)) throw new Error('no pod');
      const { serviceAccountName: _, topologySpreadConstraints: spread, volumes, containers: _c, ...plain } = spec;
      const { args, env: _e, ...rest } = container;
      const [, ...otherVolumes] = Array.isArray(volumes) ? volumes : [];
      const { labelSelector: _l, ...constraint } = Object(at(spread, '0'));
      return { plain, constraint, otherVolumes, container: rest, args: Array.isArray(args) ? pairs(args) : [] };
    };
    expect(comparable(ours)).toEqual(comparable(JSON.parse(JSON.stringify(theirs))));
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
