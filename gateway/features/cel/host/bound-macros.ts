/**
 * Macros as they run here: each turn is metered, and lists that `map` and `filter` build grow in place. The library
 * would join a list of one element to them each time, which is quadratic and overflows the stack.
 */
import { APPEND, RANGE, TICK } from './functions.ts';
import type { Expr } from './syntax.ts';

type Kind = Expr['exprKind'];
type Fold = Extract<Kind, { case: 'comprehensionExpr' }>['value'];

/** The expression with its macros, and all in them, bound. */
export function boundMacros(expr: Expr): Expr {
  return { ...expr, exprKind: boundKind(expr.exprKind) };
}

function bound(expr: Expr | undefined): Expr | undefined {
  return expr && boundMacros(expr);
}

function boundKind(kind: Kind): Kind {
  switch (kind.case) {
    case 'selectExpr':
      return { case: kind.case, value: withOperand(kind.value) };
    case 'callExpr': {
      const { target, ...call } = kind.value;
      const args = call.args.map(boundMacros);
      return { case: kind.case, value: target ? { ...call, args, target: boundMacros(target) } : { ...call, args } };
    }
    case 'listExpr':
      return { case: kind.case, value: { ...kind.value, elements: kind.value.elements.map(boundMacros) } };
    case 'structExpr':
      return {
        case: kind.case,
        value: { ...kind.value, entries: kind.value.entries.map((entry) => boundEntry(entry)) },
      };
    case 'comprehensionExpr':
      return { case: kind.case, value: boundFold(kind.value) };
    default:
      return kind;
  }
}

type Select = Extract<Kind, { case: 'selectExpr' }>['value'];
function withOperand(select: Select): Select {
  return select.operand ? { ...select, operand: boundMacros(select.operand) } : select;
}

type Entry = Extract<Kind, { case: 'structExpr' }>['value']['entries'][number];
function boundEntry(entry: Entry): Entry {
  const { keyKind, value, ...rest } = entry;
  const key: Entry['keyKind'] =
    keyKind.case === 'mapKey' ? { case: 'mapKey', value: boundMacros(keyKind.value) } : keyKind;
  return value ? { ...rest, keyKind: key, value: boundMacros(value) } : { ...rest, keyKind: key };
}

function boundFold(fold: Fold): Fold {
  const { iterRange, accuInit, loopCondition, loopStep, result, ...rest } = fold;
  const parts = {
    iterRange: iterRange && calling(iterRange, RANGE, [boundMacros(iterRange)]),
    accuInit: bound(accuInit),
    loopCondition: loopCondition && calling(loopCondition, TICK, [boundMacros(loopCondition)]),
    loopStep: loopStep && appending(boundMacros(loopStep), fold.accuVar),
    result: bound(result),
  };
  return { ...rest, ...definedOnly(parts) };
}

function definedOnly(parts: Readonly<Record<string, Expr | undefined>>): Record<string, Expr> {
  return Object.fromEntries(Object.entries(parts).flatMap(([name, expr]) => (expr ? [[name, expr]] : [])));
}

/** `accumulator + [x]`, also as a branch of a condition, becomes a call that appends. */
function appending(step: Expr, accumulator: string): Expr {
  const { exprKind: kind } = step;
  if (kind.case !== 'callExpr') return step;
  const [first, second, third] = kind.value.args;
  if (kind.value.function === '_?_:_' && first && second && third) {
    const args = [first, appending(second, accumulator), third];
    return { ...step, exprKind: { case: 'callExpr', value: { ...kind.value, args } } };
  }
  const isAccumulator = first?.exprKind.case === 'identExpr' && first.exprKind.value.name === accumulator;
  if (kind.value.function !== '_+_' || !isAccumulator || second?.exprKind.case !== 'listExpr') return step;
  const [item] = second.exprKind.value.elements;
  return item && first ? calling(step, APPEND, [first, item]) : step;
}

function calling(at: Expr, name: string, args: Expr[]): Expr {
  return { ...at, exprKind: { case: 'callExpr', value: { $typeName: 'cel.expr.Expr.Call', function: name, args } } };
}
