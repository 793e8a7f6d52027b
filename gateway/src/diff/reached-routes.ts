/** Finds the operation that answers requests of another one's route: `/a/me` is excluded from `/a/{x}`. */
import type { Operation } from '../artifact/format.ts';
import { Router } from '../router/router.ts';
import { parseTemplate, type Segment } from '../router/template.ts';

/** A text that no literal segment is. */
const ANY = 'x0x0x0x0';

export class ReachedRoutes {
  readonly #router = new Router<Operation>();

  constructor(operations: readonly Operation[]) {
    for (const operation of operations) this.#router.add(operation.method, operation.path, operation);
  }

  /**
   * Returns the operation that answers a request of the method to a path of the template; undefined if none matches.
   */
  of({ method, path }: Pick<Operation, 'method' | 'path'>): Operation | undefined {
    const found = this.#router.find(method, `/${parseTemplate(path).segments.map(sampleOf).join('/')}`);
    return found.value ?? undefined;
  }
}

function sampleOf(segment: Segment): string {
  if (segment.kind === 'static') return segment.text;
  return segment.kind === 'pattern' ? segment.pattern.literals.join(ANY) : ANY;
}
