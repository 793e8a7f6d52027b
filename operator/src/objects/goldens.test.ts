/**
 * What projects become, whole: `goldens/NAME.in.yaml` is the spec of a GatewayProject, `goldens/NAME.yaml` all its
 * objects. `--update=all`, behind this file's name, writes them anew. test/e2e/goldens.test.ts applies each with --dry-run=server.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as models from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { gatewayProjects } from '../api/resources.ts';
import { isRecord, type KubeObject } from '../kube/kube-object.ts';
import { OWNED, type OwnedContext, ownedObjects } from './owned.ts';
import { DEFAULT_POD_POLICY } from './pod-policy.ts';

const folder = join(import.meta.dirname, 'goldens');
const names = readdirSync(folder).flatMap((file) => /^(.+)\.in\.yaml$/.exec(file)?.[1] ?? []);

const revision = (number: number, letter: string) => ({
  revision: number,
  artifactHash: `sha256:${letter.repeat(64)}`,
  archive: letter.repeat(64),
  createdAt: '2026-01-02T03:04:05Z',
  parts: 1,
});
const GIVEN: OwnedContext = {
  image: 'gw:0.8.0',
  operatorNamespace: 'gw-system',
  trustedKeys: ['ab'.repeat(32)],
  revision: revision(1, 'a'),
};
const LINK: NonNullable<OwnedContext['link']> = {
  url: 'wss://gw-operator-link.gw-system.svc:443/ws/data-plane',
  projectId: '00000000-0000-4000-8000-000000000001',
  ca: '-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n',
  credential: { kind: 'service-account', audience: 'gw-operator' },
};
/** What is known besides the spec. */
const KNOWN: Readonly<Record<string, Partial<OwnedContext>>> = {
  everything: {
    secretsVersion: '0123456789abcdef',
    policy: { ...DEFAULT_POD_POLICY, images: ['registry.example.org/*'], fields: new Set(['containers']) },
  },
  canary: { canary: { revision: revision(2, 'b'), pods: 1 } },
  linked: { link: LINK },
  oci: {
    imageVolumes: true,
    revision: {
      ...revision(1, 'a'),
      image: `registry.example.org/gateways/shop@sha256:${'c'.repeat(64)}`,
    },
  },
};

function objectsOf(name: string): readonly KubeObject[] {
  const spec: unknown = parse(readFileSync(join(folder, `${name}.in.yaml`), 'utf8'));
  const project = gatewayProjects.parse({
    metadata: { name: 'shop', namespace: 'default', uid: '00000000-0000-4000-8000-000000000001', generation: 1 },
    spec,
  });
  return ownedObjects(project, { ...GIVEN, ...KNOWN[name] }, []).apply;
}

describe.each(names)('%s', (name) => {
  it('becomes these objects', async () => {
    const text = objectsOf(name).map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }));
    await expect(text.join('---\n')).toMatchFileSnapshot(join(folder, `${name}.yaml`));
  });

  it('has no field that Kubernetes does not know', () => {
    for (const object of objectsOf(name)) expect(unknownFields(object)).toEqual([]);
  });
});

it('every row of the table is in one of them', () => {
  const made = new Set(names.flatMap(objectsOf).map(({ kind, metadata }) => `${kind} ${metadata.name}`));
  const project = gatewayProjects.parse({ metadata: { name: 'shop' }, spec: { specs: { selector: {} } } });
  for (const { resource, name } of OWNED) expect(made).toContain(`${resource.kind} ${name(project)}`);
});

/** Of kinds that are not Kubernetes' own: only a server knows them. */
const CUSTOM = new Set(['HTTPRoute', 'PodMonitor']);
const PREFIXES: Readonly<Record<string, string>> = { HorizontalPodAutoscaler: 'V2' };

function unknownFields(object: KubeObject): readonly string[] {
  if (CUSTOM.has(object.kind)) return [];
  return check(JSON.parse(JSON.stringify(object)), `${PREFIXES[object.kind] ?? 'V1'}${object.kind}`, object.kind);
}

interface Field {
  readonly baseName: string;
  readonly type: string;
}

/** Fields of the model by that name of the Kubernetes client; undefined where it is no model. */
function fieldsOf(type: string): readonly Field[] | undefined {
  const model: unknown = Object.entries(models).find(([name]) => name === type)?.[1];
  if (typeof model !== 'function' || !('getAttributeTypeMap' in model)) return undefined;
  const { getAttributeTypeMap } = model;
  return typeof getAttributeTypeMap === 'function' ? getAttributeTypeMap.call(model) : undefined;
}

function check(value: unknown, type: string, at: string): readonly string[] {
  const list = /^Array<(.+)>$/.exec(type)?.[1];
  if (list !== undefined)
    return Array.isArray(value) ? value.flatMap((each, n) => check(each, list, `${at}[${n}]`)) : [`${at}: no list`];
  const fields = fieldsOf(type);
  if (!fields) {
    const plain = type === 'string' || type === 'number' || type === 'boolean';
    return plain && typeof value !== type ? [`${at}: no ${type}`] : [];
  }
  if (!isRecord(value)) return [`${at}: no object`];
  return Object.entries(value).flatMap(([name, each]) => {
    const field = fields.find(({ baseName }) => baseName === name);
    return field ? check(each, field.type, `${at}.${name}`) : [`${at}.${name}: unknown`];
  });
}

it('the check of fields finds what is wrong', () => {
  const deployment = (spec: object): KubeObject => {
    const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'x' }, spec };
    return object;
  };
  expect(unknownFields(deployment({ replicas: 1, selector: {} }))).toEqual([]);
  expect(unknownFields(deployment({ replica: 1 }))).toEqual(['Deployment.spec.replica: unknown']);
  expect(unknownFields(deployment({ replicas: 'one' }))).toEqual(['Deployment.spec.replicas: no number']);
  const containers = [{ name: 'a', ports: [{ port: 1 }] }];
  expect(unknownFields(deployment({ template: { spec: { containers } } }))).toEqual([
    'Deployment.spec.template.spec.containers[0].ports[0].port: unknown',
  ]);
});
