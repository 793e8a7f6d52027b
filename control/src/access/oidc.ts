/** Login tokens of an OIDC issuer as bearer tokens of the REST API. */
import { CLOCK_SKEW_MS, IssuerUnavailable, issuerTokens, type TokenClaims, TokenRefused } from '@gw/gateway/tokens';
import type { Logger } from 'pino';
import { ControlError } from '../errors.ts';
import { claimPointer, type Grant, grantOf, type OidcRoles } from './oidc-roles.ts';

export interface OidcOptions {
  /** `iss` of the tokens, and base URL of discovery. */
  readonly issuer: string;
  /** Required value in `aud`. */
  readonly audience: string;
  /** Names with dots between them, or a JSON pointer. */
  readonly roleClaim: string;
  readonly roles: OidcRoles;
}

export interface OidcIdentity extends Grant {
  /** `sub`. */
  readonly subject: string;
  readonly expiresAt: Date;
}

export interface OidcTokens {
  /**
   * Returns null if the token is not valid; the log names the reason. Throws `forbidden` if it is valid but gives no
   * role, `unavailable` if the issuer's keys cannot be fetched.
   */
  identify(token: string): Promise<OidcIdentity | null>;
  close(): Promise<void>;
}

/** Latest time whose year has four digits. */
const LAST_TIME = Date.UTC(9999, 11, 31);
/** Names that the audit log can hold. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
const SUBJECT = /^[^\u0000-\u001f\u007f]{1,255}$/;

export function oidcTokens({ issuer, audience, roleClaim, roles }: OidcOptions, log: Logger): OidcTokens {
  const tokens = issuerTokens({ issuer, audience, log: (level, message) => log[level](message) });
  const pointer = claimPointer(roleClaim);
  return {
    close: () => tokens.close(),
    async identify(token) {
      const claims = await verified(() => tokens.verify(token), log);
      const subject = claims?.text('/sub');
      if (!claims || subject === undefined || !SUBJECT.test(subject)) return null;
      const grant = grantOf(roles, rolesIn(claims, pointer));
      if (grant === null) {
        throw new ControlError(
          'forbidden',
          `the claim "${roleClaim}" of the token names no role that is configured here`,
        );
      }
      const { role, projectId } = grant;
      return { subject, role, projectId, expiresAt: expiryOf(claims) };
    },
  };
}

async function verified(verify: () => Promise<TokenClaims>, log: Logger): Promise<TokenClaims | null> {
  try {
    return await verify();
  } catch (error) {
    if (error instanceof TokenRefused) {
      log.debug({ reason: error.message }, 'an OIDC token was rejected');
      return null;
    }
    if (!(error instanceof IssuerUnavailable)) throw error;
    throw new ControlError(
      'unavailable',
      'OIDC tokens cannot be verified at the moment, since the keys of their issuer are unavailable: try again later',
      {},
      { cause: error },
    );
  }
}

/** Returns the roles of a claim: a list of texts, or one text with names separated by spaces, as scopes are. */
function rolesIn(claims: TokenClaims, pointer: string): readonly string[] {
  const text = claims.text(pointer);
  if (text === undefined) return [];
  if (claims.count(pointer) < 0) return [text, ...text.split(' ')];
  const value: unknown = JSON.parse(text);
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function expiryOf(claims: TokenClaims): Date {
  return new Date(Math.min(Number(claims.text('/exp')) * 1000 + CLOCK_SKEW_MS, LAST_TIME));
}
