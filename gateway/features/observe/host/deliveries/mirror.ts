/** Copies of requests on their way to one server, whose answers are ignored. */

import {
  CircuitBreaker,
  type Exchange,
  type HeaderList,
  type HttpCaller,
  headerOf,
  type JsonObject,
  Outage,
  type RequestPart,
  RequestSlot,
} from '../../../kit.ts';
import { ArrivingCopy } from './arriving-copy.ts';
import { CopiedHeaders, passingOf } from './copied-headers.ts';
import type { DeliveryServices } from './deliveries.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import type { Delivered } from './figures.ts';
import { MAX_ANSWER, reasonOf } from './target.ts';
import { millisecondsOf, numberOf, targetUrl } from './target-settings.ts';

/** Copies that are sent at once; a server that needs longer for them has others wait, and those beyond dropped. */
const PARALLEL = 64;

/** Path parts that URL parsing changes: segments of dots, and backslashes, which it reads as slashes. */
const RESOLVED = /\\|\/(?:\.|%2e){1,2}(?:;|\/|$)/i;

interface Copy {
  readonly method: string;
  readonly url: URL;
  readonly headers: HeaderList;
  readonly passing: HeaderList;
  readonly body: Uint8Array | null;
}

export class Mirror {
  readonly #http: HttpCaller;
  readonly #base: URL;
  readonly #basePath: string;
  readonly #headers: CopiedHeaders;
  readonly #timeoutMs: number;
  readonly #maxBodyBytes: number;
  readonly #queue: DeliveryQueue<Copy>;
  readonly #breaker = new CircuitBreaker();
  readonly #outage: Outage;

  /** `config`: with the properties of `fire-and-forget`. Throws DeliverySettingsError. */
  constructor(config: JsonObject, { http, deliveries, plugin, log }: DeliveryServices) {
    this.#http = http;
    this.#base = targetUrl(config);
    const { origin, pathname } = this.#base;
    this.#basePath = pathname.replace(/\/+$/, '');
    this.#headers = new CopiedHeaders(config);
    this.#timeoutMs = millisecondsOf(config, 'timeout');
    this.#maxBodyBytes = numberOf(config, 'max_body_bytes');
    this.#outage = new Outage(origin, log);
    this.#queue = deliveries.open<Copy>({
      plugin,
      settings: {
        ...{ maxEntries: 1, maxBytes: 0, maxDelayMs: 0, parallel: PARALLEL },
        maxQueueBytes: numberOf(config, 'max_queue_bytes'),
      },
      deliver: ([copy], signal) => (copy === undefined ? Promise.resolve('dropped') : this.#deliver(copy, signal)),
      overflows: () => log('error', `${origin}: copies are dropped: more wait for it than there is room for`),
    });
  }

  /**
   * Sends a copy of the request as it is now; if its body is still arriving, once it has arrived. `path`: below the
   * base URL, with or without a query; empty: the request's. Returns a function that gives up an incomplete copy, or
   * null.
   */
  copy(exchange: Exchange, path: string): (() => void) | null {
    // A handshake is useless without the frames that follow.
    if (exchange.upgrade !== null) return null;
    const url = this.#urlOf(path === '' ? exchange.path : path, exchange.query);
    const { body, bodyStream } = exchange;
    const length = body?.length ?? Number(headerOf(exchange.headers, 'content-length') ?? 0);
    if (url === null || length > this.#maxBodyBytes) {
      this.#queue.drop();
      return null;
    }
    const head = { method: exchange.method, url, headers: this.#headers.of(exchange), passing: passingOf(exchange) };
    const bytes = url.href.length + head.headers.reduce((sum, each) => sum + each.length, 0);
    if (body !== null || bodyStream === null) {
      this.#queue.add({ ...head, body }, bytes + (body?.length ?? 0));
      return null;
    }
    const room = this.#queue.room();
    const dropped = (count: () => void) => () => {
      room.release();
      count();
    };
    const copy = new ArrivingCopy(room, this.#maxBodyBytes, {
      copied: (whole) => this.#queue.addHeld({ ...head, body: whole }, room),
      tooLong: dropped(() => this.#queue.drop()),
      noRoom: dropped(() => this.#queue.overflow()),
    });
    if (!room.take(bytes)) {
      this.#queue.overflow();
      return null;
    }
    bodyStream.copyTo(copy);
    return () => {
      if (copy.giveUp()) dropped(() => this.#queue.drop())();
    };
  }

  /** Returns null if URL parsing would change the path. */
  #urlOf(path: string, query: string | undefined): URL | null {
    const mark = path.indexOf('?');
    const written = this.#basePath + (mark < 0 ? path : path.slice(0, mark));
    const queries = [this.#base.search.slice(1), mark < 0 ? '' : path.slice(mark + 1), query ?? ''];
    const search = queries.filter((each) => each !== '').join('&');
    const url = URL.parse(`${this.#base.origin}${written}${search === '' ? '' : `?${search}`}`);
    return RESOLVED.test(written) ? null : url;
  }

  async #deliver({ url, ...copy }: Copy, signal: AbortSignal): Promise<Delivered> {
    if (!this.#breaker.admits()) return 'dropped';
    try {
      const limits = { timeoutMs: this.#timeoutMs, signal, discards: true, maxBytes: MAX_ANSWER };
      await this.#http.call({ ...copy, url: url.href, ...limits });
      this.#breaker.succeeded();
      this.#outage.succeeded();
      return 'sent';
    } catch (error) {
      if (signal.aborted) this.#breaker.abandoned();
      else {
        this.#breaker.failed();
        this.#outage.failed(reasonOf(error, url));
      }
      return 'failed';
    }
  }
}

/** Copies of a request, made when it goes to its dispatcher. */
class MirroredRequest implements RequestPart {
  readonly owner = null;
  readonly stored = null;
  readonly tap = null;
  readonly logged = '';
  readonly #mirrors: { readonly mirror: Mirror; readonly path: string }[] = [];
  readonly #unfinished: (() => void)[] = [];

  add(mirror: Mirror, path: string): void {
    this.#mirrors.push({ mirror, path });
  }

  dispatched(exchange: Exchange): void {
    for (const { mirror, path } of this.#mirrors) {
      const giveUp = mirror.copy(exchange, path);
      if (giveUp !== null) this.#unfinished.push(giveUp);
    }
  }

  finished(): void {
    for (const giveUp of this.#unfinished) giveUp();
  }
}

const slot = new RequestSlot<MirroredRequest>();

/** Has a copy made when the request goes to its dispatcher. `path`: see `Mirror.copy`. */
export function copyAtDispatch(exchange: Exchange, mirror: Mirror, path: string): void {
  const part = slot.of(exchange) ?? new MirroredRequest();
  part.add(mirror, path);
  slot.set(exchange, part);
}
