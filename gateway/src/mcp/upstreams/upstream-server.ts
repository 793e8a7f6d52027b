/** An upstream MCP server: what it offers, listed again and again, and requests that are passed on to it. */
import type { Exchange, HeaderList } from '../../exchange.ts';
import { messageOf } from '../../message-of.ts';
import { get, isObject, type Obj } from '../../spec/json.ts';
import {
  type Asking,
  McpClient,
  type McpQuestion,
  type Session,
  type Stateless,
  statelessMeta,
} from '../client/client.ts';
import { McpRefusal } from '../client/refusal.ts';
import type { Era } from '../era.ts';
import { type Catalogue, catalogueOf, listTools, MOST_LIST } from './catalogue.ts';
import { guardedTransport } from './guarded-transport.ts';
import type { UpstreamServices } from './services.ts';
import type { UpstreamSettings } from './settings.ts';
import { UpstreamSessions } from './upstream-sessions.ts';

/** Milliseconds for listing all that an upstream offers. */
const LIST_MS = 10_000;
/** Milliseconds after which one that cannot be listed is asked again: doubled each time, up to `refresh`. */
const FIRST_RETRY_MS = 1_000;
/** Bytes of an answer to a call, or of one message of it. */
export const MOST_ANSWER = 4 << 20;
const NOTHING: Catalogue = { tools: new Map(), held: new Map(), capabilities: {} };
/** Of reasons that are logged. */
const MOST_REASON = 300;

/** Who asks, and for how long. */
export interface Passing {
  readonly exchange: Exchange;
  /** The client's session; null where it has none. */
  readonly session: string | null;
  /** What a server of the later revision is told of the client. */
  readonly meta: Obj;
  /** `Authorization` of who calls, where it is sent; else nothing. */
  readonly authorization: HeaderList;
  readonly signal: AbortSignal;
  readonly onMessage: (message: Obj) => void | Promise<void>;
}

export class UpstreamServer {
  readonly settings: UpstreamSettings;
  readonly #services: UpstreamServices;
  readonly #changed: () => void;
  readonly #sessions: UpstreamSessions;
  readonly #closing = new AbortController();
  #catalogue = NOTHING;
  #era: Era | null = null;
  #failures = 0;
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

  /** Null: it has not been listed yet. */
  get era(): Era | null {
    return this.#era;
  }

  /** Lists what it offers, now and from time to time. */
  start(): void {
    void this.refresh();
  }

  /** Requests under way go on. */
  close(): void {
    this.#closing.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#sessions.endAll();
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

  async #refresh(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#sessions.sweep();
    const before = this.#catalogue;
    try {
      this.#catalogue = await this.#list();
      this.#failures = 0;
      this.#services.listed(this.settings.name, true);
      this.#report(before, this.#catalogue);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#failures++;
      this.#services.listed(this.settings.name, false);
      const cause = messageOf(error).slice(0, MOST_REASON);
      const details = { mcp_upstream: this.settings.name, cause };
      if (this.#failures === 1) this.#services.log('warn', details, 'tools of an MCP upstream cannot be listed');
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.#closing.signal.aborted) return;
    const most = this.settings.refresh * 1000;
    const wait = this.#failures === 0 ? most : Math.min(most, FIRST_RETRY_MS * 2 ** (this.#failures - 1));
    // Not all processes at once.
    this.#timer = setTimeout(() => void this.refresh(), wait * (0.9 + Math.random() * 0.2)).unref();
  }

  #report(before: Catalogue, now: Catalogue): void {
    for (const [tool, why] of now.held) {
      if (before.held.get(tool) === why) continue;
      const details = { mcp_upstream: this.settings.name, tool, why: why.slice(0, MOST_REASON) };
      this.#services.log('warn', details, 'tool of an MCP upstream is held back');
    }
    const texts = ({ tools }: Catalogue) => [...tools.values()].map(({ listed }) => listed.stateless).sort();
    const same = JSON.stringify(texts(before)) === JSON.stringify(texts(now));
    if (!same || JSON.stringify(before.capabilities) !== JSON.stringify(now.capabilities)) this.#changed();
  }

  async #list(): Promise<Catalogue> {
    const holding = this.#services.budget.hold('');
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(LIST_MS)]);
    const client = new McpClient(this.#transport(LIST_MS, null, holding));
    const asking: Asking = { headers: this.settings.headers, signal, most: MOST_LIST };
    try {
      const discovered = await client.discover(asking);
      if (discovered !== null) {
        this.#era = 'stateless';
        const link: Stateless = { era: 'stateless', meta: statelessMeta() };
        return this.#catalogued(await toolsOf(client, link, discovered, asking), discovered);
      }
      const session = await client.openSession(asking);
      try {
        this.#era = 'sessions';
        return this.#catalogued(await toolsOf(client, session, session.server, asking), session.server);
      } finally {
        void client.endSession(session, asking);
      }
    } finally {
      holding.release();
    }
  }

  #catalogued(tools: readonly Obj[], server: Obj): Catalogue {
    const capabilities = get(server, 'capabilities');
    return catalogueOf(tools, isObject(capabilities) ? capabilities : {}, this.settings);
  }

  /** The result. Throws McpRefusal, HttpCallError, AnswerTooLong. */
  async pass(question: McpQuestion, passing: Passing): Promise<Obj> {
    const { exchange, session, meta, signal, onMessage } = passing;
    const holding = this.#services.budget.hold(exchange.clientIp);
    try {
      const client = new McpClient(this.#transport(this.settings.timeout * 1000, exchange, holding));
      const headers = [...this.settings.headers, ...passing.authorization];
      const asking: Asking = { headers, signal, most: MOST_ANSWER, onMessage };
      if (this.#era === 'stateless') return await client.ask(question, { era: 'stateless', meta }, asking);
      if (session === null) return await this.#once(client, question, asking);
      return await this.#inSession(client, question, asking, session);
    } finally {
      holding.release();
    }
  }

  /** In a session of its own: its client has none in which anything could be kept. */
  async #once(client: McpClient, question: McpQuestion, asking: Asking): Promise<Obj> {
    const opened = await client.openSession(asking);
    try {
      return await client.ask(question, opened, asking);
    } finally {
      this.#endSession(opened, asking.headers);
    }
  }

  async #inSession(client: McpClient, question: McpQuestion, asking: Asking, session: string): Promise<Obj> {
    const open = () => this.#sessions.of(session, asking.headers, () => client.openSession(asking));
    try {
      return await client.ask(question, await open(), asking);
    } catch (error) {
      if (!(error instanceof McpRefusal) || error.status !== 404) throw error;
      // The session has ended there, so that nothing has been done yet.
      this.#sessions.forget(session);
      return client.ask(question, await open(), asking);
    }
  }

  #transport(timeoutMs: number, exchange: Exchange | null, holding: ReturnType<UpstreamServices['budget']['hold']>) {
    return guardedTransport(this.#services.http, { url: this.settings.url, timeoutMs, exchange, holding });
  }

  #endSession(session: Session, headers: HeaderList): void {
    const holding = this.#services.budget.hold('');
    const client = new McpClient(this.#transport(LIST_MS, null, holding));
    void client.endSession(session, { headers }).finally(() => holding.release());
  }
}

/** None where the server says that it has none. */
async function toolsOf(client: McpClient, link: Stateless | Session, server: Obj, asking: Asking) {
  return get(get(server, 'capabilities'), 'tools') === undefined ? [] : listTools(client, link, asking);
}
