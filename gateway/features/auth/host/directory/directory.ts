/** Verifies a name and password by a directory: search as the service account, then bind as the entry found. */
import { randomBytes } from 'node:crypto';
import type { Entry } from 'ldapts';
import { type CacheStore, Checks, FairQueue, Outage, type OwnerPath } from '../../../kit.ts';
import { type ConnectionOptions, DirectoryConnection, DirectoryUnavailable } from './connection.ts';
import type { DirectorySettings } from './directory-settings.ts';
import { filterOf, firstRdnValue } from './escape.ts';
import { ServiceConnection } from './service-connection.ts';
import { type Verdict, VerifiedCredentials } from './verified-credentials.ts';

export interface DirectoryDeps extends ConnectionOptions {
  readonly cache: CacheStore;
  readonly log: (level: 'info' | 'error', message: string) => void;
}

/** Longest user name, in bytes; longer ones are rejected. */
const MOST_NAME = 1024;
/** Verifications: each has a connection of its own. */
const AT_ONCE = { atOnce: 16, mostWaiting: 256, mostMs: 5_000 };
const MOST_GROUPS = 1000;
const REJECTED: Verdict = { user: null };

export class Directory {
  readonly #settings: DirectorySettings;
  readonly #deps: DirectoryDeps;
  readonly #service: ServiceConnection;
  readonly #verified: VerifiedCredentials;
  readonly #outage: Outage;
  readonly #checks = new Checks<Verdict>(new FairQueue(AT_ONCE), ({ user }) => user !== null);

  constructor(settings: DirectorySettings, deps: DirectoryDeps) {
    this.#settings = settings;
    this.#deps = deps;
    this.#service = new ServiceConnection(settings, deps);
    const { bindPassword, cacheTtlSeconds } = settings;
    // Without a common secret, gateways cannot share results.
    const secret = bindPassword === '' ? randomBytes(32) : bindPassword;
    const scope = JSON.stringify({ ...settings, bindPassword: '' });
    this.#verified = new VerifiedCredentials(deps.cache, cacheTtlSeconds, secret, scope);
    this.#outage = new Outage(`directory ${settings.name}`, deps.log);
  }

  /** `owner`: the asking client. Rejects with DirectoryUnavailable and Crowded. */
  verify(username: string, password: string, owner: OwnerPath): Verdict | Promise<Verdict> {
    // An empty password never reaches the directory, which would take it for an anonymous bind.
    if (password === '' || username === '' || Buffer.byteLength(username) > MOST_NAME) return REJECTED;
    const { name, secure, starttls, allowPlaintext } = this.#settings;
    if (!secure && !starttls && !allowPlaintext) {
      const reason = `plaintext_refused: ${name} would get passwords in the clear: use ldaps:// or starttls, or allow_plaintext where the network is trusted`;
      this.#outage.failed(reason);
      return Promise.reject(new DirectoryUnavailable(reason));
    }
    const key = this.#verified.keyOf(username, password);
    const run = () => this.#checked(key, username, password, owner);
    const check = () => this.#checks.run({ key, name: username, owner, run });
    const known = this.#verified.get(key);
    if (known instanceof Promise) return known.then((verdict) => verdict ?? check());
    return known ?? check();
  }

  close(): void {
    this.#service.close();
  }

  async #checked(key: string, username: string, password: string, owner: OwnerPath): Promise<Verdict> {
    try {
      const verdict = await this.#ask(username, password);
      this.#outage.succeeded();
      await this.#verified.set(key, verdict, owner);
      return verdict;
    } catch (error) {
      if (error instanceof DirectoryUnavailable) this.#outage.failed(error.message);
      throw error;
    }
  }

  async #ask(username: string, password: string): Promise<Verdict> {
    const { userBaseDn, userFilter, userAttr, groupAttr, groupBaseDn } = this.#settings;
    const attributes = groupBaseDn === '' ? [userAttr, groupAttr] : [userAttr];
    const filter = filterOf(userFilter, { username });
    const entries = await this.#service.search(userBaseDn, { scope: 'sub', filter, attributes, sizeLimit: 2 });
    const [entry, another] = entries;
    if (another !== undefined) {
      this.#deps.log('error', 'ambiguous_user: user_filter matches several entries for one name: access is denied');
    }
    const found = entry !== undefined && another === undefined && entry.dn !== '' ? entry : null;
    if (found === null) {
      await this.#bindInstead();
      return REJECTED;
    }
    if (!(await this.#accepts(found.dn, password))) return REJECTED;
    const [consumer = username] = valuesOf(found, userAttr);
    return { user: { dn: found.dn, consumer: readable(consumer), groups: await this.#groupsOf(found, username) } };
  }

  /**
   * Costs an unknown user a bind, too, so that it takes as long. It binds as an existing entry, since servers hash no
   * password for others; with its right password, since wrong ones might lock it.
   */
  async #bindInstead(): Promise<void> {
    const { bindDn, bindPassword, userBaseDn } = this.#settings;
    const isAnonymous = bindDn === '' || bindPassword === '';
    const dn = isAnonymous ? `cn=${randomBytes(12).toString('hex')},${userBaseDn}` : bindDn;
    await this.#accepts(dn, isAnonymous ? randomBytes(12).toString('hex') : bindPassword);
  }

  /** Uses a connection of its own, since the service account's must stay bound. */
  async #accepts(dn: string, password: string): Promise<boolean> {
    const connection = await DirectoryConnection.open(this.#settings, this.#deps);
    try {
      return await connection.bind(dn, password);
    } finally {
      connection.close();
    }
  }

  async #groupsOf(user: Entry, username: string): Promise<readonly string[]> {
    const { groupAttr, groupBaseDn, groupFilter, groupNameAttr, groupNameFromDn } = this.#settings;
    if (groupBaseDn === '') {
      const names = valuesOf(user, groupAttr).map((dn) => (groupNameFromDn ? firstRdnValue(dn) : dn));
      return atMost(names);
    }
    const filter = filterOf(groupFilter, { username, dn: user.dn });
    const sizeLimit = MOST_GROUPS + 1;
    const groups = await this.#service.search(groupBaseDn, {
      scope: 'sub',
      filter,
      attributes: [groupNameAttr],
      sizeLimit,
    });
    return atMost(groups.flatMap((group) => valuesOf(group, groupNameAttr).slice(0, 1)));
  }
}

/** Fails past the limit: a group left out could be one that a later plugin refuses. */
function atMost(groups: readonly string[]): readonly string[] {
  if (groups.length <= MOST_GROUPS) return groups.filter((each) => each !== '').map(readable);
  throw new DirectoryUnavailable(
    `too_many_groups: more than ${MOST_GROUPS}: narrow them by group_base_dn and group_filter`,
  );
}

/** Names that are not UTF-8, such as an objectGUID, all decode alike: many users would share one name. */
function readable(name: string): string {
  if (!name.includes('\ufffd')) return name;
  throw new DirectoryUnavailable('unreadable_name: a name of a user or group is not UTF-8: choose another attribute');
}

/** Names of attributes have no case. */
function valuesOf(entry: Entry, attribute: string): readonly string[] {
  const wanted = attribute.toLowerCase();
  const [, value = []] = Object.entries(entry).find(([name]) => name.toLowerCase() === wanted) ?? [];
  return (Array.isArray(value) ? value : [value]).map((each) =>
    typeof each === 'string' ? each : each.toString('utf8'),
  );
}
