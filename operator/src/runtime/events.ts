/** Events in events.k8s.io/v1: repeated ones within the window become a series of one object. */
import { randomBytes } from 'node:crypto';
import type { IEvent } from 'kubernetes-models/events.k8s.io/v1/Event';
import type { KubeObject } from '../kube/kube-object.ts';
import { manifest, type Part } from '../kube/manifest.ts';
import { microTime } from '../kube/micro-time.ts';
import type { ApiServer } from './api-server.ts';
import type { EventRecord, EventSink } from './objects.ts';

const CONTROLLER = 'gw.dev/operator';
const WINDOW_MS = 10 * 60 * 1000;
const MAX_NOTE = 1024;
const MAX_SERIES = 1000;

interface Series {
  readonly name: string;
  count: number;
  last: number;
}

export class ClusterEvents implements EventSink {
  readonly #api: ApiServer;
  readonly #instance: string;
  readonly #onError: (error: unknown) => void;
  readonly #series = new Map<string, Series>();
  #writing: Promise<void> = Promise.resolve();

  /** `instance` is the pod's name. */
  constructor(api: ApiServer, instance: string, onError: (error: unknown) => void) {
    this.#api = api;
    this.#instance = instance;
    this.#onError = onError;
  }

  record(regarding: KubeObject, event: EventRecord): void {
    // Written one after another, so that a series is never patched before it exists.
    this.#writing = this.#writing.then(() => this.#write(regarding, event)).catch(this.#onError);
  }

  /** Resolves when all recorded Events are written. */
  flushed(): Promise<void> {
    return this.#writing;
  }

  async #write(regarding: KubeObject, event: EventRecord): Promise<void> {
    const namespace = regarding.metadata.namespace ?? 'default';
    const path = `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/events`;
    const key = JSON.stringify([regarding.metadata.uid, event.type, event.reason, event.note]);
    const now = Date.now();
    const series = this.#series.get(key);
    if (series && now - series.last < WINDOW_MS) {
      series.count++;
      series.last = now;
      const body: Part<Pick<IEvent, 'series'>> = {
        series: { count: series.count, lastObservedTime: microTime(new Date(now)) },
      };
      await this.#api.json({
        method: 'PATCH',
        path: `${path}/${series.name}`,
        contentType: 'application/merge-patch+json',
        body,
      });
      return;
    }
    const name = `${regarding.metadata.name.slice(0, 230)}.${randomBytes(8).toString('hex')}`;
    await this.#api.json({
      method: 'POST',
      path,
      body: manifest<IEvent>({
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { name, namespace },
        eventTime: microTime(new Date(now)),
        reportingController: CONTROLLER,
        reportingInstance: this.#instance,
        type: event.type,
        reason: event.reason,
        action: event.action,
        note: event.note.length > MAX_NOTE ? `${event.note.slice(0, MAX_NOTE - 1)}…` : event.note,
        regarding: {
          apiVersion: regarding.apiVersion,
          kind: regarding.kind,
          namespace,
          name: regarding.metadata.name,
          uid: regarding.metadata.uid,
          resourceVersion: regarding.metadata.resourceVersion,
        },
      }),
    });
    if (this.#series.size >= MAX_SERIES) this.#series.clear();
    this.#series.set(key, { name, count: 1, last: now });
  }
}
