/**
 * Parses the text of a GraphQL document into its operations, with each limit applied before the step that it protects.
 */
import { GraphQLError } from 'graphql/error';
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  Lexer,
  type OperationDefinitionNode,
  parse,
  Source,
  TokenKind,
} from 'graphql/language';
import { Refused } from './refusal.ts';

export interface GraphQLDocument {
  readonly operations: readonly OperationDefinitionNode[];
  /** Each after those that it spreads, so that their counts are known when needed. */
  readonly fragments: readonly FragmentDefinitionNode[];
}

export interface TextLimits {
  readonly maxDocumentBytes: number;
  readonly maxTokens: number;
}

/** Most nested brackets, of any kind: parsers recurse on them, the upstream's too. */
const MOST_NESTING = 256;
/** Characters of a parser's message: it quotes the document. */
const MOST_MESSAGE = 200;

/** Throws Refused if the text is too long, no document, or one that readers could take in several ways. */
export function readDocument(text: string, { maxDocumentBytes, maxTokens }: TextLimits): GraphQLDocument {
  if (Buffer.byteLength(text) > maxDocumentBytes) {
    throw new Refused('MAX_DOCUMENT_LIMIT', `The document has more than ${maxDocumentBytes} bytes.`);
  }
  try {
    if (nestsTooDeeply(text, maxTokens)) throw invalid(`Brackets are nested more than ${MOST_NESTING} levels deep.`);
    const { definitions } = parse(text, { noLocation: true, maxLexicalTokens: maxTokens });
    return documentOf(definitions);
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    throw new Refused('GRAPHQL_PARSE_FAILED', error.message.slice(0, MOST_MESSAGE));
  }
}

/** Reads tokens without recursion; a text with fewer brackets than the limit is not read. */
function nestsTooDeeply(text: string, maxTokens: number): boolean {
  if (!hasBrackets(text, MOST_NESTING)) return false;
  const lexer = new Lexer(new Source(text));
  let depth = 0;
  for (let tokens = 0; tokens <= maxTokens; tokens++) {
    const { kind } = lexer.advance();
    if (kind === TokenKind.EOF) return false;
    if (kind === TokenKind.BRACE_L || kind === TokenKind.BRACKET_L || kind === TokenKind.PAREN_L) {
      if (++depth > MOST_NESTING) return true;
    } else if (kind === TokenKind.BRACE_R || kind === TokenKind.BRACKET_R || kind === TokenKind.PAREN_R) depth--;
  }
  return false;
}

/** Reports whether more than so many open, strings and comments included. */
function hasBrackets(text: string, most: number): boolean {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if ((code === 0x7b || code === 0x5b || code === 0x28) && ++count > most) return true;
  }
  return false;
}

function documentOf(definitions: DocumentNode['definitions']): GraphQLDocument {
  const operations: OperationDefinitionNode[] = [];
  const fragments = new Map<string, FragmentDefinitionNode>();
  const names = new Set<string>();
  for (const each of definitions) {
    if (each.kind === Kind.OPERATION_DEFINITION) operations.push(namedOnce(each, names));
    else if (each.kind === Kind.FRAGMENT_DEFINITION) addFragment(each, fragments);
    else throw invalid('A request has operations and fragments only.');
  }
  if (operations.length === 0) throw invalid('The document has no operation.');
  if (operations.length > 1 && names.size < operations.length) {
    throw invalid('An operation without a name must be the only one of its document.');
  }
  return { operations, fragments: inOrder(fragments) };
}

function namedOnce(operation: OperationDefinitionNode, names: Set<string>): OperationDefinitionNode {
  const name = operation.name?.value;
  if (name !== undefined && names.has(name)) throw invalid(`There are two operations named ${quoted(name)}.`);
  if (name !== undefined) names.add(name);
  return operation;
}

function addFragment(fragment: FragmentDefinitionNode, fragments: Map<string, FragmentDefinitionNode>): void {
  const name = fragment.name.value;
  if (fragments.has(name)) throw invalid(`There are two fragments named ${quoted(name)}.`);
  fragments.set(name, fragment);
}

/** Orders fragments without recursion, since a document may be a chain of them; throws if they form a cycle. */
function inOrder(fragments: ReadonlyMap<string, FragmentDefinitionNode>): FragmentDefinitionNode[] {
  const ordered: FragmentDefinitionNode[] = [];
  const waitsFor = new Map<string, number>();
  const spreaders = new Map([...fragments.keys()].map((name): [string, FragmentDefinitionNode[]] => [name, []]));
  for (const fragment of fragments.values()) {
    const spreads = spreadsOf(fragment);
    waitsFor.set(fragment.name.value, spreads.size);
    for (const name of spreads) {
      spreaders.get(name)?.push(fragment);
      if (!fragments.has(name)) throw noFragment(name);
    }
    if (spreads.size === 0) ordered.push(fragment);
  }
  for (const { name } of ordered) {
    for (const spreader of spreaders.get(name.value) ?? []) {
      const left = (waitsFor.get(spreader.name.value) ?? 0) - 1;
      waitsFor.set(spreader.name.value, left);
      if (left === 0) ordered.push(spreader);
    }
  }
  if (ordered.length < fragments.size) throw invalid('A fragment spreads itself.');
  return ordered;
}

function spreadsOf({ selectionSet }: FragmentDefinitionNode): ReadonlySet<string> {
  const names = new Set<string>();
  const open = [selectionSet];
  for (let set = open.pop(); set !== undefined; set = open.pop()) {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) names.add(selection.name.value);
      else if (selection.selectionSet !== undefined) open.push(selection.selectionSet);
    }
  }
  return names;
}

export function noFragment(name: string): Refused {
  return invalid(`There is no fragment named ${quoted(name)}.`);
}

function invalid(detail: string): Refused {
  return new Refused('GRAPHQL_VALIDATION_FAILED', detail);
}

/** Names are the client's, and of any length. */
function quoted(name: string): string {
  return JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name);
}
