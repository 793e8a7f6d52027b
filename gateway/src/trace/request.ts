/** The request that `/trace` is asked to send through the pipeline. */
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { parseTextOnce } from '../json/parse-once.ts';

const token = (description: string) =>
  Type.String({ minLength: 1, maxLength: 256, pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", description });

const schema = Type.Object(
  {
    method: Type.Optional(token('default GET')),
    target: Type.String({ minLength: 1, maxLength: 65536, pattern: '^[\\x21-\\x7e]+$', description: 'path and query' }),
    headers: Type.Optional(
      Type.Array(
        Type.Tuple([token('name'), Type.String({ maxLength: 65536, pattern: '^[^\\x00-\\x08\\x0a-\\x1f\\x7f]*$' })]),
        {
          maxItems: 2000,
        },
      ),
    ),
    body: Type.Optional(Type.String({ description: 'text, or base64 with body_encoding' })),
    body_encoding: Type.Optional(Type.Enum(['utf8', 'base64'])),
    body_limit: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 4 << 20,
        description: "bytes of the response's body that are reported; default 65,536",
      }),
    ),
    timeout_ms: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 120_000, description: 'after which it is cut off; default 30,000' }),
    ),
  },
  { additionalProperties: false },
);

export type TraceRequest = Static<typeof schema>;

const check = Compile(schema);

/** The body of `/trace` is not a valid request; the message names the fault, by JSON pointer. */
export class TraceRequestError extends Error {}

/** Throws TraceRequestError. */
export function readTraceRequest(text: string): TraceRequest {
  let value: unknown;
  try {
    value = parseTextOnce(text);
  } catch {
    throw new TraceRequestError(
      'Send JSON such as {"method": "GET", "target": "/books", "headers": [["accept", "*/*"]]}.',
    );
  }
  if (check.Check(value)) return value;
  const [first] = check.Errors(value);
  throw new TraceRequestError(`${first?.instancePath || 'the request'} ${first?.message ?? 'is not valid'}.`);
}
