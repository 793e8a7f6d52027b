/**
 * A realtime session, which costs by the response: each is counted when the provider reports its end, and policies that
 * have asked for it are notified then (docs/decisions.md#ai-realtime).
 */
import { type CloseStatus, type Exchange, type RequestPart, RequestSlot } from '../../../kit.ts';
import type { RealtimeUsage } from './conversation/usage.ts';
import { EventReader } from './realtime/event-reader.ts';
import { serverEvent } from './realtime/server-event.ts';
import type { SpentTokens, TokenCount } from './token-count.ts';

/** Bytes of an event that is read: one that ends a response has its texts, and no audio. */
const MAX_EVENT = 256 << 10;
/** Most responses that have begun beside others, or are over, without policies having been notified. */
const MOST_UNSETTLED = 64;
const TOO_MANY: CloseStatus = { code: 1008, reason: 'responses come faster than they can be counted' };
const FAILED: CloseStatus = { code: 1011, reason: 'the gateway failed' };

const slot = new RequestSlot<RealtimeSession>();

/** Listeners that count usage besides the policies. */
export interface SessionEvents {
  counted(usage: RealtimeUsage): void;
  /** Logs why an event or a response was not counted. */
  uncounted(why: string): void;
  /** A policy that was notified of a response has a defect. */
  failed(error: unknown): void;
}

/** Says why the session ends, or null. */
export interface ResponseListener {
  /** A response has begun while another was under way: clients may ask for many at once. */
  another(): Promise<CloseStatus | null>;
  /** A response is over; null: its cost is unknown. */
  over(tokens: SpentTokens | null): Promise<CloseStatus | null>;
}

type Notification = (listener: ResponseListener) => Promise<CloseStatus | null>;

export class RealtimeSession implements RequestPart {
  readonly owner = null;
  readonly stored = null;
  readonly tap = null;
  readonly #listeners: ResponseListener[] = [];
  #count: TokenCount | null = null;
  #events: SessionEvents | null = null;
  #close: ((closing: CloseStatus) => void) | null = null;
  #responses = 0;
  /** Responses that have begun and are not over. */
  #underWay = 0;
  #unsettled = 0;
  #settling: Promise<void> = Promise.resolve();
  readonly #reader = new EventReader({
    limit: MAX_EVENT,
    message: (payload) => this.#message(payload),
    tooLarge: () => this.#unread(`an event of more than ${MAX_EVENT} bytes was passed on unread`),
  });

  /** Returns the session of the exchange; creates it on first use. */
  static of(exchange: Exchange): RealtimeSession {
    const known = slot.of(exchange);
    if (known !== null) return known;
    const session = new RealtimeSession();
    slot.set(exchange, session);
    return session;
  }

  /** For policies, before it is open. */
  whenResponded(listener: ResponseListener): void {
    this.#listeners.push(listener);
  }

  /** A provider has accepted the handshake. */
  begin(count: TokenCount, events: SessionEvents): void {
    this.#count = count;
    this.#events = events;
  }

  /** It is open; `close` ends it. */
  opened(close: (closing: CloseStatus) => void): void {
    this.#close = close;
  }

  /** Frames of the provider, as they pass. */
  read(frames: readonly Buffer[]): void {
    for (const each of frames) this.#reader.read(each);
  }

  /** Resolves when policies have been notified of all finished responses. */
  get settled(): Promise<void> {
    return this.#settling;
  }

  /** Tokens since the last reservation of a policy; null if unknown, since a response was under way. */
  get unsettled(): SpentTokens | null {
    return this.#underWay > 0 ? null : this.#spent(NOTHING);
  }

  get logged(): string {
    return this.#count === null ? '' : `,"ai_responses":${this.#responses}`;
  }

  finished(): void {}

  #message(payload: Buffer): void {
    const event = serverEvent(payload);
    if (event === null) return;
    if (event.type === 'begun') {
      if (++this.#underWay > 1) this.#notify((listener) => listener.another());
      return;
    }
    this.#isOver();
    this.#responses++;
    if (event.usage !== null) this.#counted(event.usage);
    else if (event.isFailed) this.#over(this.#spent(NOTHING));
    else this.#uncounted('a response has no count of its tokens that can be');
  }

  #counted(usage: RealtimeUsage): void {
    this.#count?.add(usage);
    this.#events?.counted(usage);
    this.#over(this.#spent(usage));
  }

  #isOver(): void {
    this.#underWay = Math.max(0, this.#underWay - 1);
  }

  /** Counts as the end of a response, which only such an event can hide. */
  #unread(why: string): void {
    this.#isOver();
    this.#uncounted(why);
  }

  #uncounted(why: string): void {
    this.#events?.uncounted(why);
    this.#over(null);
  }

  #over(tokens: SpentTokens | null): void {
    this.#notify((listener) => listener.over(tokens));
  }

  #spent(tokens: Omit<SpentTokens, 'provider' | 'model'>): SpentTokens {
    const { provider = '', model = '' } = this.#count ?? {};
    return { provider, model, ...tokens };
  }

  /** In turns: each settles the reservation that the one before has renewed. */
  #notify(notification: Notification): void {
    if (this.#listeners.length === 0) return;
    if (++this.#unsettled > MOST_UNSETTLED) return this.#close?.(TOO_MANY);
    this.#settling = this.#settling.then(async () => {
      const closing = await this.#notifyAll(notification).catch((error: unknown) => {
        this.#events?.failed(error);
        return FAILED;
      });
      this.#unsettled--;
      if (closing !== null) this.#close?.(closing);
    });
  }

  async #notifyAll(notification: Notification): Promise<CloseStatus | null> {
    for (const listener of this.#listeners) {
      const closing = await notification(listener);
      if (closing !== null) return closing;
    }
    return null;
  }
}

const NOTHING = { prompt: 0, completion: 0, cached: 0 };
