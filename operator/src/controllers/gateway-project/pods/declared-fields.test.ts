/**
 * For each field of a GatewayProject, changed alone to something with which no pod starts: the status never says Ready
 * while a pod that is wanted is not what is declared. What a cluster does with the objects is played by a fake.
 */
import { describe, expect, it } from 'vitest';
import { gatewayProjectKind } from '../../../api/gateway-project.ts';
import { type GatewayProject, gatewayProjects, type Workload, workloads } from '../../../api/resources.ts';
import type { Schema } from '../../../api/schema.ts';
import { isRecord, type KubeObject } from '../../../kube/kube-object.ts';
import { gatewayName } from '../../../objects/names.ts';
import { conditionOf } from '../../../runtime/conditions.ts';
import { compiled, decide, hash, kept, NOW, observed, SETTINGS } from '../decision-input.test-support.ts';
import type { PodState } from './pod-state.ts';

type Field = { readonly path: readonly string[]; readonly schema: Schema };

/** Every field that has no fields of its own, with its schema. */
function fieldsOf(schema: Schema, path: readonly string[] = []): readonly Field[] {
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) return [{ path, schema }];
  return properties.flatMap(([name, each]) => fieldsOf(each, [...path, name]));
}

const VALUES: { readonly [type: string]: unknown } = { string: 'absent', boolean: true, integer: 7, number: 7 };

/** Values that the schema admits, other than the default. */
function valuesOf(schema: Schema): readonly unknown[] {
  if (schema.enum) return schema.enum.filter((value) => value !== schema.default);
  if (schema.type === 'boolean') return [schema.default !== true];
  if (schema.type === 'integer' || schema.type === 'number')
    return [schema.minimum ?? 0, (schema.minimum ?? 0) + 1, schema.maximum ?? 7].filter(
      (each) => each !== schema.default,
    );
  if (schema.type === 'array') return valuesOf(schema.items ?? {}).map((value) => [value]);
  if (schema.properties || schema.type === 'object') return [objectOf(schema)];
  return [VALUES[schema.type ?? 'string'] ?? 'absent'];
}

function objectOf({ properties, required = [], additionalProperties }: Schema): object {
  if (properties) {
    return Object.fromEntries(required.map((name) => [name, valuesOf(properties[name] ?? {})[0]]));
  }
  return { absent: additionalProperties ? valuesOf(additionalProperties)[0] : 'absent' };
}

/** `spec` with only that field changed, and what must be there beside it. */
function changed(schema: Schema, spec: object, [name = '', ...rest]: readonly string[], value: unknown): object {
  const before: unknown = Reflect.get(spec, name);
  const own = schema.properties?.[name] ?? {};
  if (rest.length === 0) return { ...spec, [name]: value };
  const inner = isRecord(before) ? before : objectOf(own);
  return { ...spec, [name]: changed(own, inner, rest, value) };
}

const base = { specs: { selector: {} }, pods: { replicas: 3, image: 'gw:test' } };
const projectOf = (spec: object, generation: number, status?: GatewayProject['status']) =>
  gatewayProjects.parse({
    metadata: { name: 'shop', namespace: 'default', uid: 'uid-1', generation },
    spec,
    ...(status ? { status } : {}),
  });

function workloadIn(objects: readonly KubeObject[], of: GatewayProject): KubeObject | undefined {
  return objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === gatewayName(of));
}

const template = (workload: KubeObject | undefined): string =>
  JSON.stringify(Reflect.get(Object(workload?.['spec' as never]), 'template'));

/** What the cluster has of it: a template of which so many pods run. */
function running(workload: KubeObject, generation: number, updated: number, total: number): Workload {
  const { metadata } = workload;
  return workloads.parse({
    ...workload,
    metadata: { ...metadata, generation },
    status: { observedGeneration: generation, replicas: total, updatedReplicas: updated, readyReplicas: 3 },
  });
}

const POD: PodState = { name: 'old', ready: true, terminating: false, revision: 1, serves: hash('a') };
const good = ['a', 'b', 'c'].map((name): PodState => ({ ...POD, name }));
const SICK = [
  ['an image that cannot be pulled', { waiting: 'ErrImagePull: not found' }],
  ['a container that ends again and again', { waiting: 'CrashLoopBackOff', fails: 'it ended with exit code 1: no' }],
  ['no node that takes it', { waiting: 'Unschedulable: 0/1 nodes are available' }],
  ['nothing to say', {}],
] as const;

/** A project that is served by three pods, as it is declared. */
function settled() {
  const of = projectOf(base, 1);
  const parts = kept(of, 1, 'a');
  const first = decide(observed(of, { parts, pods: good }), compiled('a'), [], SETTINGS, NOW);
  const workload = workloadIn(first.apply, of);
  if (!workload) throw new Error('no workload is applied');
  const now = running(workload, 1, 3, 3);
  const again = decide(
    observed(projectOf(base, 1, first.status), { parts, pods: good, workload: now }),
    compiled('a'),
    [],
    SETTINGS,
    NOW,
  );
  return { parts, workload: now, applied: workload, status: again.status };
}

const isReady = (status: GatewayProject['status']) =>
  conditionOf({ ...(status ? { status } : {}) }, 'Ready')?.status === 'True';

const fields = fieldsOf(gatewayProjectKind.spec).filter(({ path }) => path[0] !== 'specs');

describe('a status', () => {
  const start = settled();
  it('is Ready where three pods are as they are declared', () => expect(isReady(start.status)).toBe(true));

  it.each(fields.map(({ path, schema }) => [path.join('.'), path, schema] as const))(
    'is not Ready while pods of a changed %s do not start',
    (_, path, schema) => {
      for (const value of valuesOf(schema)) {
        const spec = changed(gatewayProjectKind.spec, base, path, value);
        let of: GatewayProject;
        try {
          of = projectOf(spec, 2, start.status);
        } catch {
          // No value that the kind admits beside the others.
          continue;
        }
        const { parts, workload } = start;
        const first = decide(observed(of, { parts, pods: good, workload }), compiled('a'), [], SETTINGS, NOW);
        const next = workloadIn(first.apply, of);
        if (!next || template(next) === template(start.applied)) continue;
        // In the look that changes it, while nobody has seen it, and for as long as its pods do not start.
        expect(isReady(first.status), JSON.stringify(value)).toBe(false);
        for (const [, sick] of SICK) {
          const pods = [...good, { name: 'new', ready: false, terminating: false, revision: 1, ...sick }];
          for (const seen of [{ ...running(next, 2, 1, 4), status: { ...workload.status } }, running(next, 2, 1, 4)]) {
            const now = projectOf(spec, 2, first.status);
            const { status } = decide(observed(now, { parts, pods, workload: seen }), compiled('a'), [], SETTINGS, NOW);
            const wanted = now.spec.pods.autoscaling ? undefined : now.spec.pods.replicas;
            if (wanted === 0) continue;
            expect(isReady(status), `${JSON.stringify(value)} ${JSON.stringify(sick)}`).toBe(false);
          }
        }
      }
    },
  );

  it('changes most of the fields of pods', () => {
    const count = fields.filter(({ path, schema }) =>
      valuesOf(schema).some((value) => {
        try {
          const of = projectOf(changed(gatewayProjectKind.spec, base, path, value), 2, start.status);
          const { apply } = decide(observed(of, { ...start, pods: good }), compiled('a'), [], SETTINGS, NOW);
          const next = workloadIn(apply, of);
          return next !== undefined && template(next) !== template(start.applied);
        } catch {
          return false;
        }
      }),
    ).length;
    expect(count).toBeGreaterThan(40);
  });

  it.each(SICK)('says of %s what it is, then Stalled', (_, sick) => {
    const { parts } = start;
    const spec = { ...base, pods: { ...base.pods, image: 'gw:absent' } };
    const of = projectOf(spec, 2, start.status);
    const first = decide(
      observed(of, { parts, pods: good, workload: start.workload }),
      compiled('a'),
      [],
      SETTINGS,
      NOW,
    );
    const next = workloadIn(first.apply, of);
    if (!next) throw new Error('no workload is applied');
    const pods = [...good, { name: 'new', ready: false, terminating: false, ...sick }];
    const now = projectOf(spec, 2, first.status);
    const late = running(next, 2, 1, 4);
    const conditions = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: '' }];
    const seen = { ...late, status: { ...late.status, conditions } };
    const { status } = decide(observed(now, { parts, pods, workload: seen }), compiled('a'), [], SETTINGS, NOW);
    const programmed = conditionOf({ status }, 'Programmed');
    const why = 'fails' in sick ? sick.fails : 'waiting' in sick ? sick.waiting : 'they did not become ready in time';
    expect([programmed?.reason, programmed?.message]).toEqual(['PodsNotStarting', expect.stringContaining(why)]);
  });

  it('names an exceeded quota', () => {
    const conditions = [
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota: q' },
    ];
    const seen = { ...start.workload, status: { ...start.workload.status, updatedReplicas: 0, conditions } };
    const { parts, status: before } = start;
    const { status } = decide(
      observed(projectOf(base, 1, before), { parts, pods: good, workload: seen }),
      compiled('a'),
      [],
      SETTINGS,
      NOW,
    );
    expect(conditionOf({ status }, 'Ready')?.message).toContain('exceeded quota: q');
  });
});
