/**
 * The one table of schemas of an artifact: every schema that requests are checked against, as JSON Schema 2020-12,
 * each `$ref` target once. Never inlined: Stripe's operations written out would take 344 GB.
 */
import { hash } from 'node:crypto';
import { canonicalJson } from '../../artifact/canonical-json.ts';
import type { Json, JsonObject, SchemaRef } from '../../artifact/format.ts';
import { isJson, mediaTypeOf } from '../../headers/media-type.ts';
import { writtenJson } from '../../json/written-numbers.ts';
import { patternKind } from '../../patterns/known-patterns.ts';
import type { Diagnostics } from '../../spec/diagnostic.ts';
import { type Documents, type Located, member, placeOf } from '../../spec/documents.ts';
import { get, isObject, kindOf, type Obj } from '../../spec/json.ts';
import { schemaMapAt } from '../../spec/merged-reference.ts';
import { warnOfMisspelt } from '../../spec/misspelt-fields.ts';
import type { Dialect } from '../../spec/recognise.ts';
import { isAssertion, keywordOf, SCHEMA_KEYWORDS } from '../../spec/schema-keywords.ts';
import { WRITTEN } from '../../validation/schemas/keyword-text.ts';
import { discriminate } from './discriminator.ts';
import { ForeignKeywords } from './foreign-keywords.ts';
import { type Annotations, withAnnotations } from './schema-annotations.ts';
import { breakCycles } from './schema-cycles.ts';
import { translate07, translate30, withDependencies, withExclusiveBounds } from './schema-dialect.ts';
import { oneWayNames } from './schema-read-only.ts';
import { type Scope, Scopes } from './schema-scope.ts';
import { Vocabularies } from './schema-vocabulary.ts';

/** Requests may leave out `readOnly` properties, and responses `writeOnly` ones. */
export type Direction = 'request' | 'response';

/** The place of a schema, and the way of reading it. */
export interface Context {
  readonly dialect: Dialect;
  readonly direction: Direction;
  readonly scope: Scope;
  /** Names that an enclosing `allOf` says do not go in this direction. */
  readonly hidden: ReadonlySet<string>;
  readonly annotations: Annotations;
}

interface Target {
  readonly located: Located;
  readonly context: Context;
}

/** The schema that admits every value. */
const ANYTHING = 'anything';
const NOTHING: ReadonlySet<string> = new Set();

export class SchemaTable {
  readonly #documents: Documents;
  readonly #diagnostics: Diagnostics;
  /** The name of a document that is the same through every interface. */
  readonly #nameOf: (file: string) => string;
  readonly #schemas = new Map<string, Json>();
  readonly #places = new Map<string, Located>();
  readonly #waiting: (Target & { readonly id: string })[] = [];
  readonly #foreign = new ForeignKeywords();
  readonly #scopes: Scopes;
  readonly #vocabularies: Vocabularies;

  constructor(documents: Documents, diagnostics: Diagnostics, nameOf: (file: string) => string) {
    this.#documents = documents;
    this.#diagnostics = diagnostics;
    this.#nameOf = nameOf;
    this.#scopes = new Scopes(documents, nameOf);
    this.#vocabularies = new Vocabularies(documents);
  }

  /** Returns undefined if everything is valid, so that no check is needed. */
  add(located: Located, dialect: Dialect, direction: Direction = 'request'): SchemaRef | undefined {
    return this.#keep(this.#outermost(located, dialect, direction, 'none'));
  }

  /** Like `add`, for a value that must be well formed even if everything is valid. */
  addRead(located: Located, dialect: Dialect, direction: Direction): SchemaRef {
    const ref = this.add(located, dialect, direction);
    if (ref !== undefined) return ref;
    this.#schemas.set(ANYTHING, {});
    return { $ref: `gw:${ANYTHING}` };
  }

  /** Adds a schema of a response, with its examples and defaults, which generated values use. */
  addExemplary(located: Located, dialect: Dialect): SchemaRef | undefined {
    return this.#keep(this.#outermost(located, dialect, 'response', 'examples'));
  }

  /** Adds a schema with its annotations for readers: titles, descriptions, defaults, examples. */
  addDescribed(located: Located, dialect: Dialect, direction: Direction): SchemaRef | undefined {
    return this.#keep(this.#outermost(located, dialect, direction, 'all'));
  }

  /** Adds one schema that admits in a request whatever any of these does. */
  addAny(
    schemas: readonly { readonly located: Located; readonly dialect: Dialect }[],
    annotations: Annotations = 'none',
  ): SchemaRef | undefined {
    const normal = schemas.map(({ located, dialect }) => this.#outermost(located, dialect, 'request', annotations));
    const different = new Map(normal.map((each) => [canonicalJson(each), each]));
    const [only] = different.values();
    return this.#keep(different.size === 1 && only !== undefined ? only : { anyOf: [...different.values()] });
  }

  #outermost(located: Located, dialect: Dialect, direction: Direction, annotations: Annotations): Json {
    const scope = this.#enter(this.#scopes.none, located);
    return this.#normalise(located, { dialect, direction, scope, hidden: NOTHING, annotations });
  }

  #keep(normal: Json): SchemaRef | undefined {
    if (normal === true || (isObject(normal) && Object.keys(normal).length === 0)) return undefined;
    if (isObject(normal) && typeof normal['$ref'] === 'string' && Object.keys(normal).length === 1) {
      return { $ref: normal['$ref'] };
    }
    const id = `inline-${hash('sha256', canonicalJson(normal), 'hex').slice(0, 16)}`;
    this.#schemas.set(id, normal);
    return { $ref: `gw:${id}` };
  }

  /** Returns everything that was added, with all references, by id, sorted. */
  finish(): { readonly [id: string]: Json } {
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
      this.#schemas.set(next.id, this.#normalise(next.located, next.context));
    }
    this.#foreign.report(this.#diagnostics);
    const sorted = new Map([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
    for (const id of breakCycles(sorted)) {
      const at = this.#places.get(id);
      this.#diagnostics.add(
        'E1008',
        at ? placeOf(at) : null,
        'the schema contains itself with nothing between: the reference that closes the circle is not checked',
        'Remove the reference that leads back to the schema, or put it below a property.',
      );
    }
    return Object.fromEntries(sorted);
  }

  /** Returns the place of a schema of the table, or undefined if nothing refers to it. */
  placeOf(id: string): Located | undefined {
    return this.#places.get(id);
  }

  /** Returns the id of a `$ref`'s target, by its place: independent of the rest of the project. */
  #target(located: Located, context: Context): string {
    const { file } = located.document;
    const kept = context.annotations === 'none' ? '' : `\0${context.annotations}`;
    const way = (context.direction === 'request' ? '' : '\0response') + kept;
    const scope = context.scope.key === '' ? '' : `\0${context.scope.key}`;
    const key = `${context.dialect}\0${this.#nameOf(file)}\0${located.pointer}${way}${scope}`;
    const label = (located.pointer.split('/').pop() ?? '').replaceAll(/[^A-Za-z0-9]+/g, '').slice(0, 40) || 'schema';
    const id = `${label}-${hash('sha256', key, 'hex').slice(0, 16)}`;
    if (!this.#places.has(id)) {
      this.#places.set(id, located);
      this.#waiting.push({ id, located, context: { ...context, hidden: NOTHING } });
    }
    return id;
  }

  #normalise(located: Located, context: Context): Json {
    const schema = this.#translate(located, context);
    if (!isObject(located.value)) return schema;
    const annotated = withAnnotations(located.value, schema, context.annotations);
    return context.annotations === 'examples' ? this.#withContent(located, annotated, context) : annotated;
  }

  /** Adds the schema of the JSON that a text holds, for making examples. */
  #withContent(located: Located, normal: Json, context: Context): Json {
    const [type, inner] = [get(located.value, 'contentMediaType'), member(located, 'contentSchema')];
    if (typeof type !== 'string' || !isJson(mediaTypeOf(type)) || !isObject(normal)) return normal;
    if (!isObject(inner.value) || context.dialect === '3.0') return normal;
    return { ...(normal as JsonObject), contentSchema: this.#normalise(inner, { ...context, hidden: NOTHING }) };
  }

  #translate(located: Located, outer: Context): Json {
    const { value } = located;
    if (typeof value === 'boolean') return value;
    if (!isObject(value)) {
      this.#diagnostics.add(
        'E1004',
        placeOf(located),
        `a schema is ${kindOf(value)}: it must be an object or a boolean`,
        'Write { type: string }, or { $ref: "#/components/schemas/NAME" }.',
      );
      return true;
    }
    this.#foreign.note(located, value, outer.dialect);
    warnOfMisspelt(located, SCHEMA_KEYWORDS, this.#diagnostics);
    if (outer.dialect === '3.0') {
      const ref = this.#reference('$ref', located, value, outer);
      if (ref !== undefined) this.#warnOfKeywordsBeside(located, value, 'OpenAPI 3.0');
      return ref ?? translate30(value, this.#described(located, value, outer));
    }
    if (outer.dialect === 'draft-07') {
      // There, a reference replaces its neighbours.
      const ref = this.#reference('$ref', located, value, outer);
      if (ref !== undefined) {
        this.#warnOfKeywordsBeside(located, value, 'draft 07');
        return ref;
      }
    }
    const context = value['$id'] === undefined ? outer : { ...outer, scope: this.#enter(outer.scope, located) };
    const normal = this.#described(located, value, context);
    // A broken reference is E1003 already.
    const [first, second] = (['$ref', '$dynamicRef'] as const).flatMap((keyword) => {
      const reference = this.#reference(keyword, located, value, context);
      return isObject(reference) ? [reference] : [];
    });
    if (first === undefined) return normal;
    const all = Array.isArray(normal['allOf']) ? normal['allOf'] : [];
    return { ...first, ...normal, ...(second === undefined ? {} : { allOf: [...all, second] }) };
  }

  #warnOfKeywordsBeside(located: Located, value: Obj, what: string): void {
    for (const name of Object.keys(value)) {
      if (name !== 'nullable' && (name.startsWith('$') || keywordOf(name) === undefined)) continue;
      const message = `"${name}" stands beside a $ref, and is ignored, as ${what} has it`;
      this.#diagnostics.add('E1008', placeOf(member(located, name)), message, 'Write both into "allOf".');
    }
  }

  #described(located: Located, value: Obj, context: Context): JsonObject {
    if (value['discriminator'] !== undefined && typeof get(value['discriminator'], 'propertyName') !== 'string') {
      const message = 'a discriminator without "propertyName" selects nothing';
      this.#diagnostics.add('E1008', placeOf(member(located, 'discriminator')), message, NAMES_PROPERTY);
    }
    return discriminate(located, this.#keywords(located, value, context), this.#documents, context.annotations);
  }

  #reference(
    keyword: '$ref' | '$dynamicRef',
    located: Located,
    value: Obj,
    context: Context,
  ): JsonObject | true | undefined {
    const ref = get(value, keyword);
    if (ref !== undefined && typeof ref !== 'string') {
      this.#diagnostics.add(
        'E1004',
        placeOf(member(located, keyword)),
        `"${keyword}" is ${kindOf(ref)}: it must be a string`,
        `Write ${keyword}: "#/components/schemas/NAME", in quotation marks.`,
      );
    }
    if (typeof ref !== 'string') return undefined;
    const resolution = this.#documents.resolve(located, ref);
    if (!resolution.ok) return true;
    const { scope } = context;
    const target = keyword === '$ref' ? resolution.target : this.#scopes.dynamic(scope, ref, resolution.target);
    return { $ref: `gw:${this.#target(target, { ...context, scope: this.#enter(scope, target) })}` };
  }

  #enter(outer: Scope, located: Located): Scope {
    const scope = this.#scopes.enter(outer, located);
    if (scope) return scope;
    this.#diagnostics.add('E1008', placeOf(located), 'too many combinations of $dynamicAnchors: some are not followed');
    return outer;
  }

  #keywords(located: Located, value: Obj, outer: Context): JsonObject {
    const way = outer.direction === 'request' ? 'readOnly' : 'writeOnly';
    const own = oneWayNames(way, located, outer.dialect, this.#documents);
    const hidden = own.size === 0 ? outer.hidden : new Set([...outer.hidden, ...own]);
    const validates = outer.dialect !== '2020-12' || this.#vocabularies.validates(located);
    const normal: [string, Json][] = [];
    const members = Object.keys(value).map((name): [string, Located] => [name, member(located, name)]);
    for (const [name, at] of this.#translated(members, value, outer.dialect)) {
      const keyword = keywordOf(name);
      if (!keyword || (!validates && isAssertion(keyword))) continue;
      if (/^exclusive/.test(name) && typeof at.value === 'boolean') {
        if (outer.dialect !== '3.0') this.#warnOfBooleanBound(at, name);
        continue;
      }
      const fault = keyword.check(at.value);
      if (fault !== null) {
        this.#diagnostics.add('E1004', placeOf(at), `"${name}" ${fault}`, keyword.hint(name, at.value));
        continue;
      }
      // Properties hidden by an `allOf` are hidden in its own members, and not below a property.
      const context = name === 'allOf' ? { ...outer, hidden } : { ...outer, hidden: NOTHING };
      if (name === 'pattern' && validates) this.#warnOfLongTexts(at, value['maxLength']);
      const read = this.#keyword(name, keyword.kind, at, context);
      if (read !== undefined) normal.push([name, read]);
    }
    const written = outer.annotations === 'none' ? writtenKeywords(value, normal) : [];
    const read = withoutUnread(value, Object.fromEntries([...normal, ...written]));
    const bounded = outer.dialect === '3.0' ? read : withExclusiveBounds(value, read);
    return withoutHidden(withoutProto(bounded), hidden);
  }

  #warnOfBooleanBound(at: Located, name: string): void {
    const bound = name === 'exclusiveMinimum' ? 'minimum' : 'maximum';
    const message = `"${name}" is a boolean, as in OpenAPI 3.0: it is read as such, with "${bound}"`;
    this.#diagnostics.add('E1007', placeOf(at), message, `Write the number under "${name}", without "${bound}".`);
  }

  #translated(members: readonly [string, Located][], value: Obj, dialect: Dialect): readonly [string, Located][] {
    if (dialect === 'draft-07') return translate07(members, value);
    return dialect === '2020-12' ? withDependencies(members, value) : members;
  }

  /** Returns undefined if the keyword is left out. */
  #keyword(name: string, kind: string, at: Located, context: Context): Json | undefined {
    switch (kind) {
      case 'schema':
        return this.#normalise(at, context);
      case 'schemas':
        return Array.isArray(at.value) ? at.value.map((_, i) => this.#normalise(member(at, i), context)) : [];
      case 'schemaMap': {
        const map = schemaMapAt(at, this.#documents);
        if (map !== at) {
          const place = placeOf(member(at, '$ref'));
          this.#diagnostics.add('E1007', place, `"${name}" cannot be a $ref: the members of its target are read`);
        }
        const all = isObject(map.value) ? Object.keys(map.value) : [];
        const names = name === 'patternProperties' ? all.filter((each) => this.#isRead(each, member(map, each))) : all;
        return Object.fromEntries(names.map((each) => [each, this.#normalise(member(map, each), context)]));
      }
      case 'pattern':
        return this.#isRead(String(at.value), at) ? String(at.value) : undefined;
      default:
        return at.value as Json;
    }
  }

  /** Warns if allowed texts are too long for a pattern of many states to be matched on the event loop. */
  #warnOfLongTexts(at: Located, maxLength: unknown): void {
    const verdict = patternKind(String(at.value));
    if (verdict.kind !== 'linear' || verdict.mostCharacters >= LONG_TEXT) return;
    if (typeof maxLength === 'number' && maxLength <= verdict.mostCharacters) return;
    const pattern = shown(String(at.value));
    const longer = `texts of more than ${verdict.mostCharacters} characters are matched in a helper process`;
    const advice = `maxLength: ${verdict.mostCharacters} keeps them out of it`;
    this.#diagnostics.add('E1074', placeOf(at), `pattern "${pattern}": ${longer}; ${advice}`);
  }

  /** Reports whether a pattern can be matched; adds its diagnostics. */
  #isRead(pattern: string, at: Located): boolean {
    const verdict = patternKind(pattern);
    if (verdict.kind === 'unreadable') {
      this.#diagnostics.addStrict(
        'E1008',
        placeOf(at),
        `"${shown(pattern)}" is not a regular expression, and is left out`,
        UNREAD,
      );
    } else if (verdict.kind === 'counted') {
      this.#diagnostics.add(
        'E1006',
        placeOf(at),
        `pattern "${shown(pattern)}" has ${verdict.constructs.join(' and ')}`,
      );
    }
    return verdict.kind !== 'unreadable';
  }
}

/** Characters: a pattern that takes texts of this length is not warned of. */
const LONG_TEXT = 1_000;

const shown = (pattern: string) => (pattern.length > 80 ? `${pattern.slice(0, 79)}…` : pattern);

const NAMES_PROPERTY = 'Write discriminator: { propertyName: <name> }, here and not by reference.';
const UNREAD = 'Write it as ECMA-262 or RE2 has it; in production builds this is an error.';

/** Returns keywords with numbers that JavaScript cannot represent, as the document has written them. */
function writtenKeywords(schema: Obj, normal: readonly [string, Json][]): readonly [string, Json][] {
  const texts = normal.flatMap(([name]): [string, string][] => {
    const text = keywordOf(name)?.kind === 'plain' ? writtenJson(schema, name) : undefined;
    return text === undefined ? [] : [[name, text]];
  });
  return texts.length === 0 ? [] : [[WRITTEN, Object.fromEntries(texts)]];
}

/** Names that a pattern was for that is left out are not among the others. */
function withoutUnread(given: Obj, schema: JsonObject): JsonObject {
  const count = (patterns: unknown) => (isObject(patterns) ? Object.keys(patterns).length : 0);
  if (count(given['patternProperties']) === count(schema['patternProperties'])) return schema;
  const { additionalProperties: _, unevaluatedProperties: _unevaluated, ...others } = schema;
  return others;
}

/** Ajv passes over a property of this name, but no pattern. */
function withoutProto(schema: JsonObject): JsonObject {
  const { properties, patternProperties } = schema;
  const all = Object.entries(isObject(properties) ? properties : {});
  const own = all.find(([name]) => name === '__proto__')?.[1];
  if (own === undefined) return schema;
  const patterns = isObject(patternProperties) ? patternProperties : {};
  return {
    ...schema,
    properties: Object.fromEntries(all.filter(([name]) => name !== '__proto__')),
    patternProperties: { ...patterns, '^__proto__$': own },
  };
}

/** Properties that must not be sent cannot be required. */
function withoutHidden(schema: JsonObject, hidden: ReadonlySet<string>): JsonObject {
  const { required, ...rest } = schema;
  if (!Array.isArray(required) || hidden.size === 0) return schema;
  const left = required.filter((name) => !hidden.has(name));
  return left.length === 0 ? rest : { ...rest, required: left };
}
