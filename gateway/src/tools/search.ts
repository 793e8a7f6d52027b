/** Finds tools by what a model wants of them in plain words: BM25 over names, texts and paths (docs/mcp.md#search). */
import type { Operation } from '../artifact/format.ts';
import type { Tool } from '../artifact/tools.ts';
import type { JsonObject } from '../spec/json.ts';

/** How often a term counts that stands there once. */
const WEIGHTS = { name: 3, title: 3, path: 2, group: 1, description: 1, arguments: 0.5, method: 1 } as const;
/** Characters of a description that say what a tool is for; what follows are details. */
const DESCRIPTION = 400;
/** Saturation of repeated terms, and how much long texts count less (BM25's k1 and b). */
const [K1, B] = [1.2, 0.6];
/** What a query's own words say more surely than what they may mean as well. */
const SYNONYM = 0.4;

const STOP = new Set(
  'a an and are as at be by can do does for from how i in is it me my of on or our the this to we what which who with'.split(
    ' ',
  ),
);
const VERBS: Readonly<Record<string, string>> = {
  GET: 'get list',
  QUERY: 'get list',
  POST: 'create',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'delete',
};
/** By stem. */
const SYNONYMS = new Map(
  Object.entries({
    show: 'get list',
    see: 'get list',
    view: 'get list',
    find: 'get list search',
    fetch: 'get list',
    read: 'get list',
    look: 'get list',
    download: 'get',
    remove: 'delete',
    destroy: 'delete',
    drop: 'delete',
    add: 'create',
    new: 'create',
    make: 'create',
    open: 'create',
    start: 'create',
    register: 'create',
    change: 'update',
    edit: 'update',
    modify: 'update',
    rename: 'update',
    set: 'update',
    send: 'post create',
    repository: 'repo',
  }).map(([word, others]): [string, readonly string[]] => [stem(word), terms(others)]),
);

/** What a tool is found by. */
export interface IndexedTool {
  readonly name: string;
  /** `operationId`. */
  readonly id?: string;
  readonly title?: string;
  readonly description?: string;
  readonly group?: string;
  readonly method?: string;
  readonly path?: string;
  readonly input: JsonObject;
}

export function indexedTool(tool: Tool, { method, path, operation_id: id }: Operation): IndexedTool {
  return { ...tool, method, path, ...(id === undefined ? {} : { id }) };
}

export class ToolIndex {
  readonly #names: readonly string[];
  /** By term: places of tools, each followed by its weight there. */
  readonly #postings = new Map<string, number[]>();
  readonly #lengths: readonly number[];
  readonly #average: number;

  constructor(tools: readonly IndexedTool[]) {
    this.#names = tools.map(({ name }) => name);
    this.#lengths = tools.map((tool, i) => this.#add(i, weightsOf(tool)));
    this.#average = this.#lengths.reduce((sum, each) => sum + each, 0) / Math.max(1, tools.length);
  }

  #add(place: number, weights: ReadonlyMap<string, number>): number {
    let length = 0;
    for (const [term, weight] of weights) {
      const found = this.#postings.get(term);
      if (found) found.push(place, weight);
      else this.#postings.set(term, [place, weight]);
      length += weight;
    }
    return length;
  }

  /** Names of the tools that fit best, the best first, of those that the caller is told of. */
  search(query: string, most: number, tells: (name: string) => boolean = () => true): readonly string[] {
    const scores = new Map<number, number>();
    for (const [term, importance] of wanted(query)) this.#score(term, importance, scores);
    return [...scores]
      .sort(([a, x], [b, y]) => y - x || a - b)
      .map(([place]) => this.#names[place] as string)
      .filter(tells)
      .slice(0, most);
  }

  #score(term: string, importance: number, scores: Map<number, number>): void {
    const postings = this.#postings.get(term) ?? [];
    const found = postings.length / 2;
    const rarity = Math.log(1 + (this.#names.length - found + 0.5) / (found + 0.5));
    for (let i = 0; i < postings.length; i += 2) {
      const [place, weight] = [postings[i] as number, postings[i + 1] as number];
      const norm = 1 - B + (B * (this.#lengths[place] as number)) / this.#average;
      const gain = (importance * rarity * weight * (K1 + 1)) / (weight + K1 * norm);
      scores.set(place, (scores.get(place) ?? 0) + gain);
    }
  }
}

function weightsOf(tool: IndexedTool): ReadonlyMap<string, number> {
  const { name, id, title = '', description = '', group = '', method = '', path = '', input } = tool;
  const given = Object.keys((input['properties'] ?? {}) as object).join(' ');
  const texts: readonly (readonly [string, number])[] = [
    [id ?? name, WEIGHTS.name],
    [title, WEIGHTS.title],
    [path, WEIGHTS.path],
    [group, WEIGHTS.group],
    [description.slice(0, DESCRIPTION), WEIGHTS.description],
    [given, WEIGHTS.arguments],
    [VERBS[method] ?? '', WEIGHTS.method],
  ];
  const weights = new Map<string, number>();
  for (const [text, weight] of texts) {
    // Once each: what a path or an id repeats makes it no more about that.
    for (const term of new Set(terms(text))) weights.set(term, (weights.get(term) ?? 0) + weight);
  }
  return weights;
}

function wanted(query: string): ReadonlyMap<string, number> {
  const own = new Set(terms(query));
  const others = [...own].flatMap((term) => SYNONYMS.get(term) ?? []);
  return new Map([
    ...others.map((term): [string, number] => [term, SYNONYM]),
    ...[...own].map((term): [string, number] => [term, 1]),
  ]);
}

/** Words in small letters, without what words are inflected by; names such as `listBooks` are two. */
function terms(text: string): readonly string[] {
  const words = text.replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2').toLowerCase();
  return (words.match(/[\p{L}\d]+/gu) ?? []).filter((word) => !STOP.has(word)).map(stem);
}

function stem(word: string): string {
  const singular =
    word.length > 4 && word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.replace(/(?<=..[^s])s$/, '');
  return singular.replace(/(?<=.{3})(ing|ed)$/, '').replace(/(?<=.{3})e$/, '');
}
