/**
 * A client that streams a topic: first the messages that it missed, then new ones as they come. Unread messages wait
 * for it up to a limit, and within its client's share of memory, past which it is cut off; it delays no other.
 */

import type { DirectionFigures, Engine, EngineResponse, Exchange, Holding, OwnerPath } from '../../../kit.ts';
import { CatchUp } from './catch-up.ts';
import { type Channel, responseChannel } from './channel.ts';
import { gapOf } from './client-event.ts';
import { Frames, type FramesReader } from './frames.ts';
import type { LiveBatch, MessageForm } from './live-batch.ts';
import type { MessageCheck } from './message-check.ts';
import { Outbox } from './outbox.ts';
import type { Position } from './position.ts';
import type { SubscriptionSettings } from './subscription-settings.ts';
import type { LiveClient, Topic } from './topic.ts';
import type { webSocketChannel } from './web-socket-channel.ts';

/**
 * Why a stream ended: the client left; it read too slowly, for the stream's limit or for the memory that others need;
 * it has to open it again; it has most of the streams while another client opens one; or the gateway stops.
 */
export type SubscriptionEnd = 'client' | 'lag' | 'duration' | 'share' | 'stopping';

export interface SubscriberOptions {
  readonly topic: Topic;
  readonly settings: SubscriptionSettings;
  /** Owner of the stream. */
  readonly owner: OwnerPath;
  /** Key of the messages that it wants; null: all. */
  readonly key: Buffer | null;
  /** Null if it gets all messages. */
  readonly check: MessageCheck | null;
  /**
   * Start of the stream. `lost`: the client resumes, but the broker numbers no messages, so the missed ones are lost.
   */
  readonly from: Position | 'earliest' | 'latest' | 'lost';
  /** Null if the client has asked for no WebSocket. */
  readonly webSocket: typeof webSocketChannel | null;
  /** The stream has ended; so many messages have been written. Called once. */
  ended(exchange: Exchange | null, why: SubscriptionEnd, messages: number): void;
}

const HEADERS = ['content-type', 'text/event-stream', 'cache-control', 'no-store', 'x-accel-buffering', 'no'];

export class Subscriber implements Engine, LiveClient, FramesReader {
  readonly #options: SubscriberOptions;
  readonly #ended = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  #exchange: Exchange | null = null;
  #channel: Channel | null = null;
  #outbox: Outbox | null = null;
  #form: MessageForm | null = null;
  /** Null if it gets live messages. */
  #catchUp: CatchUp | null = null;
  #withdraw: () => void = () => {};

  constructor(options: SubscriberOptions) {
    this.#options = options;
  }

  async answer(exchange: Exchange, response: EngineResponse): Promise<void> {
    exchange.trace?.dispatched('streams events', null);
    const begun =
      exchange.upgrade === null ? this.#asEvents(exchange, response) : this.#overWebSocket(exchange, response);
    if (!(await begun)) this.close();
  }

  /** The stream is no longer wanted: the client has left, or has got another answer. */
  close(): void {
    this.#end('client');
  }

  /** Others have fewer streams, and the config has no more. */
  yieldToOthers(): void {
    this.#finish('share');
  }

  #asEvents(exchange: Exchange, response: EngineResponse): Promise<boolean> {
    return response.endless(exchange, [...HEADERS], (sink) => {
      this.#withdraw = exchange.responder.whenStopping?.(() => this.#finish('stopping')) ?? this.#withdraw;
      const outbox = this.#take(exchange, responseChannel(exchange, sink), response);
      if (exchange.method === 'HEAD') sink.end();
      else this.#open(outbox);
    });
  }

  #overWebSocket(exchange: Exchange, response: EngineResponse): Promise<boolean> {
    const { webSocket } = this.#options;
    if (webSocket === null) throw new Error('a request for a WebSocket has no channel for one');
    return response.webSocket(
      exchange,
      () => this.#finish('stopping'),
      ({ connection, figures }) =>
        this.#open(this.#take(exchange, webSocket(exchange, connection, figures), response, figures.sent)),
    );
  }

  /** Takes a batch from the topic. */
  take(batch: LiveBatch): void {
    const frames = this.#form && batch.frames(this.#form, this.#options.key);
    if (frames === null || frames.bytes.length === 0 || this.#outbox?.offer(frames) !== false) return;
    if (this.#catchUp !== null) this.#catchUp.overran();
    else this.cut();
  }

  hold(): Holding | null {
    const exchange = this.#exchange;
    if (exchange === null || exchange.responseMemory === null) return null;
    const held = exchange.responseMemory.hold(exchange.clientIp);
    held.evictable = {
      onlyForOthers: true,
      rate: (now) => this.#outbox?.rate(now) ?? 0,
      evict: () => this.cut(),
    };
    return held;
  }

  cut(): void {
    this.#end('lag');
    this.#outbox?.drop();
    this.#channel?.cut();
  }

  #take(
    exchange: Exchange,
    channel: Channel,
    response: EngineResponse,
    figures: DirectionFigures | null = null,
  ): Outbox {
    const { settings, check } = this.#options;
    const outbox = new Outbox(channel, settings.maxLag, this, figures);
    this.#exchange = exchange;
    this.#channel = channel;
    this.#outbox = outbox;
    this.#form = { framing: channel.framing, withMetadata: settings.includeMetadata, check };
    channel.sink.on('error', () => this.#end('client'));
    exchange.onClose(() => {
      this.#end('client');
      outbox.drop();
      response.done(exchange, outbox.bytes);
    });
    return outbox;
  }

  #open(outbox: Outbox): void {
    const { topic, from, settings } = this.#options;
    const { heartbeatMs, maxDurationMs } = settings;
    this.#timers.push(setInterval(() => this.#beat(), heartbeatMs));
    if (maxDurationMs > 0) this.#timers.push(setTimeout(() => this.#finish('duration'), maxDurationMs));
    // Clients that lose their streams together do not come back together.
    const retryMs = Math.round(settings.retryMs * (1 + Math.random()));
    if (typeof from === 'object' || from === 'earliest') {
      this.#say(({ framing }) => framing.opening(null, retryMs));
      this.#catchUpFrom(from, outbox);
      return;
    }
    topic.join(this);
    this.#say(({ framing }) => framing.opening(topic.id, retryMs));
    if (from === 'lost') this.#say(({ framing }) => framing.write(gapOf(null), topic.id));
  }

  #catchUpFrom(from: Position | 'earliest', outbox: Outbox): void {
    const { topic, key, owner } = this.#options;
    const form = this.#form;
    if (form === null) return;
    this.#catchUp = new CatchUp({ topic, client: this, outbox, key, form, owner, signal: this.#ended.signal });
    this.#catchUp.run(from).then(
      () => {
        this.#catchUp = null;
      },
      // A defect of the gateway: the client may come again.
      () => this.#channel?.cut(),
    );
  }

  #beat(): void {
    if (!this.#outbox?.isEmpty) return;
    const id = this.#catchUp === null ? this.#options.topic.id : null;
    this.#say(({ framing }) => framing.heartbeat(id));
  }

  #say(what: (channel: Channel) => Buffer): void {
    if (this.#channel !== null) this.#outbox?.offer(new Frames(what(this.#channel), 0));
  }

  /** The client has all that was written to it, and may come again. */
  #finish(why: SubscriptionEnd): void {
    if (this.#ended.signal.aborted) return;
    this.#end(why);
    this.#channel?.finish(why === 'stopping');
  }

  #end(why: SubscriptionEnd): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#withdraw();
    this.#options.topic.leave(this);
    this.#outbox?.close();
    this.#options.ended(this.#exchange, why, this.#outbox?.messages ?? 0);
  }
}
