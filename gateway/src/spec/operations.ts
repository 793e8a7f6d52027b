/** The operations of an OpenAPI document, with their references followed; faults are reported (E1004). */
import type { Diagnostics, Place } from './diagnostic.ts';
import { type Documents, type Located, member, placeOf } from './documents.ts';
import { followedPart, followObject } from './follow-object.ts';
import { get, isObject, kindOf } from './json.ts';
import { followMerged, type MergedObject } from './merged-reference.ts';
import { OPERATION, PARAMETER, PATH_ITEM, REQUEST_BODY, warnOfMisspelt } from './misspelt-fields.ts';
import { child } from './pointer.ts';
import type { Spec } from './recognise.ts';

export const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'] as const;

/** Objects that may hold an extension of an operation: the outermost first, the operation last. */
export interface Layers {
  readonly dispatch: readonly Located[];
  readonly middlewares: readonly Located[];
}

/** A message of an AsyncAPI channel. */
export interface DeclaredMessage {
  readonly at: Located;
  /** A schema, or one with its `schemaFormat`; its value is undefined if absent. */
  readonly payload: Located;
  /** The same, of the message and of its traits, the one that decides first. */
  readonly headers: readonly Located[];
  readonly contentType: string;
}

/** Parameters and messages of an AsyncAPI operation, in place of parameters and a body. */
export interface DeclaredChannel {
  /** By name; the objects themselves. */
  readonly parameters: ReadonlyMap<string, Located>;
  readonly messages: readonly DeclaredMessage[];
  /** Messages come in requests (`send`), or go out in responses (`receive`). */
  readonly action: 'send' | 'receive';
  /** The channel itself. */
  readonly at: Located;
  /** The operations of the same channel, in the same document, with the other action. */
  readonly others: readonly DeclaredOther[];
}

/** An AsyncAPI operation on the other side of a channel. */
interface DeclaredOther {
  /** Its declared dispatcher; undefined if it has none. */
  readonly dispatcher: unknown;
  readonly messages: readonly DeclaredMessage[];
}

/** An operation as it is declared. */
export interface DeclaredOperation {
  readonly spec: Spec;
  readonly at: Located;
  /** Places of its extensions. */
  readonly layers: Layers;
  readonly path: string;
  /** Place of the path. */
  readonly pathAt: Place;
  /** Upper case. */
  readonly method: string;
  readonly operationId?: string;
  /** Parameters of the path and of the operation, merged; the objects themselves. */
  readonly parameters: readonly Located[];
  /** The object itself. */
  readonly requestBody?: Located;
  /** Channel of AsyncAPI operations. */
  readonly channel?: DeclaredChannel;
  /** Security requirements that apply: the operation's, else the document's; in AsyncAPI schemes themselves. */
  readonly security: readonly Located[];
}

export function operationsOf(spec: Spec, documents: Documents, diagnostics: Diagnostics): DeclaredOperation[] {
  const reader = new OperationReader(spec, documents, diagnostics);
  const root: Located = { document: spec.document, pointer: '', value: spec.document.value };
  const paths = followedPart(member(root, 'paths'), '"paths"', documents, diagnostics);
  if (!isObject(paths.value)) return [];
  const found = Object.keys(paths.value).flatMap((path) =>
    path.startsWith('x-') ? [] : reader.pathItem(path, member(paths, path)),
  );
  const uses = new Map<string, number>();
  for (const { merged } of found) {
    for (const each of merged.chain) uses.set(placeKey(each), (uses.get(placeKey(each)) ?? 0) + 1);
  }
  return found.map((each) => reader.operation(each, uses));
}

/** An operation under its path, before it is read. */
interface FoundOperation {
  readonly path: string;
  readonly pathAt: Place;
  readonly method: string;
  /** The object with its references followed. */
  readonly merged: MergedObject;
  /** The path item. */
  readonly item: Located;
  /** Parameters of the path item. */
  readonly shared: readonly Located[];
}

function placeKey({ document, pointer }: Located): string {
  return `${document.file}#${pointer}`;
}

class OperationReader {
  readonly #spec: Spec;
  readonly #documents: Documents;
  readonly #diagnostics: Diagnostics;
  readonly #ids = new Map<string, string>();

  constructor(spec: Spec, documents: Documents, diagnostics: Diagnostics) {
    this.#spec = spec;
    this.#documents = documents;
    this.#diagnostics = diagnostics;
  }

  pathItem(path: string, declared: Located): FoundOperation[] {
    if (!path.startsWith('/')) {
      this.#diagnostics.add(
        'E1004',
        placeOf(declared),
        `path "${path}" must begin with "/"`,
        `Write the path as "/${path.slice(0, 60)}".`,
      );
      return [];
    }
    const item = this.#pathItem(declared);
    if (!item) return [];
    warnOfMisspelt(item, PATH_ITEM, this.#diagnostics);
    const shared = this.#parameters(item);
    const methods = METHODS.filter((method) => get(item.value, method) !== undefined).map((method) => ({
      method: method.toUpperCase(),
      at: member(item, method),
    }));
    // OpenAPI 3.2: methods that have no field of their own.
    const more = this.#part(member(item, 'additionalOperations'), '"additionalOperations"');
    for (const method of isObject(more.value) ? Object.keys(more.value) : []) {
      if (/^[A-Za-z][A-Za-z0-9-]*$/.test(method))
        methods.push({ method: method.toUpperCase(), at: member(more, method) });
      else
        this.#diagnostics.add(
          'E1004',
          placeOf(member(more, method)),
          `"${method}" is not a method`,
          'Name methods with letters, digits and "-", such as QUERY.',
        );
    }
    const pathAt = { file: this.#spec.document.file, pointer: child('/paths', path) };
    return methods.flatMap(({ method, at }): FoundOperation[] => {
      const merged = followMerged(at, 'an operation', this.#documents, this.#diagnostics);
      return merged ? [{ path, pathAt, method, merged, item, shared }] : [];
    });
  }

  /** Reads a path item with the members beside its `$ref`: they may be in either place. */
  #pathItem(declared: Located): Located | null {
    const merged = followMerged(declared, 'a path item', this.#documents, this.#diagnostics);
    for (const name of merged?.replaced ?? []) {
      this.#diagnostics.add(
        'E1007',
        placeOf(member(declared, '$ref')),
        `"${name}" stands beside this $ref and in its target: the one beside it counts`,
      );
    }
    return merged?.at ?? null;
  }

  /** `uses`: how many operations of the document a place stands for. */
  operation({ path, pathAt, method, merged, item, shared }: FoundOperation, uses: ReadonlyMap<string, number>) {
    const at = this.#withOwnId(merged, uses);
    warnOfMisspelt(at, OPERATION, this.#diagnostics);
    const own = this.#parameters(at);
    const names = new Set(own.map(identity));
    const requestBody =
      get(at.value, 'requestBody') === undefined ? null : this.#object(member(at, 'requestBody'), 'a request body');
    if (requestBody) warnOfMisspelt(requestBody, REQUEST_BODY, this.#diagnostics);
    const operationId = this.#operationId(at);
    const around = [{ document: this.#spec.document, pointer: '', value: this.#spec.document.value }, item, at];
    return {
      spec: this.#spec,
      at,
      layers: { dispatch: around, middlewares: around },
      path,
      pathAt,
      method,
      parameters: [...shared.filter((each) => !names.has(identity(each))), ...own],
      security: this.#security(at),
      ...(operationId === undefined ? {} : { operationId }),
      ...(requestBody ? { requestBody } : {}),
    };
  }

  /** Removes the `operationId` of a reference's target that is used more than once; reports the reference. */
  #withOwnId({ at, chain: [declared, ...targets] }: MergedObject, uses: ReadonlyMap<string, number>): Located {
    if (targets.length === 0) return at;
    const id = get(at.value, 'operationId');
    const owner = targets.find(({ value }) => get(value, 'operationId') !== undefined);
    const isDropped =
      owner !== undefined && get(declared.value, 'operationId') === undefined && (uses.get(placeKey(owner)) ?? 0) > 1;
    const dropped = isDropped ? `; its operationId "${String(id)}" is left out, since others use the target, too` : '';
    this.#diagnostics.add(
      'E1007',
      placeOf(member(declared, '$ref')),
      `an operation cannot be a $ref: its target is read, with what stands beside it${dropped}`,
    );
    if (!isDropped || !isObject(at.value)) return at;
    const { operationId: _, ...value } = at.value;
    const origins = new Map([...(at.origins ?? [])].filter(([name]) => name !== 'operationId'));
    return { ...at, value, origins };
  }

  #operationId(at: Located): string | undefined {
    const id = member(at, 'operationId');
    if (id.value === undefined) return undefined;
    if (typeof id.value !== 'string') {
      this.#diagnostics.add(
        'E1004',
        placeOf(id),
        `"operationId" is ${kindOf(id.value)}: it must be a string`,
        'Write a name such as operationId: listBooks.',
      );
      return undefined;
    }
    const other = this.#ids.get(id.value);
    if (other === undefined) this.#ids.set(id.value, at.pointer);
    else
      this.#diagnostics.add(
        'E1004',
        placeOf(id),
        `operationId "${id.value}" is also used at ${other}`,
        'Give each operation an operationId of its own, or remove one of the two.',
      );
    return id.value;
  }

  #object(declared: Located, what: string): Located | null {
    return followObject(declared, what, this.#documents, this.#diagnostics);
  }

  #part(declared: Located, what: string): Located {
    return followedPart(declared, what, this.#documents, this.#diagnostics);
  }

  #parameters(owner: Located): Located[] {
    const list = this.#part(member(owner, 'parameters'), '"parameters"');
    if (list.value === undefined) return [];
    if (!Array.isArray(list.value)) {
      this.#diagnostics.add(
        'E1004',
        placeOf(list),
        `"parameters" is ${kindOf(list.value)}: it must be a list`,
        'Write parameters: [{ name: id, in: path, required: true, schema: { type: string } }].',
      );
      return [];
    }
    const seen = new Set<string>();
    return list.value.flatMap((_, i) => {
      const parameter = this.#object(member(list, i), 'a parameter');
      if (!parameter) return [];
      warnOfMisspelt(parameter, PARAMETER, this.#diagnostics);
      const [name, part] = [get(parameter.value, 'name'), get(parameter.value, 'in')];
      if (typeof name !== 'string' || name === '' || typeof part !== 'string') {
        this.#diagnostics.add(
          'E1004',
          placeOf(parameter),
          'a parameter needs "name" and "in"',
          'Write { name: limit, in: query, schema: { type: integer } }; "in" is path, query, header or cookie.',
        );
        return [];
      }
      if (seen.has(identity(parameter))) {
        this.#diagnostics.add(
          'E1004',
          placeOf(member(list, i)),
          `parameter "${name}" in ${part} is declared twice`,
          'Remove or rename one of the two.',
        );
        return [];
      }
      seen.add(identity(parameter));
      return [parameter];
    });
  }

  #security(at: Located): Located[] {
    const own = this.#part(member(at, 'security'), '"security"');
    const root: Located = { document: this.#spec.document, pointer: '', value: this.#spec.document.value };
    const security = own.value === undefined ? this.#part(member(root, 'security'), '"security"') : own;
    if (security.value === undefined) return [];
    if (!Array.isArray(security.value) || !security.value.every(isObject)) {
      this.#diagnostics.add(
        'E1004',
        placeOf(security),
        `"security" is ${Array.isArray(security.value) ? 'a list with other things than objects' : kindOf(security.value)}: it must be a list of objects`,
        'Write security: [{ apiKey: [] }], with the name of a scheme of components.securitySchemes.',
      );
      return [];
    }
    return security.value.map((_, i) => member(security, i));
  }
}

function identity({ value }: Located): string {
  const [name, part] = [get(value, 'name'), get(value, 'in')];
  return `${String(part)}\0${part === 'header' ? String(name).toLowerCase() : String(name)}`;
}
