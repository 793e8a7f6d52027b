/** The signed-in account: the token stays in this tab alone. */
import { computed, signal } from '@preact/signals';
import type { Identity } from './types.ts';

const KEY = 'gw-token';

/**
 * The token of an address like `/ui/#token=…`, as local mode prints it: servers never see that part of an address, and
 * the history does not keep it.
 */
function takeFromAddress(): void {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given === null) return;
  history.replaceState(null, '', location.pathname + location.search);
  sessionStorage.setItem(KEY, given);
}
takeFromAddress();

export const token = signal<string | null>(sessionStorage.getItem(KEY));

/** Null until the server has said whose the token is. */
export const identity = signal<Identity | null>(null);

/** Reason for the end of the session; null if the page need not show one. */
export const expired = signal<string | null>(null);

export const signedIn = computed(() => token.value !== null && identity.value !== null);

export function signIn(given: string, who: Identity): void {
  sessionStorage.setItem(KEY, given);
  token.value = given;
  identity.value = who;
  expired.value = null;
}

export function signOut(): void {
  sessionStorage.removeItem(KEY);
  token.value = null;
  identity.value = null;
}

/** The server no longer takes the token. */
export function expire(): void {
  if (identity.value !== null) expired.value = 'The token was revoked or has expired: sign in again.';
  signOut();
}

export type Role = Identity['role'];

/** Each may all that those before it may. */
const ROLES = ['viewer', 'editor', 'deployer', 'admin'] as const satisfies readonly Role[];

/** Whether the caller may do what `role` may; what concerns all projects is not for a token of one. */
export function may(role: Role, scope: 'project' | 'all' = 'project'): boolean {
  const who = identity.value;
  if (who === null || (scope === 'all' && who.project_id !== null)) return false;
  return ROLES.indexOf(who.role) >= ROLES.indexOf(role);
}
