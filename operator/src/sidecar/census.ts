/**
 * Pods that have a sidecar, by project, and pods that request one without having it: those created while no API server
 * called the webhook. Uses labels alone, in all watched namespaces.
 */

import { namespaces, pods } from '../api/resources.ts';
import { type KubeObject, keyText, type ObjectKey } from '../kube/kube-object.ts';
import { eventOf } from '../runtime/event-of.ts';
import type { Change, EventSink, Objects, Watch } from '../runtime/objects.ts';
import { ANNOTATION_PROJECT, injectedLabel, LABEL_INJECTED, LABEL_SIDECAR, namedProject } from './labels.ts';

export interface CensusOptions {
  readonly objects: Pick<Objects, 'watch'>;
  readonly events: EventSink;
  /** Namespaces to watch; empty means all. */
  readonly namespaces: readonly string[];
  /** Whether namespaces may be read: else their label has no effect. */
  readonly readsNamespaces: boolean;
  /** Selects the watched namespaces; default all. */
  readonly includes?: (namespace: string) => boolean;
}

/** Sidecar pods of one project. */
export interface SidecarPods {
  /** Pods that have one. */
  readonly pods: number;
  /** `NAMESPACE/NAME` of pods that request a sidecar without having it, sorted. */
  readonly missing: readonly string[];
}

interface Seen {
  readonly project: string | undefined;
  readonly missing: boolean;
  /** Requests by its own label, independent of its namespace. */
  readonly own: boolean;
}

export class SidecarCensus {
  readonly #options: CensusOptions;
  readonly #watches: Watch[] = [];
  readonly #ofNamespace = new Map<string, Watch>();
  /** Annotation of namespaces that ask for all of their pods. */
  readonly #asking = new Map<string, string | undefined>();
  readonly #seen = new Map<string, Seen>();
  readonly #reported = new Set<string>();
  #listener: (keys: readonly ObjectKey[]) => void = () => undefined;

  constructor(options: CensusOptions) {
    this.#options = options;
  }

  /** Calls the listener with the projects that changed. */
  onChange(listener: (keys: readonly ObjectKey[]) => void): void {
    this.#listener = listener;
  }

  /** Resolves when the first pods are known. */
  async start(): Promise<void> {
    const { objects, namespaces: named, readsNamespaces } = this.#options;
    if (named.length === 0 && readsNamespaces) {
      const options = { metadataOnly: true, hasLabel: LABEL_SIDECAR };
      const watch = objects.watch(namespaces, options, (change) => this.#namespaceChanged(change));
      this.#watches.push(watch);
      await watch.synced;
    }
    for (const namespace of named.length > 0 ? named : [undefined]) {
      for (const hasLabel of [LABEL_SIDECAR, LABEL_INJECTED]) {
        const options = { metadataOnly: true, hasLabel, ...(namespace ? { namespace } : {}) };
        this.#watches.push(objects.watch(pods, options, (change) => this.#podChanged(change)));
      }
    }
    await Promise.all([...this.#watches, ...this.#ofNamespace.values()].map(({ synced }) => synced));
  }

  /** Returns the sidecar pods of a project; undefined if it has no such pods. */
  of(project: ObjectKey): SidecarPods | undefined {
    const text = keyText(project);
    let count = 0;
    const missing: string[] = [];
    for (const [pod, seen] of this.#seen) {
      if (seen.project !== text) continue;
      if (seen.missing) missing.push(pod);
      else count++;
    }
    return count + missing.length > 0 ? { pods: count, missing: missing.sort() } : undefined;
  }

  async close(): Promise<void> {
    const watches = [...this.#watches, ...this.#ofNamespace.values()];
    await Promise.all(watches.map((watch) => watch.close()));
  }

  #namespaceChanged({ type, object: { metadata } }: Change): void {
    const { name, labels, annotations } = metadata;
    const asks = type !== 'deleted' && labels?.[LABEL_SIDECAR] === 'true';
    if (!asks) {
      this.#asking.delete(name);
      void this.#ofNamespace.get(name)?.close();
      this.#ofNamespace.delete(name);
      this.#forgetAskedBy(name);
      return;
    }
    this.#asking.set(name, annotations?.[ANNOTATION_PROJECT]);
    if (this.#ofNamespace.has(name)) return;
    const options = { metadataOnly: true, namespace: name };
    this.#ofNamespace.set(
      name,
      this.#options.objects.watch(pods, options, (change) => this.#podChanged(change)),
    );
  }

  #forgetAskedBy(namespace: string): void {
    for (const [key, seen] of this.#seen) {
      if (!key.startsWith(`${namespace}/`) || !seen.missing || seen.own) continue;
      this.#seen.delete(key);
      if (seen.project !== undefined) this.#listener([keyOfText(seen.project)]);
    }
  }

  /** Handles a change of a pod. Several watches may report the same pod: each report is complete. */
  #podChanged({ type, object }: Change): void {
    const { metadata } = object;
    const key = keyText({ namespace: metadata.namespace ?? '', name: metadata.name });
    const before = this.#seen.get(key);
    const seen = type === 'deleted' ? undefined : this.#judge(object);
    if (seen) this.#seen.set(key, seen);
    else {
      this.#seen.delete(key);
      if (metadata.uid) this.#reported.delete(metadata.uid);
    }
    if (before?.project === seen?.project && before?.missing === seen?.missing) return;
    if (seen?.missing) this.#report(object, seen.project);
    const projects = new Set([before?.project, seen?.project].filter((project) => project !== undefined));
    this.#listener([...projects].map(keyOfText));
  }

  /** Returns undefined for a pod that neither has nor requests a sidecar. */
  #judge({ metadata }: KubeObject): Seen | undefined {
    const { namespace = '', labels, annotations } = metadata;
    if (!(this.#options.includes?.(namespace) ?? true)) return undefined;
    const asked = labels?.[LABEL_SIDECAR];
    const injected = labels?.[LABEL_INJECTED];
    const asks = asked === 'true' || (asked !== 'false' && this.#asking.has(namespace));
    if (injected === undefined && !asks) return undefined;
    const named = namedProject(annotations?.[ANNOTATION_PROJECT] ?? this.#asking.get(namespace), namespace);
    const project = named && keyText(named);
    // A pod that was reviewed and cannot have a sidecar has another mark, and its warning.
    if (injected !== undefined)
      return named && injected === injectedLabel(named)
        ? { project, missing: false, own: asked === 'true' }
        : undefined;
    return { project, missing: metadata.deletionTimestamp === undefined, own: asked === 'true' };
  }

  #report(pod: KubeObject, project: string | undefined): void {
    const { uid = '' } = pod.metadata;
    if (this.#reported.has(uid)) return;
    this.#reported.add(uid);
    const note = `it requests a gw sidecar${project ? ` of GatewayProject "${project}"` : ''} but has none: it was created while the webhook of the operator could not be reached. Delete the pod, or restart its workload`;
    this.#options.events.record(pod, eventOf('SidecarMissing', 'Inject', note));
  }
}

function keyOfText(text: string): ObjectKey {
  const [namespace = '', name = ''] = text.split('/');
  return { namespace, name };
}
