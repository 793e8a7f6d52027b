/** Opens streams for clients, up to the limit of each config. */

import {
  type CounterInfo,
  type DescribedMessages,
  type Exchange,
  headerOf,
  LABELS,
  type LabelledCounter,
  type OwnerPath,
  ownerOf,
  type RequestPart,
  RequestSlot,
  type SampledInfo,
  ShareTree,
} from '../../../kit.ts';
import { MessageCheck } from './message-check.ts';
import type { Position } from './position.ts';
import { SubscribeError } from './subscribe-error.ts';
import { Subscriber, type SubscriberOptions, type SubscriptionEnd } from './subscriber.ts';
import type { SubscriptionSettings } from './subscription-settings.ts';
import type { Topic } from './topic.ts';

export const STREAMS: CounterInfo = {
  help: 'Streams of events that have ended',
  labels: {
    end: '`client`: it left; `lag`: it read too slowly, for `max_lag` or for the memory that others needed; `duration`: it had to open the stream again; `share`: its client had most streams while another opened one; `stopping`: the gateway stopped',
  },
};

export const OPEN_STREAMS: SampledInfo = {
  type: 'gauge',
  help: 'Streams of events that are open, or being opened',
  labels: {},
};

export const DROPPED_MESSAGES: CounterInfo = {
  help: 'Messages that no client got, since they are not as the API description has them (`validate: drop`)',
  labels: { plugin: LABELS.plugin },
};

const LAST_EVENT_ID = 'last-event-id';
const slot = new RequestSlot<EndedStream>();

/** How it ended, for the access log. */
class EndedStream implements RequestPart {
  readonly owner = null;
  readonly stored = null;
  readonly tap = null;
  readonly logged: string;

  constructor(why: SubscriptionEnd, messages: number) {
    this.logged = `,"stream_ended_by":"${why}","stream_messages":${messages}`;
  }

  finished(): void {}
}

export interface Subscription {
  readonly topic: Topic;
  readonly settings: SubscriptionSettings;
  /** Identifies the config whose clients are counted together. */
  readonly config: string;
  /** Key of the messages that the client wants; null: all. */
  readonly key: Buffer | null;
  /** Plugin with the config, for the metrics. */
  readonly plugin: string;
}

export interface SubscriberFigures {
  /** Streams that have ended, by the reason. */
  readonly streams: LabelledCounter;
  /** Messages that were dropped, by plugin. */
  readonly dropped: LabelledCounter;
}

export class Subscribers {
  readonly #figures: SubscriberFigures;
  readonly #checks = new WeakMap<DescribedMessages, MessageCheck>();
  /** Streams that are open, or being opened, by config. */
  readonly #clients = new Map<string, ShareTree<OpenStream>>();

  constructor(figures: SubscriberFigures) {
    this.#figures = figures;
  }

  /** Streams that are open, or being opened. */
  get count(): number {
    return [...this.#clients.values()].reduce((sum, { weight }) => sum + weight, 0);
  }

  /** Rejects with SubscribeError. */
  async open(exchange: Exchange, { topic, settings, config, key, plugin }: Subscription): Promise<Subscriber> {
    const stream: OpenStream = { subscriber: null };
    const owner = ownerOf(exchange);
    const giveBack = this.#take(config, settings.maxClients, owner, stream);
    let release = () => {};
    try {
      release = await topic.hold(settings.timeoutMs);
      const ended: SubscriberOptions['ended'] = (exchange, why, messages) => {
        release();
        giveBack();
        if (exchange === null) return;
        slot.set(exchange, new EndedStream(why, messages));
        this.#figures.streams.count(why);
      };
      const webSocket = exchange.upgrade === null ? null : (await import('./web-socket-channel.ts')).webSocketChannel;
      const check = this.#checkOf(exchange, plugin);
      const from = startOf(exchange, topic, settings);
      stream.subscriber = new Subscriber({ topic, settings, owner, key, check, from, webSocket, ended });
      return stream.subscriber;
    } catch (error) {
      release();
      giveBack();
      throw error;
    }
  }

  /** Returns null if its operation lets all messages through. */
  #checkOf({ operation }: Exchange, plugin: string): MessageCheck | null {
    const described = operation?.streamed ?? null;
    if (described === null) return null;
    const known = this.#checks.get(described);
    const check = known ?? new MessageCheck(described, (dropped) => this.#figures.dropped.add(dropped, plugin));
    this.#checks.set(described, check);
    return check;
  }

  /** Past the limit, ends the oldest stream of the client that has most. */
  #take(config: string, most: number, owner: OwnerPath, stream: OpenStream): () => void {
    const streams = this.#clients.get(config) ?? new ShareTree<OpenStream>();
    if (streams.weight >= most) {
      const other = streams.yielding(owner);
      if (!other?.value.subscriber) throw new SubscribeError('full', `${streams.weight} clients stream it already`);
      other.value.subscriber.yieldToOthers();
    }
    this.#clients.set(config, streams);
    const entry = streams.add(owner, stream);
    return () => {
      streams.remove(entry);
      if (streams.weight === 0 && this.#clients.get(config) === streams) this.#clients.delete(config);
    };
  }
}

/** Null: it is being opened. */
interface OpenStream {
  subscriber: Subscriber | null;
}

/** Returns the client's start. Throws SubscribeError if its `Last-Event-ID` is malformed. */
function startOf(exchange: Exchange, topic: Topic, { from }: SubscriptionSettings): SubscriberOptions['from'] {
  const last = lastEventIdOf(exchange);
  if (topic.position === null) return last === '' ? 'latest' : 'lost';
  if (last === '') return from;
  const position: Position | null = topic.source.parse(last);
  if (position === null) throw new SubscribeError('bad-position', 'the Last-Event-ID is not one of this topic');
  return position;
}

/** Clients of WebSockets in browsers set no headers. */
function lastEventIdOf({ headers, query }: Exchange): string {
  return headerOf(headers, LAST_EVENT_ID) ?? new URLSearchParams(query).get(LAST_EVENT_ID) ?? '';
}
