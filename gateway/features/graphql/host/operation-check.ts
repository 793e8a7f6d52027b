/** Decides whether an operation may be sent, by the config; all but costs that depend on variables is decided once. */
import { type OperationDefinitionNode, OperationTypeNode } from 'graphql/language';
import type { Obj } from '../../kit.ts';
import { type CostSettings, costOf } from './cost.ts';
import type { GraphQLDocument } from './document.ts';
import {
  type FragmentMeasures,
  type Measures,
  measureFragments,
  measureSelections,
  withDirectives,
} from './measures.ts';
import type { Refusal } from './refusal.ts';

interface Limit {
  /** Property of the config. */
  readonly property: string;
  readonly measure: (measures: Measures) => number;
  readonly code: string;
  readonly says: (most: number) => string;
}

/** In the order in which they are applied. */
const LIMITS = [
  {
    property: 'max_depth',
    measure: ({ depth }) => depth,
    code: 'MAX_DEPTH_LIMIT',
    says: (most) => `Fields are nested more than ${most} levels deep.`,
  },
  {
    property: 'max_fields',
    measure: ({ fields }) => fields,
    code: 'MAX_FIELDS_LIMIT',
    says: (most) => `The operation has more than ${most} fields, with fragments in place.`,
  },
  {
    property: 'max_breadth',
    measure: ({ widest }) => widest,
    code: 'MAX_BREADTH_LIMIT',
    says: (most) => `A selection set has more than ${most} fields.`,
  },
  {
    property: 'max_root_fields',
    measure: ({ breadth }) => breadth,
    code: 'MAX_ROOT_FIELDS_LIMIT',
    says: (most) => `The operation has more than ${most} root fields.`,
  },
  {
    property: 'max_aliases',
    measure: ({ aliases }) => aliases,
    code: 'MAX_ALIASES_LIMIT',
    says: (most) => `The operation has more than ${most} aliases.`,
  },
  {
    property: 'max_directives',
    measure: ({ directives }) => directives,
    code: 'MAX_DIRECTIVES_LIMIT',
    says: (most) => `The operation has more than ${most} directives.`,
  },
] as const satisfies readonly Limit[];

type LimitName = (typeof LIMITS)[number]['property'];

/** Limits by the properties of the config. */
type OperationLimits = Readonly<Record<LimitName, number>>;

export interface OperationRules {
  readonly limits: OperationLimits;
  readonly operations: ReadonlySet<string>;
  readonly introspection: boolean;
  /** Null: costs are not counted. */
  readonly cost: CostSettings | null;
}

/** An operation of a document that has been looked at. */
export interface CheckedOperation {
  readonly name: string | undefined;
  readonly isQuery: boolean;
  readonly refusal: Refusal | null;
  /** Its cost, if that is the same for all variables. */
  readonly cost: number | ((variables: Obj | null) => number);
}

export function checkedOperations(document: GraphQLDocument, rules: OperationRules): readonly CheckedOperation[] {
  const fragments = measureFragments(document.fragments);
  return document.operations.map((operation) => ({
    name: operation.name?.value,
    isQuery: operation.operation === OperationTypeNode.QUERY,
    refusal: refusalOf(operation, fragments, rules),
    cost: costBy(operation, document, rules.cost),
  }));
}

function costBy(operation: OperationDefinitionNode, document: GraphQLDocument, settings: CostSettings | null) {
  if (settings === null) return 0;
  const { value, varies } = costOf(operation, document, settings, null);
  return varies ? (variables: Obj | null) => costOf(operation, document, settings, variables).value : value;
}

function refusalOf(
  { operation, selectionSet, directives, variableDefinitions = [] }: OperationDefinitionNode,
  fragments: FragmentMeasures,
  { limits, operations, introspection }: OperationRules,
): Refusal | null {
  const selections = measureSelections(selectionSet, fragments);
  const ofVariables = variableDefinitions.flatMap((each) => each.directives ?? []);
  const measures = withDirectives(withDirectives(selections, directives), ofVariables);
  if (!operations.has(operation)) return refusal('OPERATION_NOT_ALLOWED', `A ${operation} is not allowed here.`);
  if (measures.introspects && !introspection) {
    return refusal('INTROSPECTION_DISABLED', '__schema, __type and _service are not allowed here.');
  }
  for (const { property, measure, code, says } of LIMITS) {
    const most = limits[property];
    if (measure(measures) > most) return refusal(code, says(most));
  }
  return null;
}

function refusal(code: string, detail: string): Refusal {
  return { status: 400, code, detail };
}
