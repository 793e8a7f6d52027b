/**
 * A digest of each schema of an artifact with all schemas that it refers to. In linear time: a tenant's document may
 * refer from every schema to every other. Schemas that refer to each other share a digest (Tarjan's components).
 */
import { createHash } from 'node:crypto';
import type { RoutesFile } from '@gw/gateway/artifact';
import { isRecord } from '../../../kube/kube-object.ts';

interface Node {
  readonly id: string;
  readonly text: string;
  readonly refs: readonly string[];
  index: number;
  low: number;
  onStack: boolean;
  /** The next index of `refs` to visit. */
  next: number;
}

export function schemaDigests(schemas: RoutesFile['schemas']): ReadonlyMap<string, string> {
  const nodes = new Map(Object.entries(schemas).map(([id, schema]) => [id, nodeOf(id, schema)]));
  const digests = new Map<string, string>();
  const stack: Node[] = [];
  let count = 0;
  const enter = (node: Node, path: Node[]) => {
    node.index = node.low = count++;
    node.onStack = true;
    stack.push(node);
    path.push(node);
  };
  for (const root of nodes.values()) {
    if (root.index !== -1) continue;
    const path: Node[] = [];
    enter(root, path);
    for (let node = path.at(-1); node !== undefined; node = path.at(-1)) {
      const target = nodes.get(node.refs[node.next++] ?? '');
      if (node.next <= node.refs.length) {
        if (target?.index === -1) enter(target, path);
        else if (target?.onStack) node.low = Math.min(node.low, target.index);
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent) parent.low = Math.min(parent.low, node.low);
      if (node.low === node.index) close(node, stack, digests);
    }
  }
  return digests;
}

/**
 * Closes a cycle: all nodes on the stack from `root` on refer to each other; their other references are closed already.
 */
function close(root: Node, stack: Node[], digests: Map<string, string>): void {
  const members = stack.splice(stack.lastIndexOf(root));
  const outside = new Set(members.flatMap(({ refs }) => refs.map((ref) => digests.get(ref) ?? '')));
  const texts = members.map(({ id, text }) => `${id} ${text}`).sort();
  const digest = createHash('sha256')
    .update(JSON.stringify([texts, [...outside].sort()]))
    .digest('hex');
  for (const member of members) {
    member.onStack = false;
    digests.set(member.id, digest);
  }
}

function nodeOf(id: string, schema: unknown): Node {
  const refs = new Set<string>();
  const text = JSON.stringify(schema, (_key, value: unknown) => {
    const ref = isRecord(value) ? value['$ref'] : undefined;
    if (typeof ref === 'string' && ref.startsWith('gw:')) refs.add(ref.slice(3));
    return value;
  });
  return { id, text, refs: [...refs], index: -1, low: -1, onStack: false, next: 0 };
}
