/**
 * What the description of an operation proves of its requests (docs/reference/plugins.md#waf, `use_document`): which
 * names its author has chosen, which of them have values of which harmless form, and which segments of the path are
 * literals. The engine compares each request with it.
 */
import type { DescribedInputs, FormField, JsonObject, Obj, Parameter } from '../../kit.ts';
import { get, isJson, isObject } from '../../kit.ts';
import { bytesOf } from './exclusions.ts';
import {
  ANY,
  applyingSchemas,
  type HarmlessForm,
  harmlessForm,
  NUMBER,
  possibleSchemas,
  typesOf,
} from './harmless-forms.ts';

type ProvableVariable = 'ARGS_GET' | 'ARGS_POST' | 'REQUEST_HEADERS' | 'REQUEST_COOKIES';

export interface Proof {
  readonly variable: ProvableVariable;
  /** One character for each byte, as rules see it; headers in lower case. In paths of JSON, `*` stands for an index. */
  readonly name: string;
  readonly form: HarmlessForm | typeof ANY;
}

export interface Proofs {
  /** Without an order. */
  readonly names: readonly Proof[];
  /** Segments of the path template; empty for those with parameters. No segments: nothing is proved of the path. */
  readonly segments: readonly string[];
}

export const NO_PROOFS: Proofs = { names: [], segments: [] };

/** Names of an operation: rules match further ones, and their values. */
const MOST_NAMES = 500;
/** Values of JSON that are visited: recursive schemas have no end, and their paths grow. */
const MOST_VISITED = 500;

/** `path`: the template of the operation. */
export function proofsOf(path: string, inputs: DescribedInputs): Proofs {
  const segments = path.split('/').slice(1);
  const isLiteral = (segment: string) => !segment.includes('{');
  return {
    names: namesOf(inputs),
    segments: segments.some(isLiteral) ? segments.map((segment) => (isLiteral(segment) ? segment : '')) : [],
  };
}

function namesOf({ parameters, body, schemas }: DescribedInputs): readonly Proof[] {
  const proofs = new ProofList(schemas);
  for (const parameter of parameters) {
    const variable = VARIABLES_OF[parameter.in];
    if (variable !== undefined) proofs.addField(variable, parameter, listOf(parameter.schema), true);
  }
  const content = Object.entries(body?.content ?? {});
  // Bodies of other types may have the same names.
  const isOnly = content.length === 1;
  for (const [range, { schema, fields = [] }] of content) {
    if (isJson(range)) {
      proofs.addJson(listOf(schema), isOnly);
      proofs.addJsonNames(listOf(schema));
    } else proofs.addForm(fields, listOf(schema), isOnly);
  }
  return proofs.all;
}

const VARIABLES_OF: Readonly<Partial<Record<Parameter['in'], ProvableVariable>>> = {
  query: 'ARGS_GET',
  header: 'REQUEST_HEADERS',
  cookie: 'REQUEST_COOKIES',
};

/** Names that an author chooses for what they mean. Of other names nothing is proved: they could be parts of an attack. */
const IDENTIFIER = /^[\w.$@:*[\]-]+$/;
/** Fields of a form may be named as members of JSON are. */
const JSON_NAME = /^json(?:\.|$)/;
/** In a path, such a name is read as several ones, or as an index. */
const AMBIGUOUS_NAME = /\.|^\d*$|^\*$/;

/** A value within a body of JSON. */
interface Member {
  readonly path: string;
  readonly schemas: readonly unknown[];
  /** No member without a description has this path in valid JSON. */
  readonly isExact: boolean;
  /** The same for all paths that go on from this one by one name. */
  readonly isSealed: boolean;
}

class ProofList {
  readonly #table: JsonObject;
  /** By variable and name. */
  readonly #found = new Map<string, Proof>();

  constructor(table: JsonObject) {
    this.#table = table;
  }

  get all(): readonly Proof[] {
    return [...this.#found.values()];
  }

  /** A parameter, or a field of a form. `isExact`: the name means no other value. */
  addField(
    variable: ProvableVariable,
    { name, style, explode, types, content_type: contentType = TEXT, property_types: properties }: FormField,
    schemas: readonly unknown[],
    isExact: boolean,
  ): void {
    if (explode && properties !== undefined) {
      for (const property of Object.keys(properties)) {
        this.#add(variable, style === 'deepObject' ? `${name}[${property}]` : property, null, isExact);
      }
      return;
    }
    const applying = applyingSchemas(schemas, this.#table);
    const isArray = types.includes('array');
    // Otherwise items are parts of one text.
    const areSingle = !isArray || (explode && (style === 'form' || style === 'cookie'));
    const isText = contentType === TEXT && !types.includes('object') && areSingle;
    const values = isArray ? applyingSchemas(itemsOf(applying), this.#table) : applying;
    this.#add(variable, name, isText ? harmlessForm(values) : null, isExact);
  }

  addForm(fields: readonly FormField[], schemas: readonly unknown[], isExact: boolean): void {
    const properties = propertiesOf(applyingSchemas(schemas, this.#table));
    for (const field of fields) {
      const { name } = field;
      if (!JSON_NAME.test(name)) this.addField('ARGS_POST', field, properties.get(name) ?? [], isExact);
    }
  }

  /** `isOnly`: bodies have no other content type. */
  addJson(schemas: readonly unknown[], isOnly: boolean): void {
    const body: Member = { path: 'json', schemas, isExact: false, isSealed: isOnly };
    this.#walk(body, (member) => this.#addMember(member));
  }

  /** Adds names of members that only a branch of a union or condition has. */
  addJsonNames(schemas: readonly unknown[]): void {
    this.#walk<Pick<Member, 'path' | 'schemas'>>({ path: 'json', schemas }, (member) => {
      const possible = possibleSchemas(member.schemas, this.#table);
      const items = possible.flatMap((each) => [...listOf(each['items']), ...prefixItemsOf(each)]);
      const members = [...propertiesOf(possible)].map(([name, described]) => ({
        path: `${member.path}.${name}`,
        schemas: described,
      }));
      if (items.length > 0) members.push({ path: `${member.path}.*`, schemas: items });
      for (const { path } of members) if (!this.#has('ARGS_POST', path)) this.#add('ARGS_POST', path, null, false);
      return members;
    });
  }

  /** Visits a body and the members in it, the outermost first. `visit` returns the members of a value. */
  #walk<M>(body: M, visit: (member: M) => readonly M[]): void {
    const waiting = [body];
    for (const [visited, member] of waiting.entries()) {
      if (this.#found.size >= MOST_NAMES || visited >= MOST_VISITED) return;
      waiting.push(...visit(member));
    }
  }

  /** Returns the members of the value. */
  #addMember({ path, schemas, isExact, isSealed }: Member): readonly Member[] {
    const applying = applyingSchemas(schemas, this.#table);
    const [type, ...otherTypes] = typesOf(applying) ?? [];
    const items = itemsOf(applying);
    if (type === 'array' && otherTypes.length === 0) {
      // The value of an array is its length.
      this.#add('ARGS_POST', path, NUMBER, isExact);
      return items.length === 0 ? [] : [{ path: `${path}.*`, schemas: items, isExact: isSealed, isSealed }];
    }
    this.#add('ARGS_POST', path, path === 'json' ? null : harmlessForm(applying), isExact);
    const properties = propertiesOf(applying);
    const isObjectOnly = type === 'object' && otherTypes.length === 0;
    const closes = isObjectOnly && isClosed(applying) && ![...properties.keys()].some((name) => name.includes('.'));
    return [...properties].flatMap(([name, described]) => {
      const inner = { path: `${path}.${name}`, schemas: described };
      if (AMBIGUOUS_NAME.test(name)) {
        this.#add('ARGS_POST', inner.path, null, false);
        return [];
      }
      return [{ ...inner, isExact: isSealed, isSealed: isSealed && closes }];
    });
  }

  #has(variable: ProvableVariable, name: string): boolean {
    return this.#found.has(`${variable} ${name}`);
  }

  #add(variable: ProvableVariable, name: string, form: HarmlessForm | null, isExact: boolean): void {
    if (!IDENTIFIER.test(name)) return;
    const key = `${variable} ${name}`;
    const known = this.#found.get(key);
    // Texts of any bytes are harmless only where they are expected.
    const isUsable = form !== null && (isExact || form.kind !== 'texts' || form.arePlain);
    const proof = { variable, name: bytesOf(name), form: isUsable ? form : ANY };
    const isSame = known === undefined || JSON.stringify(known) === JSON.stringify(proof);
    if (known !== undefined || this.#found.size < MOST_NAMES)
      this.#found.set(key, isSame ? proof : { ...proof, form: ANY });
  }
}

const TEXT = 'text/plain';

function listOf(schema: unknown): readonly unknown[] {
  return schema === undefined ? [] : [schema];
}

/** Returns no schema if the first items have others. */
function itemsOf(applying: readonly Obj[]): readonly unknown[] {
  if (applying.some((each) => each['prefixItems'] !== undefined)) return [];
  return applying.flatMap(({ items }) => listOf(items));
}

function prefixItemsOf({ prefixItems }: Obj): readonly unknown[] {
  return Array.isArray(prefixItems) ? prefixItems : [];
}

/** Schemas of the properties that are described, by name. */
function propertiesOf(applying: readonly Obj[]): ReadonlyMap<string, readonly unknown[]> {
  const found = new Map<string, unknown[]>();
  for (const { properties } of applying) {
    if (!isObject(properties)) continue;
    for (const name of Object.keys(properties)) {
      found.set(name, [...(found.get(name) ?? []), get(properties, name)]);
    }
  }
  return found;
}

/** Reports whether objects have no other members than those that are described. */
function isClosed(applying: readonly Obj[]): boolean {
  if (applying.some((each) => each['patternProperties'] !== undefined)) return false;
  return applying.some((each) => each['additionalProperties'] === false || each['unevaluatedProperties'] === false);
}
