/** How tokens are exchanged: the argument of `host_token_exchange_open` (sdk/ABI.md). */

import { isObject, type Obj } from '../../../kit.ts';
import { httpUrl, milliseconds, readRules, TokenRulesError, text } from '../tokens/rule-values.ts';

/** Identifiers of RFC 8693, section 3, for tokens that an upstream accepts as bearer tokens. */
export const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
export const JWT = 'urn:ietf:params:oauth:token-type:jwt';
export const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';

const CLIENT_AUTHENTICATIONS = ['client_secret_basic', 'client_secret_post', 'none'] as const;
type ClientAuthentication = (typeof CLIENT_AUTHENTICATIONS)[number];

export interface ExchangeRules {
  /** The token endpoint. */
  readonly url: string;
  readonly clientId: string;
  /** Empty if the client has no secret. */
  readonly clientSecret: string;
  readonly clientAuthentication: ClientAuthentication;
  /** Parameters of each request but the subject's token, in the words of RFC 8693, section 2.1. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Types of an issued token that satisfy the request. */
  readonly usableTypes: readonly string[];
  readonly timeoutMs: number;
  /** For how long an issued token is used again, at most until it expires; 0: not at all. */
  readonly cacheMs: number;
}

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange';
/** Parameters that are sent unchanged, if set. */
const OPTIONAL = ['audience', 'resource', 'scope', 'requested_token_type'] as const;

/** `given`: as `readRules` takes it. Throws TokenRulesError. */
export function readExchangeRules(given: string, config: unknown): ExchangeRules {
  const rules = readRules(given, config);
  if (!isObject(rules)) throw new TokenRulesError('the rules are not an object');
  const clientAuthentication = clientAuthenticationOf(rules);
  return {
    url: httpUrl(required(rules, 'token_endpoint')),
    clientId: required(rules, 'client_id'),
    clientSecret: clientAuthentication === 'none' ? '' : required(rules, 'client_secret'),
    clientAuthentication,
    parameters: parametersOf(rules),
    usableTypes: text(rules, 'requested_token_type') === ID_TOKEN ? [ID_TOKEN] : [ACCESS_TOKEN, JWT],
    timeoutMs: milliseconds(rules, 'timeout', 5),
    cacheMs: milliseconds(rules, 'cache_ttl_seconds', 300),
  };
}

function clientAuthenticationOf(rules: Obj): ClientAuthentication {
  const given = text(rules, 'client_authentication') ?? 'client_secret_basic';
  const known = CLIENT_AUTHENTICATIONS.find((each) => each === given);
  if (known !== undefined) return known;
  throw new TokenRulesError(`"client_authentication" may be ${CLIENT_AUTHENTICATIONS.join(', ')}`);
}

function parametersOf(rules: Obj): Record<string, string> {
  const actor = text(rules, 'actor_token');
  return {
    grant_type: GRANT_TYPE,
    subject_token_type: text(rules, 'subject_token_type') ?? ACCESS_TOKEN,
    // The type is required with an actor's token, and forbidden without one.
    ...(actor === undefined
      ? {}
      : { actor_token: actor, actor_token_type: text(rules, 'actor_token_type') ?? ACCESS_TOKEN }),
    ...Object.fromEntries(
      OPTIONAL.flatMap((name) => {
        const value = text(rules, name);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  };
}

function required(rules: Obj, name: string): string {
  const value = text(rules, name);
  if (value === undefined) throw new TokenRulesError(`a token exchange needs "${name}"`);
  return value;
}
