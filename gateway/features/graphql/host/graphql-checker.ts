/** Checks the requests of operations that have one config of `graphql`. */
import { hash } from 'node:crypto';
import { type Exchange, type JsonObject, ownerOf, type SharedMap } from '../../kit.ts';
import { readDocument } from './document.ts';
import { fillIn } from './filled-request.ts';
import type { GraphQLRequest } from './graphql-request.ts';
import { sentRequests } from './http-form.ts';
import { type CheckedOperation, checkedOperations } from './operation-check.ts';
import { type Refusal, Refused } from './refusal.ts';
import { type GraphQLSettings, GraphQLSettingsError, readGraphQLSettings } from './settings.ts';

/** The result of checking a document: its operations, or the refusal of all of them. */
export type Verdict = readonly CheckedOperation[] | Refusal;

/** Verdicts by config and hash of the document; weights are bytes, about. */
export type Verdicts = SharedMap<Verdict>;

/** Bytes of an entry besides those that depend on the document. */
const ENTRY = 512;
/** Bytes of syntax tree that a character of a document becomes, at most. */
const TREE = 32;

let checkers = 0;

export class GraphQLChecker {
  readonly #settings: GraphQLSettings;
  readonly #verdicts: Verdicts;
  /** Tells its verdicts from those of other configs. */
  readonly #scope = `${checkers++}:`;
  /** Verdicts on documents that the config lists: they stay. */
  readonly #persisted = new Map<string, Verdict>();

  /** Throws GraphQLSettingsError. `verdicts`: those of the process. */
  constructor(config: JsonObject, verdicts: Verdicts) {
    this.#settings = readGraphQLSettings(config);
    this.#verdicts = verdicts;
    for (const [id, text] of this.#settings.persisted.entries()) this.#persist(id, text);
  }

  /**
   * Checks a request; throws Refused if it may not go on. `charge` receives the number of characters of documents that
   * are read for the first time.
   */
  check(exchange: Exchange, charge: (characters: number) => void): void {
    const { persisted, cost } = this.#settings;
    const sent = sentRequests(exchange, this.#settings);
    const texts = sent.requests.map((each) => persisted.textOf(each));
    let sum = 0;
    for (const [i, request] of sent.requests.entries()) {
      const operation = selected(this.#verdictOn(exchange, texts[i] ?? '', charge), request);
      if (sent.byGet && !operation.isQuery) {
        throw new Refused('METHOD_NOT_ALLOWED', 'Mutations and subscriptions require POST.', 405);
      }
      if (operation.refusal !== null) throw new Refused(operation.refusal.code, operation.refusal.detail);
      sum += typeof operation.cost === 'number' ? operation.cost : operation.cost(request.variables);
    }
    if (cost !== null && sum > cost.most) {
      throw new Refused('COST_ESTIMATED_TOO_EXPENSIVE', `The request costs more than ${cost.most}.`);
    }
    if (sent.requests.some(({ query }) => query === null)) fillIn(exchange, sent, texts);
  }

  #verdictOn(exchange: Exchange, text: string, charge: (characters: number) => void): Verdict {
    const persisted = this.#persisted.get(text);
    if (persisted !== undefined) return persisted;
    const key = this.#scope + hash('sha256', text, 'base64');
    const known = this.#verdicts.use(key);
    if (known !== undefined) return known;
    charge(Math.min(text.length, this.#settings.maxDocumentBytes));
    const verdict = this.#read(text);
    this.#verdicts.set(key, verdict, ownerOf(exchange), weightOf(verdict, text));
    return verdict;
  }

  #read(text: string): Verdict {
    try {
      return checkedOperations(readDocument(text, this.#settings), this.#settings);
    } catch (error) {
      if (error instanceof Refused) return error.refusal;
      throw error;
    }
  }

  /** The limits apply to listed documents too: refused ones are reported at load. */
  #persist(id: string, text: string): void {
    const verdict = this.#read(text);
    const refusal = 'code' in verdict ? verdict : verdict.find((each) => each.refusal !== null)?.refusal;
    if (refusal) throw new GraphQLSettingsError(`persisted_documents: ${id} would be refused: ${refusal.detail}`);
    this.#persisted.set(text, verdict);
  }
}

function weightOf(verdict: Verdict, text: string): number {
  if ('code' in verdict) return ENTRY;
  const keepsTree = verdict.some(({ cost }) => typeof cost === 'function');
  return ENTRY * (verdict.length + 1) + (keepsTree ? TREE * text.length : 0);
}

/** As servers select it (GraphQL, section 6.1, GetOperation). */
function selected(verdict: Verdict, { operationName }: GraphQLRequest): CheckedOperation {
  if ('code' in verdict) throw new Refused(verdict.code, verdict.detail);
  const [first, ...others] = verdict;
  if (operationName === null && first !== undefined && others.length === 0) return first;
  const named = verdict.find(({ name }) => name === operationName);
  if (named !== undefined) return named;
  throw new Refused(
    'OPERATION_RESOLUTION_FAILURE',
    operationName === null
      ? 'The document has several operations: operationName must say which.'
      : 'The document has no operation of the name operationName.',
  );
}
