/** Objects of the Kubernetes API as far as every kind is alike, and how a kind is addressed. */

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: { readonly [name: string]: string };
  readonly annotations?: { readonly [name: string]: string };
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/** A kind: its API path, and the check that makes an unknown value one of its objects. */
export interface Resource<T extends KubeObject> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  /** Throws if the value is not of this kind: then client and server disagree about the kind. */
  parse(value: unknown): T;
  /** As `parse`, once for each object: for stored objects that never change, such as those of a watch. */
  parseOnce(object: KubeObject): T;
}

export function keyOf(object: KubeObject): ObjectKey {
  return { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
}

/** `namespace/name`, as kubectl and logs write it. */
export function keyText(key: ObjectKey): string {
  return `${key.namespace}/${key.name}`;
}

export function isRecord(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reports whether `owner` controls the object: then the operator may change and delete it. */
export function controlledBy(object: KubeObject, owner: KubeObject): boolean {
  return (object.metadata.ownerReferences ?? []).some(
    (ref) => ref.controller === true && ref.uid === owner.metadata.uid,
  );
}

/** Returns the reference that makes the garbage collector delete an object with its owner. */
export function ownerReference(owner: KubeObject): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid ?? '',
    controller: true,
    // Blocking would need rights on finalizers, and would make a deletion wait for the operator.
    blockOwnerDeletion: false,
  };
}
