/**
 * A client that streams a topic: what it has missed, then what comes, as it comes. What it does not read in time waits for
 * it up to a limit, past which it is cut off; it delays no other.
 */
import type { EventStream, Exchange, ResponseSink } from '../../exchange.ts';
import { CatchUp } from './catch-up.ts';
import type { LiveBatch } from './live-batch.ts';
import { Outbox } from './outbox.ts';
import type { Position } from './position.ts';
import { gapOf, heartbeatOf, openingOf } from './sse.ts';
import type { SubscriptionSettings } from './subscription-settings.ts';
import type { LiveClient, Topic } from './topic.ts';

/** Why a stream ended: the client left, read too slowly, has to open it again, or the gateway stops. */
export type SubscriptionEnd = 'client' | 'lag' | 'duration' | 'stopping';

export interface SubscriberOptions {
  readonly topic: Topic;
  readonly settings: SubscriptionSettings;
  /** Of the messages that it wants; null: all. */
  readonly key: Buffer | null;
  /** Where it begins. `lost`: it resumes where the broker numbers no messages, and has missed what it has. */
  readonly from: Position | 'earliest' | 'latest' | 'lost';
  /** It has ended; so many messages have been written. Called once. */
  ended(x: Exchange | null, why: SubscriptionEnd, messages: number): void;
}

const HEADERS = ['content-type', 'text/event-stream', 'cache-control', 'no-store', 'x-accel-buffering', 'no'];

export class Subscriber implements EventStream, LiveClient {
  readonly headers = HEADERS;
  readonly #options: SubscriberOptions;
  readonly #ended = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  #x: Exchange | null = null;
  #sink: ResponseSink | null = null;
  #outbox: Outbox | null = null;
  /** Null where it gets what comes. */
  #catchUp: CatchUp | null = null;
  #withdraw: () => void = () => {};

  constructor(options: SubscriberOptions) {
    this.#options = options;
  }

  begin(x: Exchange, sink: ResponseSink, ended: (bytes: number) => void): void {
    const { heartbeatMs, maxDurationMs, maxLag } = this.#options.settings;
    const outbox = new Outbox(sink, maxLag);
    this.#x = x;
    this.#sink = sink;
    this.#outbox = outbox;
    x.onClose(() => {
      this.#end('client');
      ended(outbox.bytes);
    });
    if (x.method === 'HEAD') return void sink.end();
    sink.on('error', () => this.#end('client'));
    this.#timers.push(setInterval(() => this.#beat(), heartbeatMs));
    if (maxDurationMs > 0) this.#timers.push(setTimeout(() => this.#finish('duration'), maxDurationMs));
    this.#withdraw = x.responder.whenStopping?.(() => this.#finish('stopping')) ?? this.#withdraw;
    this.#open(outbox);
  }

  close(): void {
    this.#end('client');
  }

  /** From the topic. */
  take(batch: LiveBatch): void {
    const { key, settings } = this.#options;
    const frames = batch.frames(settings.includeMetadata, key);
    if (frames.bytes.length === 0 || this.#outbox?.offer(frames) !== false) return;
    if (this.#catchUp !== null) return this.#catchUp.overran();
    this.#end('lag');
    this.#x?.responder.abort();
  }

  #open(outbox: Outbox): void {
    const { topic, from, settings } = this.#options;
    // Clients that lose their streams together do not come back together.
    const retryMs = Math.round(settings.retryMs * (1 + Math.random()));
    if (typeof from === 'object' || from === 'earliest') {
      this.#say(openingOf(null, retryMs));
      this.#catchUpFrom(from, outbox);
      return;
    }
    topic.join(this);
    this.#say(openingOf(topic.id, retryMs) + (from === 'lost' ? gapOf(null, topic.id) : ''));
  }

  #catchUpFrom(from: Position | 'earliest', outbox: Outbox): void {
    const { topic, key, settings } = this.#options;
    const { includeMetadata } = settings;
    this.#catchUp = new CatchUp({ topic, client: this, outbox, key, includeMetadata, signal: this.#ended.signal });
    this.#catchUp.run(from).then(
      () => {
        this.#catchUp = null;
      },
      // A defect of ours: the client comes again.
      () => this.#x?.responder.abort(),
    );
  }

  #beat(): void {
    if (this.#outbox?.isEmpty) this.#say(heartbeatOf(this.#catchUp === null ? this.#options.topic.id : null));
  }

  #say(text: string): void {
    this.#outbox?.offer({ bytes: Buffer.from(text), messages: 0 });
  }

  /** Ends the response as one that is whole: the client comes again. */
  #finish(why: SubscriptionEnd): void {
    if (this.#ended.signal.aborted) return;
    this.#end(why);
    this.#sink?.end();
  }

  #end(why: SubscriptionEnd): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#withdraw();
    this.#options.topic.leave(this);
    this.#outbox?.close();
    this.#options.ended(this.#x, why, this.#outbox?.messages ?? 0);
  }
}
