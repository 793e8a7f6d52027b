/** Names of tools: of characters and lengths that every model takes, and each once over all documents. */
import { hash } from 'node:crypto';

/** Characters. */
const LONGEST = 64;
const DIGEST = 8;

/** Parts of a tool's name. */
export interface Named {
  readonly prefix: string;
  /** `operationId`, or the name in the settings; undefined without either. */
  readonly id: string | undefined;
  readonly method: string;
  readonly path: string;
  /** Slug of the document's title. */
  readonly api: string;
  /** The document gives the name itself: it is taken as it stands. */
  readonly fixed: boolean;
}

/** Names in the given order, which does not affect them. `renamed`: those with a name that another one has, too. */
export function toolNames(all: readonly Named[]): {
  readonly names: readonly string[];
  readonly renamed: readonly number[];
} {
  const wanted = all.map(nameOf);
  const fixed = new Set(all.flatMap((each, i) => (each.fixed ? [wanted[i] as string] : [])));
  const count = Map.groupBy(wanted, (name) => name);
  const renamed = all.flatMap((each, i) => {
    const name = wanted[i] as string;
    return !each.fixed && ((count.get(name)?.length ?? 0) > 1 || fixed.has(name)) ? [i] : [];
  });
  const names = [...wanted];
  for (const i of renamed) {
    const { method, path, api } = all[i] as Named;
    names[i] = shortened(`${wanted[i]}_${digestOf(`${api} ${method} ${path}`)}`);
  }
  return { names, renamed };
}

function nameOf({ prefix, id, method, path, fixed }: Named): string {
  if (fixed && id !== undefined) return id;
  const words = id === undefined ? `${method.toLowerCase()}${path}` : id;
  const plain = words.replaceAll(/[^A-Za-z0-9_-]+/g, '_').replaceAll(/^_+|_+$/g, '');
  return shortened(prefix + (plain === '' ? `${method.toLowerCase()}_${digestOf(path)}` : plain));
}

/** Shortens long names: they keep their beginning, and end with a digest of the whole. */
function shortened(name: string): string {
  return name.length <= LONGEST ? name : `${name.slice(0, LONGEST - DIGEST - 1)}_${digestOf(name)}`;
}

function digestOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, DIGEST);
}
