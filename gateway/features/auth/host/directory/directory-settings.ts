/** The directory's settings in the config of `ldap-auth` (docs/reference/plugins.md#ldap-auth), read once. */
import { FilterParser } from 'ldapts';
import { get, isHostAndPort, isObject, type JsonObject, messageOf } from '../../../kit.ts';
import { filterOf } from './escape.ts';

/** The config cannot be used; stops the load (exit 1). Names the property, and no secret. */
class DirectorySettingsError extends Error {}

export interface DirectorySettings {
  /** `ldap://host:port`, for messages. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** `ldaps:`: TLS from the first byte. */
  readonly secure: boolean;
  readonly starttls: boolean;
  readonly allowPlaintext: boolean;
  /** Empty: searches are anonymous. */
  readonly bindDn: string;
  readonly bindPassword: string;
  readonly userBaseDn: string;
  readonly userFilter: string;
  readonly userAttr: string;
  readonly groupAttr: string;
  /** Empty: groups are those of `groupAttr`. */
  readonly groupBaseDn: string;
  readonly groupFilter: string;
  readonly groupNameAttr: string;
  readonly groupNameFromDn: boolean;
  /** Milliseconds an operation. */
  readonly timeoutMs: number;
  /** 0: results are not kept. */
  readonly cacheTtlSeconds: number;
  /**
   * Path of a PEM file of further roots, confined as `file://` secrets are (docs/decisions.md#secrets-resolved);
   * undefined: the system's alone.
   */
  readonly ca: string | undefined;
}

const PORTS = { 'ldap:': 389, 'ldaps:': 636 } as const;

/** Throws DirectorySettingsError. The schema has seen the config before secrets were in it. */
export function readDirectorySettings(config: JsonObject): DirectorySettings {
  const text = (name: string, otherwise: string) => {
    const value = config[name];
    return typeof value === 'string' ? value : otherwise;
  };
  const number = (name: string, otherwise: number) => {
    const value = config[name];
    return typeof value === 'number' ? value : otherwise;
  };
  const flag = (name: string, otherwise = false) => {
    const value = config[name];
    return typeof value === 'boolean' ? value : otherwise;
  };
  const url = urlOf(text('url', ''));
  const ca = isObject(config['tls']) ? get(config['tls'], 'ca') : undefined;
  const settings: DirectorySettings = {
    ...url,
    starttls: flag('starttls'),
    allowPlaintext: flag('allow_plaintext'),
    bindDn: text('bind_dn', ''),
    bindPassword: text('bind_password', ''),
    userBaseDn: text('user_base_dn', ''),
    userFilter: text('user_filter', '(uid={username})'),
    userAttr: text('user_attr', 'uid'),
    groupAttr: text('group_attr', 'memberOf'),
    groupBaseDn: text('group_base_dn', ''),
    groupFilter: text('group_filter', '(member={dn})'),
    groupNameAttr: text('group_name_attr', 'cn'),
    groupNameFromDn: flag('group_name_from_dn', true),
    timeoutMs: Math.max(1, number('timeout', 5) * 1000),
    cacheTtlSeconds: number('cache_ttl_seconds', 60),
    ca: typeof ca === 'string' && ca !== '' ? ca : undefined,
  };
  check(settings);
  return settings;
}

function check({ secure, starttls, bindDn, bindPassword, userFilter, groupFilter }: DirectorySettings): void {
  if (secure && starttls) throw new DirectorySettingsError('starttls is for ldap:// URLs: ldaps:// has TLS already');
  // A bind with a name and no password is anonymous to most servers, which is never intended (RFC 4513, section 5.1.2).
  if (bindDn !== '' && bindPassword === '') throw new DirectorySettingsError('bind_dn needs bind_password');
  for (const [name, filter] of Object.entries({ user_filter: userFilter, group_filter: groupFilter })) {
    try {
      FilterParser.parseString(filterOf(filter, { username: 'x', dn: 'cn=x' }));
    } catch (error) {
      throw new DirectorySettingsError(`${name} is not an LDAP filter (RFC 4515): ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
}

function urlOf(text: string): Pick<DirectorySettings, 'name' | 'host' | 'port' | 'secure'> {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'ldap:' && url.protocol !== 'ldaps:') || url.hostname === '') {
    throw new DirectorySettingsError('url must be ldap://host[:port] or ldaps://host[:port]');
  }
  if (!isHostAndPort(url)) {
    throw new DirectorySettingsError(
      'url contains more than host and port: use bind_dn, user_base_dn and user_filter for the rest',
    );
  }
  const port = url.port === '' ? PORTS[url.protocol] : Number(url.port);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return { name: `${url.protocol}//${url.hostname}:${port}`, host, port, secure: url.protocol === 'ldaps:' };
}
