/**
 * Finds tools by a model's question in plain words (docs/mcp.md#search): BM25F over names, titles, paths, groups,
 * descriptions and arguments; then by the share of a tool's name that the question asks for, and by its action.
 */
import type { Operation } from '../artifact/format.ts';
import type { Tool } from '../artifact/tools.ts';
import type { JsonObject } from '../spec/json.ts';
import { ALSO, DEED_OF, type Deed, deedOf, wordsOf } from './meanings.ts';
import { questionTerms, terms } from './words.ts';

/** Weights by field: of a term that occurs there once, and the discount of long fields (BM25F's b). */
const FIELDS = {
  name: { weight: 3, b: 0.5 },
  title: { weight: 4, b: 0.6 },
  path: { weight: 2, b: 0.4 },
  group: { weight: 1, b: 0 },
  description: { weight: 1, b: 0.5 },
  details: { weight: 0.3, b: 0.7 },
  arguments: { weight: 0.4, b: 0.7 },
} as const;
type Field = keyof typeof FIELDS;
const FIELD_NAMES = Object.keys(FIELDS) as Field[];
/** Characters of a description that state a tool's purpose, and up to which details follow. */
const [DESCRIPTION, DETAILS] = [400, 2_000];
/** Saturation of repeated terms (BM25's k1). */
const K1 = 1.2;
/** Weights of synonyms and beginnings of words: less than those of a question's own words. */
const ALSO_MEANT = 0.6;
const DEED_MEANT = 0.5;
const BEGUN = 0.3;
const LEAST_BEGUN = 4;
const MOST_BEGUN = 8;
/**
 * Least share of the score, for a tool whose name the question does not ask for; factor for a tool with another action.
 */
const UNSPECIFIC = 0.3;
const OTHER_DEED = 0.55;

/** The searched texts of a tool. */
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

interface Entry {
  readonly name: string;
  /** Terms of its name, title and path, with the rarity of each. */
  readonly called: readonly (readonly [term: string, rarity: number])[];
  /** How rare those are together. */
  readonly rarity: number;
  readonly deeds: ReadonlySet<Deed>;
}

export class ToolIndex {
  readonly #count: number;
  readonly #entries: readonly Entry[];
  /** Places of tools by term, each followed by its weight there. */
  readonly #postings = new Map<string, number[]>();
  /** All terms, in order. */
  readonly #vocabulary: readonly string[];

  constructor(tools: readonly IndexedTool[]) {
    const fields = tools.map(fieldsOf);
    const average = (field: Field) =>
      Math.max(1, fields.reduce((sum, each) => sum + each[field].length, 0) / Math.max(1, tools.length));
    const averages = Object.fromEntries(FIELD_NAMES.map((field) => [field, average(field)])) as Record<Field, number>;
    for (const [place, each] of fields.entries()) this.#add(place, each, averages);
    this.#count = tools.length;
    this.#entries = tools.map((tool, i) => entryOf(tool, fields[i] as Fields, (term) => this.#rarity(term)));
    this.#vocabulary = [...this.#postings.keys()].sort();
  }

  #add(place: number, fields: Fields, averages: Readonly<Record<Field, number>>): void {
    const weights = new Map<string, number>();
    for (const field of FIELD_NAMES) {
      const { weight, b } = FIELDS[field];
      const norm = 1 - b + (b * fields[field].length) / averages[field];
      // Once each: a repetition in a path or an id does not make it more relevant.
      for (const term of fields[field]) weights.set(term, (weights.get(term) ?? 0) + weight / norm);
    }
    for (const [term, weight] of weights) {
      const found = this.#postings.get(term);
      if (found) found.push(place, weight);
      else this.#postings.set(term, [place, weight]);
    }
  }

  /** Returns names of the best tools, the best first, among those that the caller may see. */
  search(query: string, most: number, tells: (name: string) => boolean = () => true): readonly string[] {
    const question = questionTerms(query);
    const concepts = new Map(question.map((term) => [term, this.#meantBy(term)]));
    const scores = new Map<number, number>();
    for (const [term, concept] of concepts) this.#score(term, concept, scores);
    const wanted = union([...concepts.values()]);
    const deed = question.map((term) => DEED_OF.get(term)).find((each) => each !== undefined);
    return [...scores]
      .map(([place, score]): [number, number] => [
        place,
        score * this.#fit(this.#entries[place] as Entry, wanted, deed),
      ])
      .sort(([a, x], [b, y]) => y - x || a - b)
      .map(([place]) => (this.#entries[place] as Entry).name)
      .filter(tells)
      .slice(0, most);
  }

  /** Terms that stand for one of a question, and how surely each does. */
  #meantBy(term: string): ReadonlyMap<string, number> {
    const deed = DEED_OF.get(term);
    return union([
      new Map(this.#begunBy(term).map((other) => [other, BEGUN])),
      new Map((deed === undefined ? [] : wordsOf(deed)).map((other) => [other, DEED_MEANT])),
      new Map((ALSO.get(term) ?? []).map((other) => [other, ALSO_MEANT])),
      new Map([[term, 1]]),
    ]);
  }

  #begunBy(term: string): readonly string[] {
    if (term.length < LEAST_BEGUN) return [];
    let [low, high] = [0, this.#vocabulary.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#vocabulary[middle] as string) < term) low = middle + 1;
      else high = middle;
    }
    return this.#vocabulary.slice(low, low + MOST_BEGUN).filter((each) => each !== term && each.startsWith(term));
  }

  #rarity(term: string): number {
    return this.#rarityOf((this.#postings.get(term)?.length ?? 0) / 2);
  }

  /** Returns the rarity of a term that so many tools have. */
  #rarityOf(found: number): number {
    return Math.log(1 + (this.#count - found + 0.5) / (found + 0.5));
  }

  /**
   * The best of the terms of a concept counts: several of them do not make a tool more relevant. Synonyms are as rare
   * as all of them together: a rare synonym in one tool means no more.
   */
  #score(term: string, concept: ReadonlyMap<string, number>, scores: Map<number, number>): void {
    const places = new Set<number>();
    for (const other of concept.keys()) {
      const postings = this.#postings.get(other) ?? [];
      for (let i = 0; i < postings.length; i += 2) places.add(postings[i] as number);
    }
    const rarity = this.#rarityOf(places.size);
    const gains = new Map<number, number>();
    for (const [other, importance] of concept) {
      const postings = this.#postings.get(other) ?? [];
      const worth = importance * (other === term ? this.#rarity(other) : rarity) * (K1 + 1);
      for (let i = 0; i < postings.length; i += 2) {
        const [place, weight] = [postings[i] as number, postings[i + 1] as number];
        gains.set(place, Math.max(gains.get(place) ?? 0, (worth * weight) / (weight + K1)));
      }
    }
    for (const [place, gain] of gains) scores.set(place, (scores.get(place) ?? 0) + gain);
  }

  /**
   * Returns the fit: the share of the tool's name that was asked for, by rarity, and whether its action was asked for.
   */
  #fit({ called, rarity: all, deeds }: Entry, wanted: ReadonlyMap<string, number>, deed: Deed | undefined): number {
    let asked = 0;
    for (const [term, rarity] of called) asked += rarity * (wanted.get(term) ?? 0);
    const specific = UNSPECIFIC + (1 - UNSPECIFIC) * (all === 0 ? 0 : asked / all);
    return deed === undefined || deeds.size === 0 || deeds.has(deed) ? specific : specific * OTHER_DEED;
  }
}

/** The surest of each term. */
function union(maps: readonly ReadonlyMap<string, number>[]): ReadonlyMap<string, number> {
  const all = new Map<string, number>();
  for (const map of maps) for (const [term, sure] of map) all.set(term, Math.max(all.get(term) ?? 0, sure));
  return all;
}

type Fields = Readonly<Record<Field, readonly string[]>>;

function fieldsOf({ name, id, title = '', description = '', group = '', path = '', input }: IndexedTool): Fields {
  const distinct = (text: string) => [...new Set(terms(text))];
  return {
    name: distinct(id ?? name),
    title: distinct(title),
    path: distinct(path.replaceAll(/\{[^}]*\}/g, ' ')),
    group: distinct(group),
    description: distinct(description.slice(0, DESCRIPTION)),
    details: distinct(description.slice(DESCRIPTION, DETAILS)),
    arguments: distinct(Object.keys((input['properties'] ?? {}) as object).join(' ')),
  };
}

function entryOf(
  { name, method = '', path = '' }: IndexedTool,
  fields: Fields,
  rarityOf: (term: string) => number,
): Entry {
  const called = [...new Set([...fields.name, ...fields.title, ...fields.path])].map((term): [string, number] => [
    term,
    rarityOf(term),
  ]);
  const rarity = called.reduce((sum, [, each]) => sum + each, 0);
  const said = [...fields.name, ...fields.title].flatMap((term) => DEED_OF.get(term) ?? []);
  const ofMethod = deedOf(method, path);
  return { name, called, rarity, deeds: new Set([...said, ...(ofMethod === undefined ? [] : [ofMethod])]) };
}
