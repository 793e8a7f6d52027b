/** The port through which controllers read and write objects: a cluster's API server, or a folder's in local mode. */
import type { KubeObject, ObjectKey, ObjectMeta, Resource } from '../kube/kube-object.ts';

export interface ListOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  /** Labels that must be equal. */
  readonly labels?: { readonly [name: string]: string };
  /** A label that must exist, with any value. */
  readonly hasLabel?: string;
}

export type ChangeType = 'added' | 'modified' | 'deleted';

export interface Change {
  readonly type: ChangeType;
  /** Only apiVersion, kind and metadata if the watch requested metadata. */
  readonly object: KubeObject;
  /** The metadata before a modification. */
  readonly before?: ObjectMeta;
}

export interface WatchOptions extends ListOptions {
  /** Leaves spec, data and status on the server: for kinds that may hold much or secrets. */
  readonly metadataOnly?: boolean;
  /** A label selector as the API server reads it, `team=books,stage in (test, live)`; of watches on a cluster only. */
  readonly selector?: string;
  /** The cluster may lack the kind: then nothing is reported until it exists. */
  readonly optional?: boolean;
}

export interface Watch {
  /** Resolves when the first list has been delivered, or has failed; a failed one is retried. */
  readonly synced: Promise<void>;
  close(): Promise<void>;
}

/** Another manager sets other values for the operator's fields. */
export interface FieldConflict {
  /** The manager, such as `kubectl-edit`. */
  readonly manager: string;
  /** Paths, such as `.spec.replicas`. */
  readonly fields: readonly string[];
  /** How often of late the fields had to be taken back. */
  readonly times: number;
  /** Whether they are left to the other for now, because it takes them again and again. */
  readonly left: boolean;
  /** Milliseconds until the fields are retaken. */
  readonly retryMs?: number;
}

export interface Objects {
  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Promise<T | undefined>;
  /** As `get`, without spec, data and status. */
  getMetadata(resource: Resource<KubeObject>, key: ObjectKey): Promise<KubeObject | undefined>;
  /** Reports whether the cluster knows the kind: custom ones may not be installed. May lag by some seconds. */
  serves(resource: Resource<KubeObject>): Promise<boolean>;
  /** Lists in the order of names. */
  list<T extends KubeObject>(resource: Resource<T>, options: ListOptions): Promise<readonly T[]>;
  /** As `list`, without spec, data and status, which stay on the server. */
  listMetadata(resource: Resource<KubeObject>, options: ListOptions): Promise<readonly KubeObject[]>;
  /**
   * Applies on the server: our fields become exactly these, those of others stay. Returns another manager that has set
   * our fields to other values, now or repeatedly: see `FieldConflict`.
   */
  apply(resource: Resource<KubeObject>, object: KubeObject): Promise<FieldConflict | undefined>;
  /** Applies under another manager of ours, so that fields stay when `apply` no longer sets them. */
  handOver(resource: Resource<KubeObject>, object: KubeObject): Promise<void>;
  /** Applies the status subresource. Does nothing if the object was deleted. */
  applyStatus(resource: Resource<KubeObject>, object: KubeObject): Promise<void>;
  /** Deletes the object. Does nothing if it was deleted, or has another uid than `uid`. */
  remove(resource: Resource<KubeObject>, key: ObjectKey, uid?: string): Promise<void>;
  /** Reports every existing object, then every change, until closed; reconnects after failures. */
  watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions, onChange: (change: Change) => void): Watch;
}

/** An Event on an object, for `kubectl describe`. */
export interface EventRecord {
  readonly type: 'Normal' | 'Warning';
  /** Reason from the table of reasons. */
  readonly reason: string;
  /** The action in progress, such as `Compile`. */
  readonly action: string;
  readonly note: string;
}

/** Sink of Events. Never throws: an Event that cannot be written is logged and dropped. */
export interface EventSink {
  record(regarding: KubeObject, event: EventRecord): void;
}
