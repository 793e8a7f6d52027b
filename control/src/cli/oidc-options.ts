/** Options of `gw-control serve` about tokens of an OIDC issuer. */
import { messageOf } from '@gw/gateway/message-of';
import { InvalidArgumentError, Option } from 'commander';
import type { OidcOptions } from '../access/oidc.ts';
import { type OidcRoles, parseOidcRoles } from '../access/oidc-roles.ts';

export interface OidcFlags {
  readonly oidcIssuer?: string;
  readonly oidcAudience?: string;
  readonly oidcRoleClaim: string;
  readonly oidcRoles?: OidcRoles;
}

export const oidcOptionList = (): readonly Option[] => [
  new Option('--oidc-issuer <url>', 'also accept login tokens of this OpenID issuer')
    .argParser(issuerUrl)
    .env('GW_CONTROL_OIDC_ISSUER'),
  new Option('--oidc-audience <name>', 'audience that these tokens must have').env('GW_CONTROL_OIDC_AUDIENCE'),
  new Option('--oidc-role-claim <claim>', 'claim that holds the roles: names separated by dots, or a JSON pointer')
    .default('roles')
    .env('GW_CONTROL_OIDC_ROLE_CLAIM'),
  new Option(
    '--oidc-roles <map>',
    'what those roles may: NAME=ROLE or NAME=ROLE@PROJECT_ID, comma-separated; the first that fits counts',
  )
    .argParser(roles)
    .env('GW_CONTROL_OIDC_ROLES'),
];

/** Returns null if no issuer is given. Throws if an option is missing. */
export function oidcOptions({ oidcIssuer, oidcAudience, oidcRoleClaim, oidcRoles }: OidcFlags): OidcOptions | null {
  if (oidcIssuer === undefined) {
    if (oidcAudience === undefined && oidcRoles === undefined) return null;
    throw new Error('--oidc-audience and --oidc-roles are for --oidc-issuer, which is not given');
  }
  if (oidcAudience === undefined) {
    throw new Error(
      '--oidc-issuer needs --oidc-audience: else tokens that it made for any other service open this one',
    );
  }
  if (oidcRoles === undefined) {
    throw new Error('--oidc-issuer needs --oidc-roles, such as platform-team=admin,developers=editor');
  }
  return { issuer: oidcIssuer, audience: oidcAudience, roleClaim: oidcRoleClaim, roles: oidcRoles };
}

function issuerUrl(text: string): string {
  const url = URL.parse(text);
  const fits =
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '' && url.hash === '';
  if (fits) return text;
  throw new InvalidArgumentError(
    'Give the URL of the issuer as its tokens name it, such as https://login.example.com.',
  );
}

function roles(text: string): OidcRoles {
  try {
    return parseOidcRoles(text);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
}
