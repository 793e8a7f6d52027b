/** The `Authorization` header that a registry wants: its own challenge answered, tokens kept until they end. */
import type { HttpCall } from '@gw/gateway/egress';
import { isRecord } from '../kube/kube-object.ts';
import { type Challenge, parseChallenges } from './challenge.ts';
import type { Credential } from './docker-config.ts';
import { RegistryError } from './error.ts';
import type { Call } from './http.ts';

/** Actions on one repository that a token is requested for. */
export type Actions = 'pull' | 'pull,push' | 'pull,delete';

interface Held {
  readonly authorization: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Seconds, if a token server sets no lifetime (distribution's token specification). */
const DEFAULT_LIFE_S = 60;
const MAX_LIFE_S = 3600;
/** A token that expires during a request costs a round trip; one that is dropped early costs nothing. */
const MARGIN_MS = 10_000;
const MAX_TOKEN = 64 << 10;
const TOKEN_TIMEOUT_MS = 30_000;

/** Authorization for one repository, with one credential. */
export class Authorization {
  readonly #registry: string;
  readonly #repository: string;
  readonly #credential: Credential | undefined;
  readonly #call: Call;
  readonly #held = new Map<Actions, Held>();

  constructor(
    name: { readonly registry: string; readonly repository: string },
    credential: Credential | undefined,
    call: Call,
  ) {
    this.#registry = name.registry;
    this.#repository = name.repository;
    this.#credential = credential;
    this.#call = call;
  }

  /** Returns the header's value; undefined before the first challenge, since a registry may require none. */
  current(actions: Actions): string | undefined {
    if (this.#credential?.kind === 'registry-token') return `Bearer ${this.#credential.token}`;
    const held = this.#held.get(actions);
    return held && held.until > Date.now() ? held.authorization : undefined;
  }

  /**
   * Returns the Authorization header that answers a 401. Throws RegistryError, which names what is missing, if none
   * can.
   */
  async answer(actions: Actions, header: string): Promise<string> {
    const challenges = parseChallenges(header);
    const bearer = challenges.find(({ scheme }) => scheme === 'bearer');
    const held = bearer ? await this.#token(actions, bearer) : this.#basic(challenges);
    this.#held.set(actions, held);
    return held.authorization;
  }

  #basic(challenges: readonly Challenge[]): Held {
    if (!challenges.some(({ scheme }) => scheme === 'basic')) {
      throw new RegistryError(
        'unauthorized',
        `${this.#registry} requires an authentication scheme that is not supported`,
      );
    }
    const authorization = basic(this.#credential);
    if (authorization === undefined) throw this.#unauthorized('requires a user name and a password');
    return { authorization, until: Number.POSITIVE_INFINITY };
  }

  async #token(actions: Actions, { parameters }: Challenge): Promise<Held> {
    const realm = parameters.get('realm') ?? '';
    if (!URL.canParse(realm)) throw new RegistryError('failed', `${this.#registry} names no token server`);
    const service = parameters.get('service') ?? '';
    const scope = parameters.get('scope') ?? `repository:${this.#repository}:${actions}`;
    const answer = await this.#call(tokenCall(new URL(realm), service, scope, this.#credential));
    if (answer.status === 400 || answer.status === 401 || answer.status === 403) {
      throw this.#unauthorized(`grants no token for ${actions} of "${this.#repository}" (${answer.status})`);
    }
    if (answer.status !== 200) {
      throw new RegistryError('unavailable', `the token server of ${this.#registry} answers ${answer.status}`);
    }
    return heldToken(answer.body) ?? fail(`the token server of ${this.#registry} answers with no token`);
  }

  #unauthorized(what: string): RegistryError {
    const hint = this.#credential
      ? 'check the credentials of the Secret, and the permissions of their user'
      : 'name a Secret of type kubernetes.io/dockerconfigjson that has an entry for this registry';
    return new RegistryError('unauthorized', `${this.#registry} ${what}: ${hint}`);
  }
}

/** Returns a GET, or an OAuth 2 refresh if the credential is a refresh token. */
function tokenCall(realm: URL, service: string, scope: string, credential: Credential | undefined): HttpCall {
  const bounds = { timeoutMs: TOKEN_TIMEOUT_MS, maxBytes: MAX_TOKEN };
  if (credential?.kind === 'identity') {
    const form = new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: credential.token,
      client_id: 'gw-operator',
      service,
      scope,
    });
    const headers = ['content-type', 'application/x-www-form-urlencoded', 'accept', 'application/json'];
    return { method: 'POST', url: realm.href, headers, body: form.toString(), ...bounds };
  }
  const url = new URL(realm);
  if (service !== '') url.searchParams.set('service', service);
  // Several scopes stand in one challenge with spaces between, and in the URL one after another.
  for (const each of scope.split(' ')) if (each !== '') url.searchParams.append('scope', each);
  const authorization = basic(credential);
  const headers = ['accept', 'application/json', ...(authorization ? ['authorization', authorization] : [])];
  return { method: 'GET', url: url.href, headers, redirects: 3, ...bounds };
}

function basic(credential: Credential | undefined): string | undefined {
  if (credential?.kind !== 'password') return undefined;
  return `Basic ${Buffer.from(`${credential.username}:${credential.password}`).toString('base64')}`;
}

function heldToken(body: Uint8Array): Held | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return undefined;
  }
  if (!isRecord(parsed)) return undefined;
  const token = [parsed['token'], parsed['access_token']].find((each) => typeof each === 'string' && each !== '');
  // The token is sent as a header value and must be valid as one.
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) return undefined;
  const stated = Number(parsed['expires_in']);
  const life = stated > 0 ? Math.min(stated, MAX_LIFE_S) : DEFAULT_LIFE_S;
  return { authorization: `Bearer ${token}`, until: Date.now() + life * 1000 - MARGIN_MS };
}

function fail(message: string): never {
  throw new RegistryError('failed', message);
}
