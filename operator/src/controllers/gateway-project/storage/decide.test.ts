import { DEFAULT_PART_BYTES } from '@gw/gateway/artifact';
import { describe, expect, it } from 'vitest';
import type { Revision } from '../../../api/gateway-project.ts';
import { type GatewayProject, gatewayProjects, workloads } from '../../../api/resources.ts';
import type { KubeObject } from '../../../kube/kube-object.ts';
import { artifactParts } from '../../../objects/artifact-parts.ts';
import { artifactRecord, pendingRecord } from '../../../objects/artifact-record.ts';
import { ANNOTATION_REVISION } from '../../../objects/names.ts';
import type { Observed } from '../observe.ts';
import type { Compilation } from '../sources/compilation.ts';
import { decideStorage, obsoleteArtifacts, wantsImage } from './decide.ts';
import { withoutRegistry } from './observe.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const REPOSITORY = 'r.example.org/shop';
const hash = (letter: string) => `sha256:${letter.repeat(64)}`;
const image = (letter: string, repository = REPOSITORY) => `${repository}@${hash(letter)}`;
const OCI = { type: 'OCI', oci: { repository: REPOSITORY, pushSecret: 'push' } };

function project(storage: object = {}, status: object = {}): GatewayProject {
  return gatewayProjects.parse({
    metadata: { name: 'shop', namespace: 'default', uid: 'uid-1', generation: 3 },
    spec: { specs: { selector: {} }, storage },
    status,
  });
}

function compiled(letter: string, size = 100): Extract<Compilation, { ok: true }> {
  const archive = new Uint8Array(size);
  return { ok: true, archive, artifactHash: hash(letter), tarSha256: letter.repeat(64), diagnostics: [] };
}

const failed: Compilation = { ok: false, diagnostics: [] };

function revision(number: number, letter: string, place: object = { parts: 1 }): Revision {
  return { revision: number, artifactHash: hash(letter), archive: letter.repeat(64), createdAt: '', ...place };
}

const inConfigMaps = (number: number, letter: string) =>
  artifactParts(project(), revision(number, letter), new Uint8Array(10));

function inRegistry(number: number, letter: string, repository = REPOSITORY): KubeObject {
  const name = image(letter, repository);
  const kept = revision(number, letter, { image: name });
  return artifactRecord(project(), kept, { archive: kept.archive, image: name, access: { pullSecret: 'pull' } });
}

function served(number: number, uses = '') {
  return workloads.parse({
    metadata: { name: 'shop-gateway', annotations: { [ANNOTATION_REVISION]: String(number) } },
    spec: { replicas: 1, uses },
  });
}

function observed(of: GatewayProject, parts: readonly KubeObject[], more: Partial<Observed> = {}): Observed {
  return {
    project: of,
    sources: { specs: [], plugins: [], builtins: new Map() },
    trustedKeys: [],
    keyProblems: [],
    secrets: { named: false, problems: [] },
    deployments: [],
    parts,
    owned: [],
    foreign: [],
    taken: [],
    notInstalled: [],
    notAllowed: [],
    pods: [],
    refusals: [],
    ...more,
  };
}

const registry = (more: Partial<NonNullable<Observed['registry']>> = {}) => ({
  imageVolumes: true,
  missing: new Set<string>(),
  ...more,
});
const storedImage = (letter: string) =>
  registry({ image: { state: 'stored', archive: letter.repeat(64), image: image(letter) } });
const numbers = (revisions: readonly Revision[]) => revisions.map((each) => each.revision);
const namesOf = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name);

describe('an artifact goes', () => {
  it('into ConfigMaps, of which there are at most eight', () => {
    const first = decideStorage(observed(project(), []), compiled('a', 2 * DEFAULT_PART_BYTES), NOW);
    expect(first.write).toHaveLength(2);
    expect(first).toMatchObject({ latest: 1, verdict: { status: 'True', reason: 'Stored' } });
    const large = decideStorage(observed(project(), inConfigMaps(1, 'b')), compiled('a', 9 * DEFAULT_PART_BYTES), NOW);
    expect(large).toMatchObject({ latest: 1, write: [], verdict: { status: 'False', reason: 'ArtifactTooLarge' } });
    expect(large.verdict.message).toContain('spec.storage.type to OCI');
  });

  it('into the registry, however large, and is recorded when it is there', () => {
    const before = observed(project(OCI), []);
    expect(wantsImage(before, compiled('a'))).toBe(true);
    const pushing = decideStorage(
      observed(project(OCI), [], { registry: registry({ image: { state: 'pushing', archive: 'a'.repeat(64) } }) }),
      compiled('a', 9 * DEFAULT_PART_BYTES),
      NOW,
    );
    expect(pushing).toMatchObject({ revisions: [], write: [], verdict: { status: 'Unknown', reason: 'Storing' } });
    const there = decideStorage(observed(project(OCI), [], { registry: storedImage('a') }), compiled('a'), NOW);
    expect(there.revisions).toMatchObject([{ revision: 1, image: image('a'), registry: { pushSecret: 'push' } }]);
    const after = observed(project(OCI), there.write, { registry: registry() });
    expect(wantsImage(after, compiled('a'))).toBe(false);
    expect(decideStorage(after, compiled('a'), NOW)).toMatchObject({ write: [], verdict: { reason: 'Stored' } });
  });

  it('into ConfigMaps of any size in local mode, whatever the project says', () => {
    const local = withoutRegistry(observed(project(OCI), []));
    const { write, verdict } = decideStorage(local, compiled('a', 9 * DEFAULT_PART_BYTES), NOW);
    expect(write).toHaveLength(9);
    expect(verdict.reason).toBe('Stored');
    const after = withoutRegistry(observed(project(OCI), write));
    expect(decideStorage(after, compiled('a'), NOW)).toMatchObject({
      write: [],
      revisions: [{ revision: 1, parts: 9 }],
    });
  });

  it('nowhere while the registry is down: the last one stays, and it is said why', () => {
    const state = {
      state: 'failed',
      archive: 'b'.repeat(64),
      reason: 'RegistryUnavailable',
      message: 'no route',
    } as const;
    const down = observed(project(OCI), [inRegistry(1, 'a')], { registry: registry({ image: state }) });
    const { verdict, ...rest } = decideStorage(down, compiled('b'), NOW);
    expect(rest).toMatchObject({ latest: 1, write: [], revisions: [{ revision: 1 }] });
    expect(verdict).toEqual({ type: 'Stored', status: 'False', reason: 'RegistryUnavailable', message: 'no route' });
  });

  it('never by the state of another push', () => {
    const { revisions, verdict } = decideStorage(
      observed(project(OCI), [], { registry: storedImage('a') }),
      compiled('b'),
      NOW,
    );
    expect(revisions).toEqual([]);
    expect(verdict.reason).toBe('Storing');
  });
});

describe('a change of storage', () => {
  it('moves the newest artifact under its number, and leaves the others where they lie', () => {
    const kept = [...inConfigMaps(1, 'a'), ...inConfigMaps(2, 'b')];
    expect(wantsImage(observed(project(OCI), kept), compiled('b'))).toBe(true);
    const moved = decideStorage(observed(project(OCI), kept, { registry: storedImage('b') }), compiled('b'), NOW);
    expect(moved.revisions).toMatchObject([
      { revision: 2, image: image('b') },
      { revision: 1, parts: 1 },
    ]);
    const back = decideStorage(observed(project(), [...kept, ...moved.write]), compiled('b'), NOW);
    expect(back).toMatchObject({ write: [], revisions: [{ revision: 2, parts: 1 }, { revision: 1 }] });
  });

  it('serves from the old place while the new one cannot be had', () => {
    const state = { state: 'failed', archive: 'a'.repeat(64), reason: 'PushRefused', message: 'no' } as const;
    const stuck = observed(project(OCI), inConfigMaps(1, 'a'), { registry: registry({ image: state }) });
    expect(decideStorage(stuck, compiled('a'), NOW)).toMatchObject({
      revisions: [{ revision: 1, parts: 1 }],
      latest: 1,
      verdict: { reason: 'PushRefused' },
    });
  });

  it('to another repository keeps what is in the old one, and how it was reached', () => {
    const parts = [inRegistry(1, 'a', 'old.example.org/shop'), inRegistry(2, 'b')];
    expect(
      decideStorage(observed(project(OCI), parts, { registry: registry() }), compiled('b'), NOW).revisions,
    ).toMatchObject([
      { revision: 2, image: image('b') },
      { revision: 1, image: image('a', 'old.example.org/shop'), registry: { pullSecret: 'pull' } },
    ]);
  });
});

describe('what somebody deleted', () => {
  const status = { latestRevision: 2, revision: 2, revisions: [revision(2, 'b'), revision(1, 'a')] };

  it('is made again under its number, since it still compiles', () => {
    const again = decideStorage(observed(project({}, status), inConfigMaps(1, 'a')), compiled('b'), NOW);
    expect(again).toMatchObject({ latest: 2, verdict: { reason: 'Stored' } });
    expect(namesOf(again.write)).toEqual(namesOf(inConfigMaps(2, 'b')));
  });

  it('is pushed again, when its image is gone', () => {
    const gone = registry({ missing: new Set([image('b')]) });
    const parts = [inRegistry(2, 'b')];
    const images = { ...status, revisions: [revision(2, 'b', { image: image('b') })] };
    const without = observed(project(OCI, images), parts, { registry: gone });
    expect(wantsImage(without, compiled('b'))).toBe(true);
    const pushed = { ...gone, ...storedImage('b'), missing: gone.missing };
    expect(decideStorage({ ...without, registry: pushed }, compiled('b'), NOW)).toMatchObject({
      latest: 2,
      revisions: [{ revision: 2, image: image('b') }],
    });
  });

  it('is told where it cannot be made again, and what pods serve stays theirs', () => {
    const lost = decideStorage(
      observed(project({}, status), inConfigMaps(1, 'a'), { workload: served(2) }),
      failed,
      NOW,
    );
    expect(lost).toMatchObject({ latest: 2, verdict: { status: 'False', reason: 'ArtifactLost' } });
    expect(numbers(lost.revisions)).toEqual([2, 1]);
    expect(lost.verdict.message).toContain(`shop-${'b'.repeat(64)}-0`);
  });

  it('is forgotten where no pod serves it', () => {
    const { revisions } = decideStorage(
      observed(project({}, status), inConfigMaps(2, 'b'), { workload: served(2) }),
      compiled('b'),
      NOW,
    );
    expect(numbers(revisions)).toEqual([2]);
  });
});

describe('what is no longer needed', () => {
  it('is removed: parts at once, records when their image is gone', () => {
    const parts = [...inConfigMaps(1, 'a'), inRegistry(2, 'b'), inRegistry(3, 'c')];
    const of = observed(project(OCI), parts, { registry: registry(), workload: served(3) });
    const garbage = obsoleteArtifacts(of, [revision(3, 'c', { image: image('c') })], compiled('c'));
    expect(namesOf(garbage.parts)).toEqual(namesOf(inConfigMaps(1, 'a')));
    expect(namesOf(garbage.records)).toEqual(namesOf([inRegistry(2, 'b')]));
    const gone = { ...of, registry: registry({ missing: new Set([image('b')]) }) };
    expect(obsoleteArtifacts(gone, [revision(3, 'c', { image: image('c') })], compiled('c'))).toMatchObject({
      records: [],
      parts: [{}, {}],
    });
  });

  it('is not what pods are still started from', () => {
    const parts = [...inConfigMaps(1, 'a'), inRegistry(2, 'b')];
    const [name = ''] = namesOf(inConfigMaps(1, 'a'));
    const uses = (text: string) => observed(project(), parts, { workload: served(2, text) });
    expect(namesOf(obsoleteArtifacts(uses(name), [], undefined).records)).toHaveLength(1);
    expect(obsoleteArtifacts(uses(name), [], undefined).parts).toEqual([]);
    expect(obsoleteArtifacts(uses(image('b')), [], undefined).records).toEqual([]);
  });

  it('is not what is being pushed, and is what was not pushed to its end', () => {
    const pending = (letter: string) =>
      pendingRecord(project(), { archive: letter.repeat(64), image: image(letter), access: {} });
    const of = observed(project(OCI), [pending('a'), pending('b')], { registry: registry() });
    expect(decideStorage(of, failed, NOW).revisions).toEqual([]);
    expect(namesOf(obsoleteArtifacts(of, [], compiled('a')).records)).toEqual(namesOf([pending('b')]));
  });

  it('is not what belongs to somebody else', () => {
    const [part] = inConfigMaps(1, 'a');
    const foreign = { ...part!, metadata: { ...part!.metadata, ownerReferences: [] } };
    expect(obsoleteArtifacts(observed(project(), [foreign]), [], undefined)).toEqual({ parts: [], records: [] });
    expect(decideStorage(observed(project(), [foreign]), failed, NOW).revisions).toEqual([]);
  });
});

it('annotations that somebody edited are no revision, and cost nothing', () => {
  const [part] = inConfigMaps(1, 'a');
  for (const annotations of [
    { 'gw.dev/parts': '1000000000' },
    { 'gw.dev/parts': '-1' },
    { 'gw.dev/revision': '0' },
    { 'gw.dev/revision': 'x' },
  ]) {
    const edited = {
      ...part!,
      metadata: { ...part!.metadata, annotations: { ...part!.metadata.annotations, ...annotations } },
    };
    expect(decideStorage(observed(project(), [edited]), failed, NOW).revisions).toEqual([]);
  }
  const record = inRegistry(1, 'a');
  const broken = {
    ...record,
    metadata: {
      ...record.metadata,
      annotations: { ...record.metadata.annotations, 'gw.dev/registry': '{"pullSecret":7' },
    },
  };
  expect(decideStorage(observed(project(OCI), [broken]), failed, NOW).revisions).toMatchObject([{ registry: {} }]);
});
