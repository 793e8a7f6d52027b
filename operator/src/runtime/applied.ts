/** What we applied last to each object, and how it stood then: as long as neither changes there is nothing to write. */
import { createHash } from 'node:crypto';
import type { KubeObject } from '../kube/kube-object.ts';

interface Applied {
  /** Of what was wanted. */
  readonly digest: string;
  /** Of what there was afterwards. */
  readonly state: string;
}

export class AppliedObjects {
  readonly #applied = new Map<string, Applied>();

  /** Whether the object is what was wanted then. */
  wants(id: string, object: KubeObject): boolean {
    return this.#applied.get(id)?.digest === digest(object);
  }

  /** Whether the object is wanted as it was then, and nobody has touched it since. */
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

/** Without what a status changes, where the kind counts generations: those move with the spec alone. */
function stateOf({ metadata }: KubeObject): string {
  const { uid, generation, resourceVersion, labels, annotations, ownerReferences } = metadata;
  return digest([uid, generation ?? resourceVersion, labels, annotations, ownerReferences]);
}
