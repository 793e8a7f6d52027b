/**
 * Computes the cost of an operation: each field has a weight, and the fields of a list count once per requested
 * element.
 */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql/language';
import { get, type Obj } from '../../kit.ts';
import type { GraphQLDocument } from './document.ts';

export interface FieldCost {
  readonly cost: number;
  /** Elements of its list if the request does not say. */
  readonly listSize: number;
}

export interface CostSettings {
  /** Highest cost of all operations of a request. */
  readonly most: number;
  /** For fields that are not listed. */
  readonly otherwise: FieldCost;
  /** Costs by the name of the field, on any type. */
  readonly fields: ReadonlyMap<string, FieldCost>;
  /** Arguments that say how many elements a list has. */
  readonly listArguments: ReadonlySet<string>;
}

/** An operation's cost. */
export interface Cost {
  readonly value: number;
  /** Other variables could make it another. */
  readonly varies: boolean;
}

/** `variables`: null if the request has no variables. */
export function costOf(
  operation: OperationDefinitionNode,
  { fragments }: GraphQLDocument,
  settings: CostSettings,
  variables: Obj | null,
): Cost {
  return new Costing(settings, defaultsOf(operation), variables).of(operation, fragments);
}

function defaultsOf({ variableDefinitions = [] }: OperationDefinitionNode): ReadonlyMap<string, ValueNode> {
  const defaults = new Map<string, ValueNode>();
  for (const { variable, defaultValue } of variableDefinitions) {
    if (defaultValue !== undefined) defaults.set(variable.name.value, defaultValue);
  }
  return defaults;
}

class Costing {
  readonly #settings: CostSettings;
  readonly #defaults: ReadonlyMap<string, ValueNode>;
  readonly #variables: Obj | null;
  readonly #fragments = new Map<string, number>();
  #varies = false;

  constructor(settings: CostSettings, defaults: ReadonlyMap<string, ValueNode>, variables: Obj | null) {
    this.#settings = settings;
    this.#defaults = defaults;
    this.#variables = variables;
  }

  of({ selectionSet }: OperationDefinitionNode, fragments: readonly FragmentDefinitionNode[]): Cost {
    for (const { name, selectionSet } of fragments) this.#fragments.set(name.value, this.#ofSet(selectionSet));
    return { value: this.#ofSet(selectionSet), varies: this.#varies };
  }

  #ofSet(set: SelectionSetNode | undefined): number {
    let sum = 0;
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) sum += this.#fragments.get(selection.name.value) ?? 0;
      else if (selection.kind === Kind.INLINE_FRAGMENT) sum += this.#ofSet(selection.selectionSet);
      else sum += this.#ofField(selection);
    }
    return sum;
  }

  #ofField(field: FieldNode): number {
    const { cost, listSize } = this.#settings.fields.get(field.name.value) ?? this.#settings.otherwise;
    const inside = this.#ofSet(field.selectionSet);
    return cost + this.#elements(field, listSize) * inside;
  }

  /** Returns the largest number among the list arguments; the list's default size if they have none. */
  #elements({ arguments: given = [] }: FieldNode, listSize: number): number {
    let most = 0;
    for (const { name, value } of given) {
      if (this.#settings.listArguments.has(name.value)) most = Math.max(most, this.#number(value));
    }
    return most === 0 ? listSize : most;
  }

  /** Returns 0 unless the value is a positive integer: servers give others meanings of their own. */
  #number(value: ValueNode): number {
    if (value.kind !== Kind.VARIABLE) return value.kind === Kind.INT ? countOf(Number(value.value)) : 0;
    this.#varies = true;
    const name = value.name.value;
    const given = get(this.#variables, name);
    if (given !== undefined) return countOf(given);
    const otherwise = this.#defaults.get(name);
    return otherwise?.kind === Kind.INT ? countOf(Number(otherwise.value)) : 0;
  }
}

/**
 * Returns a count; numeric text counts as a number, as some servers read it. Finite, since zero times infinity is NaN.
 */
function countOf(given: unknown): number {
  const number = typeof given === 'string' ? Number(given) : given;
  return typeof number === 'number' && number > 0 ? Math.min(Math.ceil(number), Number.MAX_SAFE_INTEGER) : 0;
}
