import { expect, it } from 'vitest';
import { type Refusal, refusalAnswer } from './refusal.ts';

function told({ status = 401, headers = [], body = '' }: Partial<Omit<Refusal, 'body'>> & { body?: string }) {
  const answer = refusalAnswer(7, { status, headers, body: Buffer.from(body) }, ['https://login.example']);
  return { ...answer, body: JSON.parse(answer.body) };
}

const PROBLEM = ['content-type', 'application/problem+json'];
const missing =
  '{"type":"urn:gw:error:unauthorized","title":"Unauthorized","status":401,"detail":"an API key is required"}';

it.each([
  ['ApiKey realm="api", in="header", name="X-API-Key"', 'Send an API key in the header X-API-Key.'],
  ['ApiKey realm="api", in="query", name="key"', 'The operation takes its API key in the query'],
  ['ApiKey realm="api", in="header", name="a\\"b"', 'Send an API key in the header that the API names.'],
  ['Basic realm="api"', 'Send a user name and password in the header Authorization, with the scheme Basic.'],
  [
    'Bearer',
    'Send an access token in the header Authorization, with the scheme Bearer, issued by https://login.example.',
  ],
  ['bearer realm="x", scope="read write"', 'It needs the scope read write.'],
  ['Signature realm="api"', 'Sign the request (RFC 9421), in the headers Signature-Input and Signature.'],
  ['ClientCertificate realm="api"', 'Connect with a client certificate (TLS).'],
  ['Negotiate', 'Send credentials in the header Authorization, with the scheme Negotiate.'],
])('says what %s asks for', (challenge, words) => {
  const { headers, body } = told({ headers: [...PROBLEM, 'WWW-Authenticate', challenge], body: missing });
  expect(headers).toEqual(['content-type', 'application/json', 'www-authenticate', challenge]);
  expect(body).toEqual({ jsonrpc: '2.0', id: 7, error: expect.objectContaining({ data: JSON.parse(missing) }) });
  expect(body.error.message).toContain('Unauthorized: an API key is required. ');
  expect(body.error.message).toContain(words);
  expect(body.error.message).not.toContain('realm');
});

it('says each way of several once', () => {
  const headers = [...PROBLEM, 'www-authenticate', 'Basic realm="a"', 'www-authenticate', 'Basic realm="b"'];
  expect(told({ headers, body: missing }).body.error.message.match(/scheme Basic/g)).toHaveLength(1);
});

it.each([
  [{ status: 403 }, 'HTTP 403 Forbidden.'],
  [{ status: 403, headers: PROBLEM, body: '{' }, 'HTTP 403 Forbidden.'],
  [{ status: 403, headers: PROBLEM, body: '{"title":5}' }, 'HTTP 403 Forbidden.'],
  [
    { status: 401, headers: ['content-type', 'text/html', 'www-authenticate', '"'], body: '<p>no' },
    'HTTP 401 Unauthorized.',
  ],
  [{ status: 403, headers: PROBLEM, body: '{"title":"Stop","detail":"Not now!"}' }, 'Stop: Not now!'],
])('of %j says no more than that', (refusal, message) => {
  expect(told(refusal).body.error.message).toBe(message);
});
