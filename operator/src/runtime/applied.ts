/**
 * The last applied version and resulting state of each object: without a change of either there is nothing to write.
 */
import { createHash } from 'node:crypto';
import type { KubeObject } from '../kube/kube-object.ts';

interface Applied {
  /** Digest of the applied object. */
  readonly digest: string;
  /** State of the object afterwards. */
  readonly state: string;
}

export class AppliedObjects {
  readonly #applied = new Map<string, Applied>();

  /** Reports whether the object equals the last applied one. */
  wants(id: string, object: KubeObject): boolean {
    return this.#applied.get(id)?.digest === digest(object);
  }

  /** Reports whether the object equals the last applied one, and nobody has changed it since. */
  stands(id: string, object: KubeObject, live: KubeObject): boolean {
    return this.#applied.get(id)?.state === stateOf(live) && this.wants(id, object);
  }

  done(id: string, object: KubeObject, live: KubeObject): void {
    this.#applied.set(id, { digest: digest(object), state: stateOf(live) });
  }

  forget(id: string): void {
    this.#applied.delete(id);
  }
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}

/** Ignores changes of the status, if the kind counts generations: those change with the spec alone. */
function stateOf({ metadata }: KubeObject): string {
  const { uid, generation, resourceVersion, labels, annotations, ownerReferences } = metadata;
  return digest([uid, generation ?? resourceVersion, labels, annotations, ownerReferences]);
}
