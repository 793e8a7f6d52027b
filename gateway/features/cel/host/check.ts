/** Type check of an expression against `request`: refuses, at load, expressions that cannot succeed for any request. */
import { type CelEnv, type CelFunc, CelScalar, type CelType, listType, mapType } from '@bufbuild/cel';
import { isRequestPart, REQUEST, REQUEST_PARTS, type RequestPart } from './request-types.ts';
import { type Expr, fail, qualifiedName } from './syntax.ts';

const { BOOL, BYTES, DOUBLE, DYN, INT, NULL, STRING, TYPE, UINT } = CelScalar;
const TYPE_NAMES = ['bool', 'bytes', 'double', 'dyn', 'int', 'list', 'map', 'null_type', 'string', 'type', 'uint'];
const WELL_KNOWN = /^google\.protobuf\.[A-Z]\w*$/;

type Scope = ReadonlyMap<string, CelType>;

/** The parts of a request that an expression reads. */
export interface Reads {
  readonly parts: ReadonlySet<RequestPart>;
  /** Names of headers, in lower case. */
  readonly headers: ReadonlySet<string>;
}

export interface Checked extends Reads {
  readonly type: CelType;
}

/** Throws ExpressionError at the first place that cannot be right. */
export function check(expr: Expr, env: CelEnv): Checked {
  const checker = new Checker(env);
  const type = checker.typeOf(expr, new Map());
  return { type, parts: checker.parts, headers: checker.headers };
}

class Checker {
  readonly parts = new Set<RequestPart>();
  readonly headers = new Set<string>();
  readonly #env: CelEnv;

  constructor(env: CelEnv) {
    this.#env = env;
  }

  typeOf(expr: Expr, scope: Scope): CelType {
    const { exprKind: kind, id } = expr;
    switch (kind.case) {
      case 'constExpr':
        return CONSTANTS[kind.value.constantKind.case ?? ''] ?? DYN;
      case 'identExpr':
        return this.#name(id, kind.value.name, scope);
      case 'selectExpr': {
        const { operand, field, testOnly } = kind.value;
        const type = this.#select(expr, operand, field, scope);
        return testOnly ? BOOL : type;
      }
      case 'callExpr':
        return this.#call(expr, kind.value.function, kind.value.target, kind.value.args, scope);
      case 'listExpr':
        return listType(common(kind.value.elements.map((each) => this.typeOf(each, scope))));
      case 'structExpr':
        return this.#struct(id, kind.value.messageName, kind.value.entries, scope);
      case 'comprehensionExpr':
        return this.#comprehension(id, kind.value, scope);
      default:
        return fail(id, 'this is not an expression');
    }
  }

  #name(id: bigint, name: string, scope: Scope): CelType {
    const local = scope.get(name);
    if (local !== undefined) return local;
    if (TYPE_NAMES.includes(name)) return TYPE;
    if (name === REQUEST) return fail(id, `name a part of the request: ${partNames()}`);
    return fail(id, `there is no variable ${name}: there are ${partNames()}`);
  }

  #select(expr: Expr, operand: Expr | undefined, field: string, scope: Scope): CelType {
    if (operand === undefined) return fail(expr.id, 'this is not an expression');
    if (isRequest(operand, scope)) {
      if (!isRequestPart(field)) return fail(expr.id, `a request has no ${field}: there are ${partNames()}`);
      this.parts.add(field);
      return REQUEST_PARTS[field];
    }
    if (WELL_KNOWN.test(qualifiedName(expr) ?? '')) return TYPE;
    this.#header(operand, field);
    const type = this.typeOf(operand, scope);
    if (type.kind === 'map') return type.value;
    return type === DYN || type.kind === 'object'
      ? DYN
      : fail(expr.id, `a value of type ${type} has no field ${field}`);
  }

  /** Remembers the header if `operand` is `request.headers`. */
  #header(operand: Expr, name: string): void {
    const { exprKind: kind } = operand;
    if (kind.case !== 'selectExpr' || kind.value.field !== 'headers') return;
    if (kind.value.operand !== undefined && qualifiedName(kind.value.operand) === REQUEST) {
      this.headers.add(name.toLowerCase());
    }
  }

  #call(expr: Expr, name: string, target: Expr | undefined, args: readonly Expr[], scope: Scope): CelType {
    const [first, second] = args;
    if (name === '_[_]' && first && second) return this.#index(expr, first, second, scope);
    if (name === '@in' && first && second) {
      const header = textOf(first);
      if (header !== undefined) this.#header(second, header);
    }
    const qualified = target && qualifiedName(target);
    if (qualified !== undefined && !scope.has(qualified) && this.#env.funcs.find(`${qualified}.${name}`)) {
      return this.#overload(
        expr.id,
        `${qualified}.${name}`,
        undefined,
        args.map((each) => this.typeOf(each, scope)),
      );
    }
    const on = target && this.typeOf(target, scope);
    const types = args.map((each) => this.typeOf(each, scope));
    const logic = this.#logic(expr.id, name, args, types);
    return logic ?? this.#overload(expr.id, name, on, types);
  }

  #index(expr: Expr, of: Expr, by: Expr, scope: Scope): CelType {
    const text = textOf(by);
    if (text !== undefined && isRequest(of, scope)) return this.#select(expr, of, text, scope);
    if (text !== undefined) this.#header(of, text);
    const type = this.typeOf(of, scope);
    const key = this.typeOf(by, scope);
    if (type === DYN) return DYN;
    if (type.kind === 'map' && fits(key, type.key)) return type.value;
    if (type.kind === 'list' && (key === DYN || isNumber(key))) return type.element;
    return fail(by.id, `a value of type ${type} has no elements by ${key}`);
  }

  /** Operators that take whatever type, or evaluate only some of their operands. */
  #logic(id: bigint, name: string, args: readonly Expr[], types: readonly CelType[]): CelType | undefined {
    const [first = DYN, second = DYN, third = DYN] = types;
    const bool = (at: number) => {
      const type = types[at] ?? DYN;
      if (!fits(type, BOOL)) fail(args[at]?.id ?? id, `a condition is a bool, and this is a value of type ${type}`);
    };
    switch (name) {
      case '_&&_':
      case '_||_':
      case '!_':
      case '@not_strictly_false':
        for (const at of types.keys()) bool(at);
        return BOOL;
      case '_?_:_':
        bool(0);
        return common([second, third]);
      case '_==_':
      case '_!=_':
        if (!comparable(first, second)) fail(id, `values of type ${first} and ${second} are never equal`);
        return BOOL;
      default:
        return undefined;
    }
  }

  #overload(id: bigint, name: string, target: CelType | undefined, args: readonly CelType[]): CelType {
    const group = this.#env.funcs.find(name);
    if (group === undefined) return fail(id, `there is no function ${name}`);
    const fitting = [...group].filter((each) => takes(each, target, args));
    if (fitting.length > 0) return common(fitting.map(({ result }) => result));
    const on = target === undefined ? '' : `on a value of type ${target}, `;
    return fail(id, `${spelt(name)} does not accept, ${on}(${args.join(', ')})`);
  }

  #struct(id: bigint, message: string, entries: readonly StructEntry[], scope: Scope): CelType {
    const values = common(entries.map(({ value }) => (value ? this.typeOf(value, scope) : DYN)));
    if (message !== '') return WELL_KNOWN.test(message) ? DYN : fail(id, `there is no message ${message}`);
    const keys = entries.map(({ keyKind }) => (keyKind.case === 'mapKey' ? this.typeOf(keyKind.value, scope) : DYN));
    const key = common(keys);
    if (key === STRING || key === INT || key === UINT || key === BOOL) return mapType(key, values);
    if (keys.some((each) => each === DOUBLE || each.kind !== 'scalar'))
      fail(id, 'keys are of type string, int, uint or bool');
    return mapType(DYN, values);
  }

  #comprehension(id: bigint, fold: Fold, scope: Scope): CelType {
    const { iterRange, iterVar, accuVar, accuInit, loopCondition, loopStep, result } = fold;
    if (!iterRange || !accuInit || !loopCondition || !loopStep || !result) return fail(id, 'this is not an expression');
    const range = this.typeOf(iterRange, scope);
    const item = range.kind === 'list' ? range.element : range.kind === 'map' ? range.key : DYN;
    if (item === DYN && range !== DYN && range.kind !== 'list' && range.kind !== 'map') {
      fail(iterRange.id, `a macro goes through a list or map, and this is a value of type ${range}`);
    }
    const start = this.typeOf(accuInit, scope);
    const inner = new Map(scope).set(iterVar, item).set(accuVar, start);
    this.typeOf(loopCondition, inner);
    const step = this.typeOf(loopStep, inner);
    return this.typeOf(result, new Map(scope).set(accuVar, start.kind === 'list' ? step : start));
  }
}

type Fold = Extract<Expr['exprKind'], { case: 'comprehensionExpr' }>['value'];
type StructEntry = Extract<Expr['exprKind'], { case: 'structExpr' }>['value']['entries'][number];

const CONSTANTS: Readonly<Record<string, CelType>> = {
  boolValue: BOOL, bytesValue: BYTES, doubleValue: DOUBLE, int64Value: INT, nullValue: NULL, stringValue: STRING, uint64Value: UINT,
}; // biome-ignore format: a table

function partNames(): string {
  return Object.keys(REQUEST_PARTS)
    .map((part) => `${REQUEST}.${part}`)
    .join(', ');
}

function isRequest({ exprKind: kind }: Expr, scope: Scope): boolean {
  return kind.case === 'identExpr' && kind.value.name === REQUEST && !scope.has(REQUEST);
}

function textOf({ exprKind: kind }: Expr): string | undefined {
  if (kind.case !== 'constExpr' || kind.value.constantKind.case !== 'stringValue') return undefined;
  return kind.value.constantKind.value;
}

function isNumber(type: CelType): boolean {
  return type === INT || type === UINT || type === DOUBLE;
}

/** Reports whether a value of one type may be one of the other. */
function fits(type: CelType, wanted: CelType): boolean {
  if (type === DYN || wanted === DYN) return true;
  if (type.kind === 'list' && wanted.kind === 'list') return fits(type.element, wanted.element);
  if (type.kind === 'map' && wanted.kind === 'map') return fits(type.key, wanted.key) && fits(type.value, wanted.value);
  return type.kind === wanted.kind && type.name === wanted.name;
}

function comparable(one: CelType, other: CelType): boolean {
  return fits(one, other) || (isNumber(one) && isNumber(other));
}

function takes(func: CelFunc, target: CelType | undefined, args: readonly CelType[]): boolean {
  if ((func.target === undefined) !== (target === undefined) || func.arguments.length !== args.length) return false;
  if (func.target !== undefined && target !== undefined && !fits(target, func.target)) return false;
  return func.arguments.every((wanted, i) => fits(args[i] ?? DYN, wanted));
}

/** Returns the type that a value of any of these types has. */
function common(types: readonly CelType[]): CelType {
  const [first, ...rest] = types;
  return first !== undefined && rest.every((each) => fits(each, first) && fits(first, each)) ? first : DYN;
}

/** Operators as they are written. */
function spelt(name: string): string {
  return name.replace(/^@/, '').replaceAll('_', ' ').trim();
}
