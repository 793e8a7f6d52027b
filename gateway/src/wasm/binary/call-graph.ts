/**
 * Finds functions that have to look at the clock again after each call that they make. The cost of a function is
 * charged when it begins, so the code after a call is paid for long before it runs: a recursion could pay for much, and
 * then run it all on its way back without a look at the clock. If functions call each other in a circle, or chains of
 * calls add up, each pays after its calls for the code that follows.
 */
import type { FunctionFacts } from './function-facts.ts';

/** Units that calls in progress may have paid for and not run. */
const MOST_PENDING = 100_000;

/**
 * Returns for each function 1 if it is one of those. `referred` are the module's own functions that a call through a
 * table may reach.
 */
export function functionsToGuard(functions: readonly FunctionFacts[], referred: Iterable<number>): Uint8Array {
  const count = functions.length;
  /** Stands for every call through a table. */
  const table = count;
  const targets = [...new Set(referred)];
  const calleesOf = (at: number): readonly number[] => (at === table ? targets : (functions[at]?.calls ?? []));
  const edges = Array.from({ length: count + 1 }, (_, at) =>
    functions[at]?.callsIndirectly ? [...calleesOf(at), table] : calleesOf(at),
  );

  const guarded = new Uint8Array(count + 1);
  const pending = new Float64Array(count + 1);
  for (const circle of circles(edges).reverse()) {
    const isCircle = circle.length > 1 || edges[circle[0] ?? 0]?.includes(circle[0] ?? 0);
    const before = circle.reduce((most, at) => Math.max(most, pending[at] ?? 0), 0);
    for (const at of circle) {
      const own = at === table ? 0 : wholeCost(functions, at);
      const guard = isCircle || functions[at]?.callsIndirectly || before + own > MOST_PENDING;
      if (guard) guarded[at] = 1;
      const after = before + (guard ? 0 : own);
      for (const callee of edges[at] ?? []) pending[callee] = Math.max(pending[callee] ?? 0, after);
    }
  }
  return guarded;
}

/** Returns the cost with that of the functions that it pays for. */
function wholeCost(functions: readonly FunctionFacts[], at: number): number {
  const { cost, calls } = functions[at] ?? { cost: 0, calls: [] };
  return calls.reduce((sum, callee) => sum + Math.max(0, functions[callee]?.paidByCaller ?? 0), cost);
}

/** Strongly connected components (Tarjan), those that are called before those that call them. Without recursion of its own. */
function circles(edges: readonly (readonly number[])[]): number[][] {
  const found: number[][] = [];
  const order = new Int32Array(edges.length).fill(-1);
  const lowest = new Int32Array(edges.length);
  const onStack = new Uint8Array(edges.length);
  const stack: number[] = [];
  const path: { readonly at: number; next: number }[] = [];
  let entered = 0;
  const enter = (at: number) => {
    order[at] = lowest[at] = entered++;
    stack.push(at);
    onStack[at] = 1;
    path.push({ at, next: 0 });
  };
  const lower = (at: number, to: number | undefined) => {
    lowest[at] = Math.min(lowest[at] ?? 0, to ?? 0);
  };
  for (let root = 0; root < edges.length; root++) {
    if (order[root] !== -1) continue;
    enter(root);
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const { at } = step;
      const callee = edges[at]?.[step.next++];
      if (callee !== undefined) {
        if (order[callee] === -1) enter(callee);
        else if (onStack[callee] === 1) lower(at, order[callee]);
        continue;
      }
      path.pop();
      const caller = path.at(-1);
      if (caller) lower(caller.at, lowest[at]);
      if (lowest[at] !== order[at]) continue;
      const circle: number[] = [];
      for (let member = -1; member !== at; ) {
        member = stack.pop() ?? at;
        onStack[member] = 0;
        circle.push(member);
      }
      found.push(circle);
    }
  }
  return found;
}
