/** An upstream MCP server: its entries, listed periodically, and requests that are passed on to it. */
import { sha256 } from '../../artifact/hash.ts';
import type { Exchange, HeaderList } from '../../exchange.ts';
import { networkOf } from '../../shares/owner.ts';
import { get, isObject, type Obj } from '../../spec/json.ts';
import { messageOf } from '../../text/message-of.ts';
import {
  type Asking,
  McpClient,
  type McpQuestion,
  type Session,
  type Stateless,
  statelessMeta,
} from '../client/client.ts';
import { McpRefusal } from '../client/refusal.ts';
import type { Era } from '../protocol/era.ts';
import { METHOD_NOT_FOUND } from '../protocol/json-rpc.ts';
import { type Catalogue, catalogueOf, KINDS, type Kind, type Listed, listAll, MOST_LIST } from './catalogue.ts';
import { GuardedTransport } from './guarded-transport.ts';
import type { UpstreamServices } from './services.ts';
import type { UpstreamSettings } from './settings.ts';
import { UpstreamSessions } from './upstream-sessions.ts';

/** Milliseconds for listing all that an upstream offers. */
const LIST_MS = 10_000;
/** Milliseconds after which one that cannot be listed is asked again: doubled each time, up to `refresh`. */
const FIRST_RETRY_MS = 1_000;
/** Bytes of an answer to a call, or of one message of it. */
export const MOST_ANSWER = 4 << 20;
const CALM = new Map<string, never>();
const NOTHING: Catalogue = { tools: CALM, prompts: CALM, resources: CALM, templates: CALM, held: CALM, dropped: CALM };
const LISTING: Stateless = { era: 'stateless', meta: statelessMeta() };
/** Milliseconds between two listings, however often it says that it offers others. */
const LEAST_BETWEEN_MS = 1_000;
/** Lines of the log for one listing: an upstream may have other faults each time. */
const MOST_REPORTED = 20;
/** Statuses that a server may have for requests of another revision than it speaks: it may be another than was listed. */
const NOT_UNDERSTOOD: ReadonlySet<number> = new Set([400, 404, 405, 406, 415]);
/** Most characters of a logged reason. */
const MOST_REASON = 300;

/** The client of a passed request, and its time limit. */
export interface Passing {
  readonly exchange: Exchange;
  /** The client's session; null without one. */
  readonly session: string | null;
  /** `_meta` about the client, for a server of the later revision. */
  readonly meta: Obj;
  /** The least level of log messages that the client wants; null: it has not said. */
  readonly logLevel: string | null;
  /** The caller's `Authorization`, if it is sent; else empty. */
  readonly authorization: HeaderList;
  readonly signal: AbortSignal;
  /** Resolves with true if the client was notified. */
  readonly onMessage: (message: Obj) => Promise<boolean>;
}

export class UpstreamServer {
  readonly settings: UpstreamSettings;
  readonly #services: UpstreamServices;
  readonly #changed: () => void;
  readonly #sessions: UpstreamSessions;
  readonly #closing = new AbortController();
  #catalogue = NOTHING;
  #listed: Listed = {};
  /** Digest of the listing behind the catalogue. */
  #taken = '';
  #capabilities: Obj = {};
  #era: Era | null = null;
  #failures = 0;
  #lastId = 0;
  /** Milliseconds on the monotonic clock, of the last listing. */
  #listedAt = 0;
  /** While it was listed, it said that it offers others. */
  #isOutdated = false;
  /** Requests that are passed on. */
  #underWay = 0;
  #timer: NodeJS.Timeout | null = null;
  #listing: Promise<void> | null = null;

  /** `changed`: it offers other tools than before. */
  constructor(settings: UpstreamSettings, services: UpstreamServices, changed: () => void) {
    this.settings = settings;
    this.#services = services;
    this.#changed = changed;
    this.#sessions = new UpstreamSessions((session, headers) => this.#endSession(session, headers));
  }

  get catalogue(): Catalogue {
    return this.#catalogue;
  }

  /** Reports whether the server says that it has this; not before it has been listed. */
  has(capability: string): boolean {
    return Object.hasOwn(this.#capabilities, capability);
  }

  /** Lists its entries, now and periodically. */
  start(): void {
    void this.refresh();
  }

  /** Requests under way go on, and their sessions with them. */
  close(): void {
    this.#closing.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#underWay === 0) this.#sessions.endAll();
  }

  endSession(client: string): void {
    this.#sessions.end(client);
  }

  /** Resolves when that has been done, or has failed. */
  refresh(): Promise<void> {
    this.#listing ??= this.#refresh().finally(() => {
      this.#listing = null;
    });
    return this.#listing;
  }

  /** Refreshes the lists after a sign of change, but at most once a second. */
  refreshSoon(): void {
    this.#isOutdated = true;
    if (this.#listing === null) this.#schedule();
  }

  async #refresh(): Promise<void> {
    this.#isOutdated = false;
    this.#sessions.sweep();
    const fault = await this.#list().catch((error: unknown) => error);
    if (this.#closing.signal.aborted) return;
    this.#listedAt = performance.now();
    this.#services.listed(this.settings.name, fault === null);
    this.#failures = fault === null ? 0 : this.#failures + 1;
    if (this.#failures === 1) {
      const details = { mcp_upstream: this.settings.name, cause: messageOf(fault).slice(0, MOST_REASON) };
      this.#services.log('warn', details, 'an MCP upstream cannot be listed');
    }
    this.#schedule();
  }

  /** Offers the listed entries from now on. */
  async #take(): Promise<void> {
    const digest = sha256(JSON.stringify(this.#listed));
    if (digest === this.#taken) return;
    const before = this.#catalogue;
    this.#catalogue = await catalogueOf(this.#listed, this.settings);
    this.#taken = digest;
    this.#report('tool', before.held, this.#catalogue.held);
    this.#report('entry', before.dropped, this.#catalogue.dropped);
    if (toldBy(before) !== toldBy(this.#catalogue)) this.#changed();
  }

  #schedule(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#closing.signal.aborted) return;
    const most = this.settings.refresh * 1000;
    const wait = this.#failures === 0 ? most : Math.min(most, FIRST_RETRY_MS * 2 ** (this.#failures - 1));
    // Spread, so that not all processes ask at once.
    const regular = wait * (0.9 + Math.random() * 0.2);
    const sincePrevious = performance.now() - this.#listedAt;
    const soon = Math.max(0, LEAST_BETWEEN_MS - sincePrevious);
    this.#timer = setTimeout(() => void this.refresh(), this.#isOutdated ? Math.min(soon, regular) : regular).unref();
  }

  #report(what: 'tool' | 'entry', before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): void {
    const news = [...now].filter(([name, why]) => before.get(name) !== why);
    for (const [name, why] of news.slice(0, MOST_REPORTED)) {
      const details = { mcp_upstream: this.settings.name, [what]: name, why: why.slice(0, MOST_REASON) };
      this.#services.log('warn', details, `${what} of an MCP upstream is held back`);
    }
    const more = news.length - MOST_REPORTED;
    if (more > 0) {
      const details = { mcp_upstream: this.settings.name, more };
      this.#services.log('warn', details, `more than ${MOST_REPORTED} of an MCP upstream are held back`);
    }
  }

  /** Resolves with null, or with the failure of one of its lists: the others are used all the same. */
  #list(): Promise<unknown> {
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(LIST_MS)]);
    const asking: Asking = { headers: this.settings.headers, signal, most: MOST_LIST };
    return this.#with(LIST_MS, null, async (client) => {
      const discovered = await client.discover(asking);
      const link = discovered === null ? await client.openSession(asking) : LISTING;
      this.#era = link.era;
      const capabilities = get(discovered ?? (link as Session).server, 'capabilities');
      this.#capabilities = isObject(capabilities) ? capabilities : {};
      const fault = await this.#listKinds(client, link, asking);
      if (!this.#closing.signal.aborted) await this.#take();
      if (link.era === 'sessions') this.#endSession(link, asking.headers);
      return fault;
    });
  }

  async #listKinds(client: McpClient, link: Stateless | Session, asking: Asking): Promise<unknown> {
    const { prompts, resources } = this.settings;
    const wanted = {
      tools: true,
      prompts: prompts.length > 0,
      resources: resources.length > 0,
      templates: resources.length > 0,
    };
    let fault: unknown = null;
    for (const kind of Object.keys(KINDS) as Kind[]) {
      const has = wanted[kind] && this.has(KINDS[kind].capability);
      try {
        this.#listed = { ...this.#listed, [kind]: has ? await listAll(kind, client, link, asking) : [] };
      } catch (error) {
        // Templates came later, and are not always there.
        const isAbsent = kind === 'templates' && error instanceof McpRefusal && error.code === METHOD_NOT_FOUND;
        if (isAbsent) this.#listed = { ...this.#listed, [kind]: [] };
        else fault ??= error;
      }
    }
    return fault;
  }

  /** The result. Throws McpRefusal, HttpCallError, AnswerTooLong, TooManyMessages, UpstreamSessionsFull, UpstreamSessionEnded. */
  async pass(question: McpQuestion, passing: Passing): Promise<Obj> {
    const { exchange, session, meta, signal, onMessage } = passing;
    const headers = [...this.settings.headers, ...passing.authorization];
    const asking: Asking = { headers, signal, most: MOST_ANSWER, onMessage };
    this.#underWay++;
    try {
      return await this.#with(this.settings.timeout * 1000, exchange, (client) => {
        if (this.#era === 'stateless') return client.ask(question, { era: 'stateless', meta }, asking);
        const ask = (opened: Session) => client.ask(question, opened, asking);
        if (session === null)
          return this.#once(() => this.#openSession(client, asking, passing.logLevel), ask, headers);
        return this.#inSession(session, passing, headers, ask);
      });
    } catch (error) {
      if (error instanceof McpRefusal && NOT_UNDERSTOOD.has(error.status)) this.refreshSoon();
      throw error;
    } finally {
      this.#underWay--;
      if (this.#closing.signal.aborted && this.#underWay === 0) this.#sessions.endAll();
    }
  }

  async #openSession(client: McpClient, asking: Asking, level: string | null): Promise<Session> {
    const session = await client.openSession(asking);
    if (level !== null && this.has('logging')) await client.ask(setLevel(level), session, asking);
    return session;
  }

  /** Uses a session of its own: the client has none to keep state in. */
  async #once(open: () => Promise<Session>, ask: (opened: Session) => Promise<Obj>, headers: HeaderList): Promise<Obj> {
    const opened = await open();
    try {
      return await ask(opened);
    } finally {
      this.#endSession(opened, headers);
    }
  }

  async #inSession(
    client: string,
    { signal, logLevel, exchange }: Passing,
    headers: HeaderList,
    ask: (opened: Session) => Promise<Obj>,
  ): Promise<Obj> {
    const asks = { headers, owner: networkOf(exchange) };
    // Other calls of the client wait for it, too, so opening goes on if this one ends.
    const opening = () => {
      const asking: Asking = { headers, signal: AbortSignal.timeout(LIST_MS), most: MOST_ANSWER };
      return this.#with(LIST_MS, null, (own) => this.#openSession(own, asking, logLevel));
    };
    const opened = await unlessAborted(this.#sessions.of(client, asks, opening), signal);
    try {
      return await ask(opened);
    } catch (error) {
      if (!(error instanceof McpRefusal) || error.status !== 404) throw error;
      // The upstream has ended the session, so the request has had no effect yet.
      this.#sessions.forget(client, opened);
      return ask(await unlessAborted(this.#sessions.of(client, asks, opening), signal));
    }
  }

  /** In the session that the client has here already; in another when it opens. */
  async setLogLevel(client: string, level: string): Promise<void> {
    const kept = this.#sessions.opened(client);
    if (kept === null || !this.has('logging')) return;
    const asking: Asking = { headers: kept.headers, signal: AbortSignal.timeout(LIST_MS), most: MOST_ANSWER };
    // An upstream that does not take it logs as before.
    await this.#with(LIST_MS, null, async (own) => own.ask(setLevel(level), await kept.opened, asking)).catch(() => {});
  }

  #endSession(session: Session, headers: HeaderList): void {
    void this.#with(LIST_MS, null, (client) => client.endSession(session, { headers }));
  }

  async #with<T>(timeoutMs: number, exchange: Exchange | null, use: (client: McpClient) => Promise<T>): Promise<T> {
    const { http, budget } = this.#services;
    const transport = new GuardedTransport(http, budget, { url: this.settings.url, timeoutMs, exchange });
    try {
      return await use(new McpClient(transport, () => ++this.#lastId));
    } finally {
      transport.release();
    }
  }
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Returns a text that changes with the entries that clients see. */
function toldBy({ tools, prompts, resources, templates }: Catalogue): string {
  const texts = [...tools.values()].map(({ listed }) => listed.stateless);
  const others = [prompts, resources, templates].flatMap((each) => [...each.values()].map(({ listed }) => listed));
  return JSON.stringify([texts.sort(), others.sort()]);
}

function setLevel(level: string): McpQuestion {
  return { method: 'logging/setLevel', params: { level } };
}
