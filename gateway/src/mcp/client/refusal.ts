/** The server has answered without a result: the message says how it refused, and what it requires of the caller. */
import type { HeaderList } from '../../exchange.ts';
import { parseExactly } from '../../json/exact-json.ts';
import { get } from '../../spec/json.ts';
import type { Received } from './receive.ts';

/** Least length of a value that counts as a secret, in characters; shorter ones may be common words. */
const LEAST_SECRET = 8;

export class McpRefusal extends Error {
  readonly status: number;
  /** Code of the JSON-RPC error; null if the answer was not an error. */
  readonly code: number | null;
  /** Message of that error, without anything around it. */
  readonly said: string;
  readonly data: unknown;
  /** `WWW-Authenticate`. */
  readonly challenge: string | null;

  /** `sent`: headers of the request. Servers repeat them, and refusals are logged and passed on. */
  constructor({ status, headers, message, text }: Received, sent: HeaderList) {
    const secrets = secretsIn(sent);
    const error = get(message, 'error');
    const texts = [get(error, 'message'), get(message, 'detail'), get(message, 'title'), text];
    const whole = texts.find((each) => typeof each === 'string') as string;
    const said = redacted(whole, secrets).slice(0, whole === text ? 200 : undefined);
    const code = get(error, 'code');
    const at = headers.findIndex((name, i) => i % 2 === 0 && name === 'www-authenticate');
    const challenge = at < 0 ? null : redacted(headers[at + 1] ?? '', secrets);
    const what = typeof code === 'number' ? `HTTP ${status}, JSON-RPC error ${code}` : `HTTP ${status}`;
    super(`${what}: ${said}${challenge === null ? '' : `\nWWW-Authenticate: ${challenge}`}`);
    this.status = status;
    this.code = Number.isSafeInteger(code) ? (code as number) : null;
    this.said = said;
    this.data = redactedJson(get(error, 'data'), secrets);
    this.challenge = challenge;
  }
}

/** Longest first. Of `Bearer …`, the token by itself is one, too. */
function secretsIn(headers: HeaderList): readonly string[] {
  const values = headers.filter((_, i) => i % 2 === 1).flatMap((value) => [value, ...value.split(' ').slice(1)]);
  return values.filter((value) => value.length >= LEAST_SECRET).sort((a, b) => b.length - a.length);
}

function redacted(text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => left.replaceAll(secret, '[redacted]'), text);
}

function redactedJson(value: unknown, secrets: readonly string[]): unknown {
  if (value === undefined || secrets.length === 0) return value;
  const escaped = secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
  return parseExactly(redacted(JSON.stringify(value), escaped));
}
