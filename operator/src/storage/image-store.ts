/**
 * Pushes artifacts to registries and deletes them there, beside the reconciles: a registry that hangs delays neither
 * the project for long nor those of other namespaces. Failures are retried with back-off.
 */

import { messageOf } from '@gw/gateway/message-of';
import type { ReasonName } from '../api/reasons.ts';
import { configMaps, type GatewayProject } from '../api/resources.ts';
import { type KubeObject, keyOf, keyText } from '../kube/kube-object.ts';
import {
  accessOf,
  imageOf,
  pendingRecord,
  type RegistryAccess,
  registryAccess,
  repositoryOf,
} from '../objects/artifact-record.ts';
import { RegistryError } from '../registry/error.ts';
import { IMAGE_MANIFEST } from '../registry/media-types.ts';
import type { Repository } from '../registry/repository.ts';
import { pause } from '../runtime/backoff.ts';
import { eventOf } from '../runtime/event-of.ts';
import type { EventSink, Objects } from '../runtime/objects.ts';
import { WorkQueue } from '../runtime/work-queue.ts';
import { type ArtifactImage, artifactImage } from './artifact-image.ts';
import { digestIn, type OpenWith, openRepository } from './registry-access.ts';

/** How the artifact that is to be in the registry stands there. */
export type ImageState = { readonly archive: string } & (
  | { readonly state: 'pushing' }
  /** `image`: REGISTRY/REPOSITORY@DIGEST. */
  | { readonly state: 'stored'; readonly image: string }
  /** The push is being retried. */
  | { readonly state: 'failed'; readonly reason: ReasonName; readonly message: string }
);

export interface StoredArchive {
  readonly archive: Uint8Array;
  readonly tarSha256: string;
  readonly artifactHash: string;
}

export interface ImageStoreOptions extends OpenWith {
  readonly objects: Objects;
  readonly events: EventSink;
  /** Milliseconds that a reconcile waits for a push. Default 2,000: most are done by then. */
  readonly waitMs?: number;
  /** Milliseconds between checks that an image still exists. Default: 5 minutes. */
  readonly lookEveryMs?: number;
}

interface Push {
  /** Identifies the push by its inputs: other inputs make another push. */
  readonly id: string;
  state: ImageState;
  /** Settles with the first attempt. */
  readonly tried: PromiseWithResolvers<void>;
}

interface Looked {
  at: number;
  missing: boolean;
}

const WAIT_MS = 2000;
const LOOK_EVERY_MS = 5 * 60_000;
/** Attempts of one deletion; a quarter of an hour, by the queue's back-off. */
const DELETE_ATTEMPTS = 20;

export class ImageStore {
  readonly #options: ImageStoreOptions;
  /** One queue for each namespace, one job at a time. */
  readonly #queues = new Map<string, WorkQueue>();
  readonly #jobs = new Map<string, () => Promise<void>>();
  readonly #pushes = new Map<string, Push>();
  readonly #looked = new Map<string, Map<string, Looked>>();
  readonly #closed = new AbortController();

  constructor(options: ImageStoreOptions) {
    this.#options = options;
  }

  /** Pushes the archive unless a push is running, and waits a moment. Never rejects: the state has the error. */
  async store(project: GatewayProject, stored: StoredArchive): Promise<ImageState> {
    const { oci } = project.spec.storage;
    if (!oci) throw new Error('storage.oci is not set');
    const key = keyText(keyOf(project));
    const id = JSON.stringify([project.metadata.uid, oci.repository, accessOf(oci), stored.tarSha256]);
    let push = this.#pushes.get(key);
    if (push?.id !== id) {
      const begun: Push = {
        id,
        state: { archive: stored.tarSha256, state: 'pushing' },
        tried: Promise.withResolvers(),
      };
      push = begun;
      this.#pushes.set(key, begun);
      this.#run(project, `push ${key}`, () => this.#push(project, oci, stored, begun));
    }
    if (push.state.state === 'pushing') {
      await Promise.race([push.tried.promise, pause(this.#options.waitMs ?? WAIT_MS, this.#closed.signal)]);
    }
    return push.state;
  }

  /** Ends pushes of the project: the last one is recorded, or is no longer needed. */
  settle(project: GatewayProject): void {
    const key = keyText(keyOf(project));
    this.#pushes.delete(key);
    this.#jobs.delete(`push ${key}`);
  }

  /** Returns those of the images that pods may start from which their registry lacks; checked at intervals. */
  missing(project: GatewayProject, images: ReadonlyMap<string, RegistryAccess>): ReadonlySet<string> {
    const key = keyText(keyOf(project));
    const before = this.#looked.get(key);
    const looked = new Map<string, Looked>();
    for (const [image, access] of images) {
      // A newly pushed image exists.
      const last = before?.get(image) ?? { at: Date.now(), missing: false };
      looked.set(image, last);
      if (last.at + (this.#options.lookEveryMs ?? LOOK_EVERY_MS) <= Date.now()) {
        last.at = Date.now();
        this.#run(project, `look ${key} ${image}`, () => this.#look(project, image, access, last));
      }
    }
    if (looked.size > 0) this.#looked.set(key, looked);
    else this.#looked.delete(key);
    return new Set([...looked].filter(([, { missing }]) => missing).map(([image]) => image));
  }

  /**
   * Deletes images, then their records. Reports images that a registry does not let us delete; their owner deletes
   * them.
   */
  forget(project: GatewayProject, records: readonly KubeObject[]): void {
    for (const record of records) {
      const id = `delete ${keyText(keyOf(record))}`;
      let attempts = 0;
      if (!this.#jobs.has(id)) this.#run(project, id, () => this.#delete(project, record, ++attempts));
    }
  }

  /** The project was deleted, and its records with it. */
  forgetProject(key: string): void {
    this.#pushes.delete(key);
    this.#looked.delete(key);
    this.#jobs.delete(`push ${key}`);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#jobs.clear();
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
  }

  #run(project: GatewayProject, id: string, job: () => Promise<void>): void {
    const { namespace } = keyOf(project);
    const queue =
      this.#queues.get(namespace) ??
      new WorkQueue({
        workers: 1,
        work: async (key) => {
          const job = this.#jobs.get(key);
          await job?.();
          if (this.#jobs.get(key) === job) this.#jobs.delete(key);
          return undefined;
        },
        // The jobs report their own errors.
        onError: () => undefined,
      });
    this.#queues.set(namespace, queue);
    this.#jobs.set(id, job);
    queue.add(id);
  }

  async #push(
    project: GatewayProject,
    oci: NonNullable<GatewayProject['spec']['storage']['oci']>,
    stored: StoredArchive,
    push: Push,
  ): Promise<void> {
    const archive = stored.tarSha256;
    try {
      const owner = project.metadata.uid ?? '';
      const image = await artifactImage({ ...stored, owner });
      const name = `${oci.repository}@${image.digest}`;
      // Recorded before the push: after a crash, the next operator deletes the image.
      await this.#options.objects.apply(
        configMaps,
        pendingRecord(project, { archive, image: name, access: accessOf(oci) }),
      );
      const { namespace } = keyOf(project);
      await pushImage(
        await openRepository(this.#options, namespace, oci.repository, oci, oci.pushSecret),
        image,
        owner,
      );
      push.state = { archive, state: 'stored', image: name };
      this.#looked.get(keyText(keyOf(project)))?.delete(name);
    } catch (error) {
      push.state = { archive, state: 'failed', ...failureOf(error) };
      throw error;
    } finally {
      push.tried.resolve();
    }
  }

  async #look(project: GatewayProject, image: string, access: RegistryAccess, looked: Looked): Promise<void> {
    const { pushSecret, pullSecret } = access;
    const { namespace } = keyOf(project);
    try {
      const repository = await openRepository(
        this.#options,
        namespace,
        repositoryOf(image),
        access,
        pushSecret ?? pullSecret,
      );
      looked.missing = (await repository.resolve(digestIn(image))) === undefined;
    } catch {
      // A registry that does not answer tells nothing about its images.
    }
  }

  async #delete(project: GatewayProject, record: KubeObject, attempt: number): Promise<void> {
    const of = imageOf(record);
    try {
      if (of) await this.#deleteImage(project, of.image, registryAccess(project, of.image, of.registry));
    } catch (error) {
      const again = error instanceof RegistryError && error.failure === 'unavailable' && attempt < DELETE_ATTEMPTS;
      if (again || this.#closed.signal.aborted) throw error;
      const note = `${of?.image} is no longer needed, but could not be deleted: ${messageOf(error)}`;
      this.#options.events.record(project, eventOf('ImageNotDeleted', 'Stored', note));
    }
    await this.#options.objects.remove(configMaps, keyOf(record), record.metadata.uid);
  }

  async #deleteImage(project: GatewayProject, image: string, access: RegistryAccess): Promise<void> {
    const { namespace } = keyOf(project);
    const repository = await openRepository(this.#options, namespace, repositoryOf(image), access, access.pushSecret);
    const digest = digestIn(image);
    try {
      await repository.deleteManifest(digest);
    } catch (error) {
      // Some registries keep tagged images.
      if (!(error instanceof RegistryError) || error.failure !== 'failed') throw error;
      const tags = await repository.tags();
      const ours = tags.filter((tag) => tag.startsWith('sha256-'));
      for (const tag of ours) if ((await repository.resolve(tag)) === digest) await repository.deleteManifest(tag);
      await repository.deleteManifest(digest);
    }
  }
}

async function pushImage(repository: Repository, image: ArtifactImage, owner: string): Promise<void> {
  await Promise.all([repository.pushBlob(image.layer), repository.pushBlob(image.config)]);
  // Another project may have the same archive, and registries may purge untagged images.
  const tagged = await repository.resolve(image.tag);
  const tag = tagged === undefined || tagged === image.digest ? image.tag : `${image.tag}.${owner}`;
  await repository.pushManifest(image.manifest, IMAGE_MANIFEST, tag);
}

function failureOf(error: unknown): { readonly reason: ReasonName; readonly message: string } {
  if (!(error instanceof RegistryError)) return { reason: 'ApplyFailed', message: messageOf(error) };
  const reason = error.failure === 'unavailable' ? 'RegistryUnavailable' : 'PushRefused';
  return { reason, message: error.message };
}
