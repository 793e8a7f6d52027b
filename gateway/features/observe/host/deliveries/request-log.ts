/** Entries about requests that have ended, on their way to one server. */

import {
  type EndedRequest,
  type Exchange,
  type HeaderList,
  HOPS,
  isObject,
  type JsonObject,
  type RequestPart,
  RequestSlot,
} from '../../../kit.ts';
import type { DeliveryServices } from './deliveries.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import { entryWriter } from './log-entry.ts';
import { Target } from './target.ts';
import { DeliverySettingsError, headersOf, millisecondsOf, numberOf, targetUrl } from './target-settings.ts';

interface Entry {
  readonly line: string;
  /** Hops of the logged request. */
  readonly hops: number;
}

interface Format {
  readonly type: string;
  body(lines: readonly string[]): string;
}

const FORMATS: Readonly<Record<string, Format>> = {
  json: { type: 'application/json', body: (lines) => `[${lines.join(',')}]` },
  ndjson: { type: 'application/x-ndjson', body: (lines) => `${lines.join('\n')}\n` },
};

export class RequestLog {
  readonly #write: (ended: EndedRequest) => string;
  readonly #queue: DeliveryQueue<Entry>;

  /** `config`: with the properties of `http-log`. Throws DeliverySettingsError. */
  constructor(config: JsonObject, { http, deliveries, plugin, log }: DeliveryServices) {
    const { fields, batch, format: formatName } = config;
    const write = entryWriter(Array.isArray(fields) ? fields.map(String) : []);
    if (write === null) throw new DeliverySettingsError('fields names one that does not exist');
    const format = FORMATS[String(formatName)];
    if (format === undefined || !isObject(batch)) throw new DeliverySettingsError('format is json or ndjson');
    const url = targetUrl(config);
    const own = headersOf(config['headers'], 'headers');
    const headers = own.includes('content-type') ? own : ['content-type', format.type, ...own];
    const limits = batch as JsonObject;
    const retryForMs = millisecondsOf(config, 'retry_for');
    const target = new Target(http, url, { timeoutMs: millisecondsOf(config, 'timeout'), retryForMs }, log);
    this.#write = write;
    this.#queue = deliveries.open<Entry>({
      plugin,
      settings: {
        maxEntries: numberOf(limits, 'max_entries'),
        maxBytes: numberOf(limits, 'max_bytes'),
        maxDelayMs: millisecondsOf(limits, 'max_delay'),
        maxQueueBytes: numberOf(config, 'max_queue_bytes'),
        // In order, and a server that is ill is not asked twice at once.
        parallel: 1,
      },
      deliver: (batch, signal) => {
        const body = format.body(batch.map(({ line }) => line));
        return target.deliver({ method: 'POST', url: url.href, headers, body, passing: hopsAfter(batch) }, signal);
      },
      overflows: () => log('error', `${url.origin}: entries are dropped: more wait for it than there is room for`),
    });
  }

  add(ended: EndedRequest): void {
    const line = this.#write(ended);
    this.#queue.add({ line, hops: ended.exchange.hops }, Buffer.byteLength(line));
  }
}

/** Limits entries about deliveries of entries, if the server is this gateway. */
function hopsAfter(batch: readonly Entry[]): HeaderList {
  return [HOPS, String(1 + batch.reduce((most, { hops }) => Math.max(most, hops), 0))];
}

/** The logs that a request goes into when it has ended. */
class LoggedRequest implements RequestPart {
  readonly owner = null;
  readonly stored = null;
  readonly tap = null;
  readonly logged = '';
  readonly #logs = new Set<RequestLog>();

  add(log: RequestLog): void {
    this.#logs.add(log);
  }

  finished(ended: EndedRequest): void {
    for (const log of this.#logs) log.add(ended);
  }
}

const slot = new RequestSlot<LoggedRequest>();

/** Has an entry made about the request when it has ended; one for each log, however often it is called. */
export function logAtEnd(exchange: Exchange, log: RequestLog): void {
  const part = slot.of(exchange) ?? new LoggedRequest();
  part.add(log);
  slot.set(exchange, part);
}
