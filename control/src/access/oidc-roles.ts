/** Mapping of an OIDC issuer's roles to the control plane's (`--oidc-roles`). */
import { ROLES, type Role } from './actor.ts';

export interface Grant {
  readonly role: Role;
  /** Null: all projects. */
  readonly projectId: string | null;
}

interface Mapping extends Grant {
  /** Name of the role or group at the issuer. */
  readonly claimed: string;
}

export type OidcRoles = readonly Mapping[];

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/**
 * Parses `admins=admin,devs=editor@PROJECT_ID`: the issuer's role `admins` becomes admin, `devs` editor of one project.
 * Throws an Error that names the invalid entry.
 */
export function parseOidcRoles(text: string): OidcRoles {
  return text.split(',').map((entry) => {
    const [, claimed = '', role, projectId = null] = /^(.+)=([a-z]+)(?:@(.+))?$/.exec(entry.trim()) ?? [];
    const known = ROLES.find((each) => each === role);
    if (known === undefined) {
      throw new Error(
        `"${entry}" specifies no role: write NAME=ROLE or NAME=ROLE@PROJECT_ID, ROLE one of ${ROLES.join(', ')}`,
      );
    }
    if (projectId !== null && !UUID.test(projectId)) {
      throw new Error(`"${entry}" names no project: write the id of one after @`);
    }
    return { claimed: claimed.trim(), role: known, projectId: projectId?.toLowerCase() ?? null };
  });
}

/** Returns the first entry that matches a role that the token claims; null if no entry does. */
export function grantOf(roles: OidcRoles, claimed: readonly string[]): Grant | null {
  return roles.find((mapping) => claimed.includes(mapping.claimed)) ?? null;
}

/**
 * Returns the JSON pointer of `--oidc-role-claim`: a pointer (`/a~1b/c`), or names with dots (`realm_access.roles`).
 */
export function claimPointer(claim: string): string {
  if (claim.startsWith('/')) return claim;
  const escaped = claim.split('.').map((name) => name.replaceAll('~', '~0').replaceAll('/', '~1'));
  return `/${escaped.join('/')}`;
}
