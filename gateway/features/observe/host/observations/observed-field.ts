/** A value of each request that a config has logged, traced or counted. */

import { type Exchange, headerOf, holdsCredential, isObject, type Json, type JsonObject } from '../../../kit.ts';
import { FirstValues, type LabelValues, ListedValues } from './label-values.ts';

/** The config cannot be used; stops the load (exit 1). Names the property. */
class ObservationSettingsError extends Error {}

/** Longest value in log and trace, in characters; longer ones are cut. */
const LONGEST = 256;
const CONSUMER = 'x-auth-consumer';

type Source = (exchange: Exchange) => string | undefined;

/** Consumers that have been label values, by field; a process has one. */
export type SeenConsumers = Map<string, Set<string>>;

export interface ObservedField {
  readonly name: string;
  readonly logged: boolean;
  readonly traced: boolean;
  /** Null if it is not counted. */
  readonly labels: LabelValues | null;
  /** Returns the value for log and trace; undefined if the request has no value. */
  shown(exchange: Exchange): string | undefined;
  /** As it is. */
  read: Source;
}

/** Throws ObservationSettingsError. */
export function observedField(name: string, config: Json, consumers: SeenConsumers): ObservedField {
  if (!isObject(config)) throw new ObservationSettingsError(`fields.${name} must be an object`);
  const { from, log, trace, metrics } = config as JsonObject;
  const read = sourceOf(name, String(from));
  return {
    name,
    logged: log !== false,
    traced: trace !== false,
    labels: metrics === true ? labelsOf(name, config as JsonObject, consumers) : null,
    read,
    shown: (exchange) => cut(read(exchange)),
  };
}

function sourceOf(field: string, from: string): Source {
  if (from === 'consumer') return (exchange) => headerOf(exchange.headers, CONSUMER);
  const [kind, named = ''] = from.split(/:(.*)/s);
  if (named === '') throw new ObservationSettingsError(`fields.${field}.from: a name must follow the colon`);
  if (kind === 'context') return (exchange) => exchange.context?.get(named);
  const header = named.toLowerCase();
  if (holdsCredential(header)) {
    throw new ObservationSettingsError(`fields.${field}.from: ${header} can hold a credential, which is never shown`);
  }
  return (exchange) => headerOf(exchange.headers, header);
}

function labelsOf(field: string, config: JsonObject, consumers: SeenConsumers): LabelValues {
  const { from, values, max_values: most } = config;
  if (Array.isArray(values)) return new ListedValues(values.map(String));
  if (from !== 'consumer') {
    throw new ObservationSettingsError(
      `fields.${field}: list the values that the metrics are to tell apart; without a list only consumers can be counted`,
    );
  }
  const seen = consumers.get(field) ?? new Set();
  consumers.set(field, seen);
  return new FirstValues(seen, Number(most));
}

function cut(value: string | undefined): string | undefined {
  return value === undefined || value.length <= LONGEST ? value : `${value.slice(0, LONGEST).toWellFormed()}…`;
}
