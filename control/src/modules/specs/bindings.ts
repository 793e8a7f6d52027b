/**
 * Plugins that are bound to operations outside the document, and their places in a new document
 * (docs/decisions.md#kept-bindings).
 */
import type { DescribedOperation } from '@gw/gateway/compiler';

export const BOUND_FIELDS = ['dispatch', 'middlewares'] as const;
export type BoundField = (typeof BOUND_FIELDS)[number];

/** An absent field follows the document; null: the operation has no chain, independent of the document. */
export type BoundChain = { readonly [F in BoundField]?: unknown };

export interface Binding {
  readonly id: string;
  /** The operation that it was made for. */
  readonly operation_id: string | null;
  readonly method: string;
  readonly path: string;
  readonly chain: BoundChain;
  /** Whether a person decided to keep it although no operation matches. */
  readonly isDormant: boolean;
}

/**
 * `applied`: operationId and path match; `conflict`: they do, but the document has a chain of its own there, which is
 * ignored; `changed`: only one of both matches; `lost`: neither does, or the document cannot be edited there.
 */
export type BindingState = 'applied' | 'conflict' | 'changed' | 'lost';

export interface PlacedBinding {
  readonly binding: Binding;
  readonly operation: DescribedOperation | null;
  readonly state: Exclude<BindingState, 'conflict'>;
  /** Empty for an applied one. */
  readonly reason: string;
}

export const placeOf = ({ method, path }: { readonly method: string; readonly path: string }): string =>
  `${method} ${path}`;

/** Places at most one binding at an operation: full matches first, then matches by operationId. */
export function placeBindings(
  bindings: readonly Binding[],
  operations: readonly DescribedOperation[],
): readonly PlacedBinding[] {
  const byPlace = new Map(operations.map((each) => [placeOf(each), each]));
  const byId = new Map(operations.toReversed().map((each) => [each.operationId, each]));
  const claimed = new Set<string>();
  const placed = new Map<Binding, PlacedBinding>();
  const claim = (find: (binding: Binding) => PlacedBinding | null) => {
    for (const binding of bindings) {
      if (placed.has(binding)) continue;
      const found = find(binding);
      if (!found?.operation || claimed.has(found.operation.pointer)) continue;
      claimed.add(found.operation.pointer);
      placed.set(binding, found);
    }
  };
  claim((binding) => {
    const operation = byPlace.get(placeOf(binding));
    if (!operation || operation.operationId !== binding.operation_id) return null;
    return { binding, operation, state: 'applied', reason: '' };
  });
  claim((binding) => {
    const operation = binding.operation_id === null ? undefined : byId.get(binding.operation_id);
    if (!operation) return null;
    return { binding, operation, state: 'changed', reason: `the operation is ${placeOf(operation)} now` };
  });
  claim((binding) => {
    const operation = byPlace.get(placeOf(binding));
    if (!operation) return null;
    const reason =
      operation.operationId === null
        ? 'it has no operationId now'
        : `its operationId is "${operation.operationId}" now`;
    return { binding, operation, state: 'changed', reason };
  });
  const lost = { operation: null, state: 'lost', reason: 'the document has no such operation' } as const;
  return bindings.map((binding) => placed.get(binding) ?? { binding, ...lost });
}
