/** Operations of files and batches for consumers with keys, and what they upload. */
import type OpenAI from 'openai';

export const IDS_KEY = 'ids-0123456789-0123456789-0123456789';
export const KEYS = { ann: 'ann-0123456789abcdef', bob: 'bob-0123456789abcdef' } as const;
/** Of `KEYS`, for the environment of a gateway. */
export const KEYS_ENV = { ANN_KEY: KEYS.ann, BOB_KEY: KEYS.bob };

export const KEYED = {
  name: 'apikey-auth',
  config: {
    keys: [
      { key: 'env://ANN_KEY', id: 'ann' },
      { key: 'env://BOB_KEY', id: 'bob' },
    ],
  },
};
/** The scheme that `KEYED` is for. */
export const SCHEMES = { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } };

/** All paths of files and batches, whose operations have this config of ai-proxy; `before`: none, or such as ask for a key. */
export function filesPaths(
  prefix: string,
  config: object,
  before: readonly object[] = [KEYED],
): readonly (readonly [path: string, item: object])[] {
  const operation = {
    security: before.length === 0 ? [] : [{ key: [] }],
    responses: { default: { description: 'any' } },
    'x-gw-middlewares': before,
    'x-gw-dispatch': { name: 'ai-proxy', config },
  };
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }];
  const post = (type: string) => ({ ...operation, requestBody: { content: { [type]: {} } } });
  const at = (end: string, item: object): readonly [string, object] => [
    `${prefix}/v1/${end}`,
    end.includes('{') ? { parameters, ...item } : item,
  ];
  return [
    at('files', { get: operation, post: post('*/*') }),
    at('files/{id}', { get: operation, delete: operation, post: post('application/json') }),
    at('files/{id}/content', { get: operation }),
    at('batches', { get: operation, post: post('application/json') }),
    at('batches/{id}', { get: operation }),
    at('batches/{id}/cancel', { post: operation }),
  ];
}

const line = (id: number) =>
  `${JSON.stringify({ custom_id: String(id), method: 'POST', url: '/v1/chat/completions', body: { model: 'gpt-5' } })}\n`;

export function uploaded(client: OpenAI): Promise<OpenAI.FileObject> {
  const file = new File([line(1), line(2)], 'lines.jsonl', { type: 'application/jsonl' });
  return client.files.create({ file, purpose: 'batch' });
}

export const newBatch = (input_file_id: string) =>
  ({ input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' }) as const;

/** Until it has ended. */
export async function ended(client: OpenAI, id: string): Promise<OpenAI.Batch> {
  let batch = await client.batches.retrieve(id);
  while (batch.status !== 'completed') batch = await client.batches.retrieve(id);
  return batch;
}
