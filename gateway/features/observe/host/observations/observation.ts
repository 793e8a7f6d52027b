/** Observes requests by a config: an objective for their duration, fields, and which of them go into the access log. */

import { type EndedRequest, type Exchange, isObject, type JsonObject, text } from '../../../kit.ts';
import type { Figures, Outcome } from './figures.ts';
import { type ObservedField, observedField, type SeenConsumers } from './observed-field.ts';
import type { SlowLog } from './slow-log.ts';

const SWITCHED = 101;
const CLIENT_CLOSED = 499;
const FAILED = 500;

export interface ObservationServices {
  readonly figures: Figures;
  readonly consumers: SeenConsumers;
  readonly slowLog: SlowLog;
}

export class Observation {
  readonly #figures: Figures;
  readonly #slowLog: SlowLog;
  /** Infinity without an objective. */
  readonly #slowAfter: number;
  readonly #logSample: number;
  readonly #logged: readonly { readonly start: string; readonly field: ObservedField }[];
  readonly #traced: readonly { readonly key: string; readonly field: ObservedField }[];
  readonly #counted: readonly ObservedField[];

  /** `config`: with the properties of `observability`. Throws ObservationSettingsError. */
  constructor(config: JsonObject, { figures, consumers, slowLog }: ObservationServices) {
    const { slow_after: slowAfter, log_sample: logSample, fields: named } = config;
    const fields = Object.entries(isObject(named) ? (named as JsonObject) : {}).map(([name, field]) =>
      observedField(name, field, consumers),
    );
    this.#figures = figures;
    this.#slowLog = slowLog;
    this.#slowAfter = typeof slowAfter === 'number' ? slowAfter : Number.POSITIVE_INFINITY;
    this.#logSample = typeof logSample === 'number' ? logSample : 1;
    this.#logged = fields.filter(({ logged }) => logged).map((field) => ({ start: `${text(field.name)}:`, field }));
    this.#traced = fields.filter(({ traced }) => traced).map((field) => ({ key: `gw.observed.${field.name}`, field }));
    this.#counted = fields.filter(({ labels }) => labels !== null);
  }

  /** Returns the logged fields, as a JSON object; null if the request has none of them. */
  logged(exchange: Exchange): string | null {
    let members = '';
    for (const { start, field } of this.#logged) {
      const value = field.shown(exchange);
      if (value !== undefined) members += `${members === '' ? '' : ','}${start}${text(value)}`;
    }
    return members === '' ? null : `{${members}}`;
  }

  /** Returns attributes for the request's span. */
  attributes(exchange: Exchange): Record<string, string> {
    const attributes: Record<string, string> = {};
    for (const { key, field } of this.#traced) {
      const value = field.shown(exchange);
      if (value !== undefined) attributes[key] = value;
    }
    return attributes;
  }

  /** Reports whether the access log is to have no line of it; those that failed or were slow always have one. */
  leavesOut({ status, seconds }: EndedRequest): boolean {
    if (this.#logSample === 1 || status >= FAILED || seconds > this.#slowAfter) return false;
    return Math.random() >= this.#logSample;
  }

  count(ended: EndedRequest): void {
    const { exchange, api, status, seconds } = ended;
    const statusClass = `${Math.floor(status / 100)}xx`;
    for (const { name, labels, read } of this.#counted) {
      const value = labels?.of(read(exchange)) ?? '';
      this.#figures.observed.count(api, name, value, statusClass);
      if (status !== SWITCHED) this.#figures.duration.observe(seconds, api, name, value);
    }
    this.#measure(ended);
  }

  #measure(ended: EndedRequest): void {
    const outcome = this.#outcome(ended);
    if (outcome === null) return;
    this.#figures.objective.count(ended.method, ended.route, ended.api, outcome);
    if (ended.seconds > this.#slowAfter) this.#slowLog.add(ended);
  }

  /**
   * Returns null if the request has no outcome: a WebSocket lasts as long as it is used, and a client may leave early.
   */
  #outcome({ status, seconds }: EndedRequest): Outcome | null {
    if (this.#slowAfter === Number.POSITIVE_INFINITY || status === SWITCHED) return null;
    if (status >= FAILED) return 'failed';
    if (seconds > this.#slowAfter) return 'slow';
    return status === CLIENT_CLOSED ? null : 'met';
  }
}
