/** What is asked of a provider's official client: the same cases of every one, by surface. */
import { ok } from 'node:assert/strict';

/** Where a client is led, and what it is given for it. */
export interface Endpoint {
  /** In front of `/v1`. */
  readonly url: string;
  readonly apiKey: string;
  /** Added to each request. */
  readonly headers: Readonly<Record<string, string>>;
}

type Surface = 'chat' | 'responses' | 'messages' | 'embeddings' | 'models' | 'realtime' | 'files and batches';

/** By name; each throws where the client does not get what it must: an Answered of an error, or any other fault. */
export type Cases = Readonly<Record<string, () => Promise<void>>>;

export interface OfficialClient {
  /** As its registry has it. */
  readonly name: string;
  readonly surfaces: Readonly<Partial<Record<Surface, (endpoint: Endpoint) => Cases>>>;
  /** `code` of the error that the client throws for an answer of the gateway; null: the error is something else. */
  codeOf(error: unknown): string | null;
}

export const TEXT = 'Guten Tag, schöne Welt';
/** What the fakes answer where they are asked for the form of SCHEMA. */
export const CITY = { city: 'Köln' };
export const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const;
export const TOOLS = ['weather', 'time'] as const;
/** What the fakes call with TOOLS. */
export const CALLS = [
  ['weather', { city: 'Köln 0' }],
  ['time', { city: 'Köln 1' }],
];
/** Lines of a batch. */
export const LINES = ['1', '2']
  .map((custom_id) => ({ custom_id, method: 'POST', url: '/v1/chat/completions', body: { model: 'gpt-5' } }))
  .map((each) => `${JSON.stringify(each)}\n`)
  .join('');
export const PICTURE = 'aGk=';
export const PICTURE_QUESTION = 'What is it?';
/** The fakes repeat the question, and name the part that is no text. */
export const PICTURE_ANSWER = /^What is it\?\[(image|image_url|input_image)\]$/;

/** What people are told of a request without a model; the fakes do not refuse it. */
export const REFUSAL = /model/;
export const REFUSALS = 'refusals';

/** Of a surface that lists models: one is what the fakes of all protocols have. */
export function listsShared(list: () => AsyncIterable<{ readonly id: string }>): Cases {
  return {
    models: async () => {
      const ids: string[] = [];
      for await (const { id } of list()) ids.push(id);
      ok(ids.includes('shared'));
    },
  };
}

/** Members of an answer's body, as far as they are there. */
export function codeIn(body: unknown): string | null {
  const { code, error } = Object(body);
  const found: unknown = code ?? Object(error).code;
  return typeof found === 'string' ? found : null;
}
