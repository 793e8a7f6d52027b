import { EgressGuard } from '@gw/gateway/egress';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DockerRegistry, hasDockerRegistry, startDockerRegistry, USER } from '../../../test/docker-registry.ts';
import { eventually } from '../../../test/eventually.ts';
import { configMaps, type GatewayProject, gatewayProjects, secrets } from '../api/resources.ts';
import { MemoryObjects } from '../local/memory-objects.ts';
import { artifactRecord, imageOf } from '../objects/artifact-record.ts';
import { RegistryClient } from '../registry/client.ts';
import { parseDockerConfig } from '../registry/docker-config.ts';
import { parseReference } from '../registry/reference.ts';
import type { Repository } from '../registry/repository.ts';
import type { EventRecord } from '../runtime/objects.ts';
import { ImageStore, type StoredArchive } from './image-store.ts';
import { pullArtifact } from './pull-artifact.ts';
import { pullRevision } from './pull-revision.ts';

const guard = new EgressGuard({ allowInternal: false, allow: ['127.0.0.1'] });
const archive = (letter: string): StoredArchive => ({
  archive: Buffer.from(`archive ${letter}`),
  tarSha256: letter.repeat(64),
  artifactHash: `sha256:${letter.repeat(64)}`,
});
const skipped = hasDockerRegistry ? '' : ' (skipped: there is no docker-registry)';

describe.skipIf(!hasDockerRegistry && process.env['GW_NO_SKIP'] !== '1')(`artifacts in a registry${skipped}`, () => {
  let open: DockerRegistry;
  let secured: DockerRegistry;
  let undeletable: DockerRegistry;
  let client: RegistryClient;
  let objects: MemoryObjects;
  let store: ImageStore;
  let told: EventRecord[];

  beforeAll(async () => {
    [open, secured, undeletable] = await Promise.all([
      startDockerRegistry(),
      startDockerRegistry({ auth: 'basic' }),
      startDockerRegistry({ deletes: false }),
    ]);
  });
  afterAll(() => Promise.all([open, secured, undeletable].map((each) => each?.close())));

  beforeEach(() => {
    objects = new MemoryObjects();
    told = [];
    const plainHttpRegistries = [open, secured, undeletable].map(({ host }) => host);
    client = new RegistryClient({ guard, plainHttpRegistries });
    store = new ImageStore({
      registries: client,
      objects,
      events: { record: (_, event) => void told.push(event) },
      waitMs: 10_000,
      lookEveryMs: 0,
    });
  });
  afterEach(async () => {
    await client.close();
    await store.close();
  });

  function project(name: string, { host }: DockerRegistry, oci: object = {}): GatewayProject {
    const repository = `${host}/team/${name}`;
    return gatewayProjects.parse({
      metadata: { name, namespace: 'default', uid: `uid-${name}` },
      spec: { specs: { selector: {} }, storage: { type: 'OCI', oci: { repository, plainHttp: true, ...oci } } },
    });
  }

  function repositoryOf({ spec }: GatewayProject): Repository {
    const auths = { [secured.host]: USER };
    const credentials = parseDockerConfig(JSON.stringify({ auths }));
    return client.repository(parseReference(spec.storage.oci?.repository ?? ''), { credentials, plainHttp: true });
  }

  async function push(of: GatewayProject, what: StoredArchive): Promise<string> {
    const state = await store.store(of, what);
    if (state.state !== 'stored') throw new Error(JSON.stringify(state));
    store.settle(of);
    return state.image;
  }

  const records = () => objects.listMetadata(configMaps, { namespace: 'default' });
  const digest = (image: string) => image.slice(image.indexOf('@') + 1);

  it('are pushed once, tagged with the sha256 of their tar, and known before they are there', async () => {
    const of = project('shop', open);
    const image = await push(of, archive('a'));
    expect(await repositoryOf(of).tags()).toEqual([`sha256-${'a'.repeat(64)}`]);
    expect(await pullArtifact(repositoryOf(of), digest(image))).toEqual({
      name: `${'a'.repeat(64)}.gwa`,
      bytes: Buffer.from('archive a'),
    });
    expect((await records()).map(imageOf)).toEqual([{ image, registry: { plainHttp: true } }]);
    expect(await push(of, archive('a'))).toBe(image);
    expect(await repositoryOf(of).tags()).toHaveLength(1);
  });

  it('of two projects in one repository are two images: the one outlives the other', async () => {
    const [one, two] = ['one', 'two'].map((name) => project(name, open, { repository: `${open.host}/team/both` })) as [
      GatewayProject,
      GatewayProject,
    ];
    const images = [await push(one, archive('a')), await push(two, archive('a'))];
    expect(new Set(images).size).toBe(2);
    expect((await repositoryOf(one).tags()).toSorted()).toEqual([
      `sha256-${'a'.repeat(64)}`,
      `sha256-${'a'.repeat(64)}.uid-two`,
    ]);
    store.forget(
      one,
      (await records()).filter((record) => imageOf(record)?.image === images[0]),
    );
    await eventually(async () => expect(await records()).toHaveLength(1));
    expect(await repositoryOf(two).resolve(digest(images[0] ?? ''))).toBeUndefined();
    expect((await pullArtifact(repositoryOf(two), digest(images[1] ?? ''))).bytes).toEqual(Buffer.from('archive a'));
  });

  it('go with the password of a Secret, and are refused without', async () => {
    const of = project('secret', secured, { pushSecret: 'push' });
    const failed = await store.store(of, archive('a'));
    expect(failed).toMatchObject({ state: 'failed', reason: 'PushRefused' });
    expect(failed).toHaveProperty('message', expect.stringContaining('Secret "push" is not in namespace "default"'));
    const config = { auths: { [secured.host]: USER } };
    await objects.apply(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'push', namespace: 'default' },
      ...{ data: { '.dockerconfigjson': Buffer.from(JSON.stringify(config)).toString('base64') } },
    });
    // By itself, once the cause is gone.
    await eventually(async () => expect((await store.store(of, archive('a'))).state).toBe('stored'));
    const anonymous = await store.store(project('secret', secured), archive('b'));
    expect(anonymous).toMatchObject({ state: 'failed', reason: 'PushRefused' });
    expect(JSON.stringify(anonymous)).not.toContain(USER.password);
  });

  it('wait for a registry that is down, and hold up no other namespace', async () => {
    const own = await startDockerRegistry();
    const others = new RegistryClient({ guard, plainHttpRegistries: [own.host, open.host] });
    const waiting = new ImageStore({
      registries: others,
      objects,
      events: { record: () => undefined },
      waitMs: 10_000,
    });
    try {
      await own.stop();
      const of = project('down', own);
      const first = waiting.store(of, archive('a'));
      const elsewhere = project('up', open);
      const other = { ...elsewhere, metadata: { ...elsewhere.metadata, namespace: 'other' } };
      expect((await waiting.store(other, archive('a'))).state).toBe('stored');
      expect(await first).toMatchObject({ state: 'failed', reason: 'RegistryUnavailable' });
      await own.start();
      await eventually(async () => expect((await waiting.store(of, archive('a'))).state).toBe('stored'));
    } finally {
      await others.close();
      await waiting.close();
      await own.close();
    }
  });

  it('are read again for whoever passes them on, and only as what they were stored as', async () => {
    const of = project('read', open);
    const revision = {
      revision: 1,
      artifactHash: '',
      archive: 'a'.repeat(64),
      createdAt: '',
      image: await push(of, archive('a')),
    };
    const deps = { registries: client, objects };
    expect(await pullRevision(deps, of, revision)).toEqual(Buffer.from('archive a'));
    const other = { ...revision, archive: 'b'.repeat(64) };
    await expect(pullRevision(deps, of, other)).rejects.toMatchObject({ failure: 'corrupt' });
  });

  it('are found missing when somebody deletes them, and there again', async () => {
    const of = project('missing', open);
    const image = await push(of, archive('a'));
    const look = () => store.missing(of, new Map([[image, { plainHttp: true }]]));
    expect(look()).toEqual(new Set());
    await repositoryOf(of).deleteManifest(digest(image));
    await eventually(() => expect(look()).toEqual(new Set([image])));
    expect(await push(of, archive('a'))).toBe(image);
    await eventually(() => expect(look()).toEqual(new Set()));
  });

  it('stay where a registry deletes nothing: that is told once, and their record goes', async () => {
    const of = project('kept', undeletable);
    const image = await push(of, archive('a'));
    store.forget(of, await records());
    await eventually(async () => expect(await records()).toEqual([]));
    expect(told).toMatchObject([{ type: 'Warning', reason: 'ImageNotDeleted' }]);
    expect(told[0]?.note).toContain(image);
    expect(await repositoryOf(of).resolve(digest(image))).toBe(digest(image));
  });

  it('that are gone already are forgotten without a word', async () => {
    const of = project('gone', open);
    const image = `${open.host}/team/gone@sha256:${'0'.repeat(64)}`;
    const revision = { revision: 1, artifactHash: 'sha256:0', archive: '0'.repeat(64), createdAt: '', image };
    const record = artifactRecord(of, revision, { archive: revision.archive, image, access: {} });
    await objects.apply(configMaps, record);
    store.forget(of, await records());
    await eventually(async () => expect(await records()).toEqual([]));
    expect(told).toEqual([]);
  });

  it('are not fetched from an image that holds none', async () => {
    const repository = repositoryOf(project('other', open));
    const config = await repository.pushBlob(Buffer.from('{}'));
    const layer = await repository.pushBlob(Buffer.from('no tar'));
    const type = 'application/vnd.oci.image.manifest.v1+json';
    const manifest = {
      schemaVersion: 2,
      config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...config },
      layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar', ...layer }],
    };
    const pushed = await repository.pushManifest(Buffer.from(JSON.stringify(manifest)), type);
    await expect(pullArtifact(repository, pushed)).rejects.toThrow('contains no artifact of gw');
  });
});
