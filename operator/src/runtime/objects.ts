/** The port through which controllers read and write objects: a cluster's API server, or a folder's in local mode. */
import type { LabelSelector } from '../api/shared.ts';
import type { KubeObject, ObjectKey, Resource } from './kube-object.ts';

export interface ListOptions {
  /** All namespaces when absent. */
  readonly namespace?: string;
  /** Labels that must be equal. */
  readonly labels?: { readonly [name: string]: string };
  /** A label that must be there, whatever its value. */
  readonly hasLabel?: string;
}

export type ChangeType = 'added' | 'modified' | 'deleted';

export interface Change {
  readonly type: ChangeType;
  /** Only apiVersion, kind and metadata where the watch asked for metadata. */
  readonly object: KubeObject;
}

export interface WatchOptions extends ListOptions {
  /** Leaves spec, data and status on the server: for kinds that may hold much or secrets. */
  readonly metadataOnly?: boolean;
}

export interface Watch {
  /** Resolves when the first list has been delivered. */
  readonly synced: Promise<void>;
  close(): Promise<void>;
}

export interface Objects {
  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Promise<T | undefined>;
  /** In the order of names. */
  list<T extends KubeObject>(resource: Resource<T>, options: ListOptions): Promise<readonly T[]>;
  /** As `list`, but without spec, data and status: what is heavy stays on the server. */
  listMetadata(resource: Resource<KubeObject>, options: ListOptions): Promise<readonly KubeObject[]>;
  /** Server-side apply: our fields become exactly these, those of others stay. */
  apply(resource: Resource<KubeObject>, object: KubeObject): Promise<void>;
  /** The same for the status subresource. Does nothing when the object is gone. */
  applyStatus(resource: Resource<KubeObject>, object: KubeObject): Promise<void>;
  /** Does nothing when the object is gone, or is another one than `uid`. */
  remove(resource: Resource<KubeObject>, key: ObjectKey, uid?: string): Promise<void>;
  /** Reports every object that exists, then every change, until closed; what breaks is resumed. */
  watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions, onChange: (change: Change) => void): Watch;
}

/** An Event on an object, for `kubectl describe`. */
export interface EventRecord {
  readonly type: 'Normal' | 'Warning';
  /** From the table of reasons. */
  readonly reason: string;
  /** What was being done, such as `Compile`. */
  readonly action: string;
  readonly note: string;
}

/** Where Events go. Never throws: an Event that cannot be written is logged and forgotten. */
export interface EventSink {
  record(regarding: KubeObject, event: EventRecord): void;
}

export type { LabelSelector };
