/** Settings that configs of deliveries share, read once secrets are filled in. */
import {
  type HeaderList,
  isFieldValue,
  isObject,
  isToken,
  type JsonObject,
  MAX_HEADERS,
  MAX_VALUE,
  transportHeaders,
} from '../../../kit.ts';

/** The config cannot be used; stops the load (exit 1). Names the property, and no value. */
export class DeliverySettingsError extends Error {}

export function numberOf(config: JsonObject, name: string): number {
  const value = config[name];
  if (typeof value !== 'number') throw new DeliverySettingsError(`${name} must be a number`);
  return value;
}

/** Milliseconds of a setting in seconds. */
export function millisecondsOf(config: JsonObject, name: string): number {
  return Math.round(numberOf(config, name) * 1000);
}

export function targetUrl(config: JsonObject): URL {
  const { url: text } = config;
  const url = typeof text === 'string' ? URL.parse(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new DeliverySettingsError('url must be an http:// or https:// URL');
  }
  if (url.username !== '' || url.password !== '') {
    throw new DeliverySettingsError('url holds credentials: send them in headers');
  }
  return url;
}

/** Headers to set, names in lower case. */
export function headersOf(given: unknown, property: string): HeaderList {
  if (!isObject(given)) return [];
  const fields = Object.entries(given).flatMap(([spelt, value]) => {
    const name = headerName(spelt, property);
    if (typeof value !== 'string' || value.length > MAX_VALUE || !isFieldValue(value)) {
      throw new DeliverySettingsError(`${property}: the value of ${name} is not a header's value`);
    }
    return [name, value];
  });
  if (fields.length > MAX_HEADERS * 2) throw new DeliverySettingsError(`${property}: too many headers`);
  return fields;
}

export function headerName(spelt: string, property: string): string {
  const name = spelt.toLowerCase();
  if (!isToken(name)) throw new DeliverySettingsError(`${property}: "${name}" is not a header name`);
  if (transportHeaders.has(name)) throw new DeliverySettingsError(`${property}: the header ${name} is the gateway's`);
  return name;
}
