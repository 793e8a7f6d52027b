/**
 * The measures of an operation, as with all fragments expanded. They are not expanded: a fragment is counted once and
 * added at each spread. Sums past the range of numbers are Infinity, which is above any limit.
 */
import { type FragmentDefinitionNode, Kind, type SelectionNode, type SelectionSetNode } from 'graphql/language';
import { noFragment } from './document.ts';

export interface Measures {
  /** Nesting of fields. */
  readonly depth: number;
  readonly fields: number;
  /** Fields side by side in the selection set itself. */
  readonly breadth: number;
  /** The most of any selection set in it. */
  readonly widest: number;
  readonly aliases: number;
  readonly directives: number;
  /** It asks for `__schema` or `__type`, or for `_service`, which has the schema of a federated subgraph. */
  readonly introspects: boolean;
}

export type FragmentMeasures = ReadonlyMap<string, Measures>;

const INTROSPECTION: ReadonlySet<string> = new Set(['__schema', '__type', '_service']);

const NOTHING: Measures = {
  depth: 0,
  fields: 0,
  breadth: 0,
  widest: 0,
  aliases: 0,
  directives: 0,
  introspects: false,
};

/** `fragments`: each after those that it spreads. */
export function measureFragments(fragments: readonly FragmentDefinitionNode[]): FragmentMeasures {
  const measured = new Map<string, Measures>();
  for (const { name, selectionSet, directives } of fragments) {
    const inside = measureSelections(selectionSet, measured);
    measured.set(name.value, withDirectives(inside, directives));
  }
  return measured;
}

/** Throws Refused if a fragment is spread that is not there. */
export function measureSelections(set: SelectionSetNode | undefined, fragments: FragmentMeasures): Measures {
  if (set === undefined) return NOTHING;
  const sum = { ...NOTHING };
  for (const selection of set.selections) {
    const each = measureSelection(selection, fragments);
    sum.depth = Math.max(sum.depth, each.depth);
    sum.fields += each.fields;
    sum.breadth += each.breadth;
    sum.widest = Math.max(sum.widest, each.widest);
    sum.aliases += each.aliases;
    sum.directives += each.directives;
    sum.introspects ||= each.introspects;
  }
  sum.widest = Math.max(sum.widest, sum.breadth);
  return sum;
}

function measureSelection(selection: SelectionNode, fragments: FragmentMeasures): Measures {
  if (selection.kind === Kind.FRAGMENT_SPREAD) {
    const spread = fragments.get(selection.name.value);
    if (spread === undefined) throw noFragment(selection.name.value);
    return withDirectives(spread, selection.directives);
  }
  const inside = measureSelections(selection.selectionSet, fragments);
  if (selection.kind === Kind.INLINE_FRAGMENT) return withDirectives(inside, selection.directives);
  const name = selection.name.value;
  const field = {
    depth: inside.depth + 1,
    fields: inside.fields + 1,
    breadth: 1,
    widest: inside.widest,
    aliases: inside.aliases + (selection.alias === undefined ? 0 : 1),
    directives: inside.directives,
    introspects: inside.introspects || INTROSPECTION.has(name),
  };
  return withDirectives(field, selection.directives);
}

export function withDirectives(measures: Measures, directives: readonly unknown[] = []): Measures {
  return directives.length === 0 ? measures : { ...measures, directives: measures.directives + directives.length };
}
