/** Credentials in URLs: every reader of a config sees them, so they are refused at every entry. */
import { isObject } from './json.ts';
import { child } from './pointer.ts';

/** Schemes of addresses that a gateway calls, or sends its clients to. */
const SCHEMES = /^[\s\0-\x20]*(?:https?|wss?|nats|tls|ldaps?):/i;

/** Reports whether a text is as a whole a URL with a user name or a password. */
export function holdsCredentials(text: string): boolean {
  if (!SCHEMES.test(text)) return false;
  const url = URL.parse(text);
  return url ? url.username !== '' || url.password !== '' : /:[\\/]{2}[^\\/?#\s]+@/.test(text);
}

/** The URL as it may be shown. */
export function withoutCredentials(url: string): string {
  return url.replace(/(^|:)[\\/]+[^\\/?#]*@/, '$1//').slice(0, 200);
}

export interface CredentialPlace {
  /** Into the value. */
  readonly pointer: string;
  /** Message to the author of the URL. */
  readonly message: string;
}

/** The remedy. */
export const CREDENTIALS_HINT =
  'Leave user name and password out of the URL: send them by a header or an authentication property, as a reference such as env://NAME.';

/** Returns the same JSON with credentials in URLs hidden: for values stored before they were refused. */
export function hideCredentials<T extends object>(value: T): T {
  if (credentialPlaces(value).length === 0) return value;
  const shown: T = structuredClone(value);
  hideWithin(shown);
  return shown;
}

function hideWithin(value: object): void {
  for (const [name, each] of Object.entries(value)) {
    if (typeof each === 'string' && holdsCredentials(each)) Reflect.set(value, name, withoutCredentials(each));
    else if (typeof each === 'object' && each !== null) hideWithin(each);
  }
}

/** Every text in a config, or a list of upstreams, that is such a URL. */
export function credentialPlaces(value: unknown, pointer = ''): readonly CredentialPlace[] {
  if (typeof value === 'string') {
    if (!holdsCredentials(value)) return [];
    return [{ pointer, message: `${withoutCredentials(value)} holds credentials in its URL` }];
  }
  if (Array.isArray(value))
    return value.flatMap((each: unknown, index) => credentialPlaces(each, child(pointer, String(index))));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => credentialPlaces(each, child(pointer, name)));
}
