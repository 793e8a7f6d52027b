/** Addresses of named upstreams: what is bound to their policies when an artifact is served (docs/upstreams.md). */
import { isObject, kindOf } from '../../spec/json.ts';
import { UpstreamError } from './upstream-error.ts';

/** An address of an upstream. */
export interface BoundAddress {
  /** Scheme, host and port. */
  readonly url: string;
  /** A whole number from 1. */
  readonly weight: number;
}

/** Addresses by the name of their upstream. */
export type Bindings = Readonly<Record<string, readonly BoundAddress[]>>;

const MOST_WEIGHT = 1000;
const MOST_ADDRESSES = 1000;

/** Reads parsed YAML or JSON. Throws UpstreamError, which says what to write. */
export function bindingsOf(value: unknown, allowPlaintext: boolean): Bindings {
  if (!isObject(value))
    throw new UpstreamError(`it is ${kindOf(value)}: write upstreams by name, each with its addresses`);
  return Object.fromEntries(
    Object.entries(value).map(([name, addresses]) => [name, addressesOf(name, addresses, allowPlaintext)]),
  );
}

function addressesOf(name: string, value: unknown, allowPlaintext: boolean): readonly BoundAddress[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new UpstreamError(`upstream "${name}" needs a list of addresses, such as [{ url: "https://10.0.0.1:8443" }]`);
  if (value.length > MOST_ADDRESSES)
    throw new UpstreamError(`upstream "${name}" has ${value.length} addresses: at most ${MOST_ADDRESSES} are possible`);
  const addresses = value.map((each) => addressOf(name, each, allowPlaintext));
  const twice = addresses.find(({ url }, i) => addresses.findIndex((other) => other.url === url) !== i);
  if (twice) throw new UpstreamError(`upstream "${name}" has ${twice.url} twice: remove one, or give it a weight of 2`);
  return addresses;
}

function addressOf(name: string, value: unknown, allowPlaintext: boolean): BoundAddress {
  const { url, weight = 1, ...others } = isObject(value) ? value : { url: value };
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw new UpstreamError(
      `an address of upstream "${name}" has an unknown field "${other}": known are url and weight`,
    );
  if (typeof weight !== 'number' || !Number.isInteger(weight) || weight < 1 || weight > MOST_WEIGHT)
    throw new UpstreamError(`an address of upstream "${name}" needs a weight from 1 to ${MOST_WEIGHT}`);
  return { url: originOf(name, url, allowPlaintext), weight };
}

function originOf(name: string, text: unknown, allowPlaintext: boolean): string {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new UpstreamError(`an address of upstream "${name}" needs "url": https:// with host and port`);
  if (url.username !== '' || url.password !== '')
    throw new UpstreamError(
      `an address of upstream "${name}" holds credentials in its URL: use a header or an authentication plugin`,
    );
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw new UpstreamError(
      `address ${url.origin} of upstream "${name}" has a path or a query: write the path in "path" of the config`,
    );
  if (url.protocol === 'http:' && !allowPlaintext)
    throw new UpstreamError(
      `address ${url.origin} of upstream "${name}" is plaintext: use https://, or allow it with --allow-plaintext-upstream`,
    );
  return url.origin;
}

/** Throws UnboundUpstreams if one of the upstreams has no addresses. */
export function requireBound(names: readonly string[], bindings: Bindings): void {
  const missing = names.filter((name) => !Object.hasOwn(bindings, name));
  const [first] = missing;
  if (first === undefined) return;
  const listed = missing.map((name) => `"${name}"`).join(', ');
  const subject =
    missing.length === 1 ? `upstream ${listed} of the artifact has` : `upstreams ${listed} of the artifact have`;
  const present = Object.keys(bindings).sort().join(', ') || 'none';
  throw new UnboundUpstreams(
    `${subject} no addresses (there are addresses of: ${present}): list them in the file of --upstreams, such as ${first}: [{ url: "https://10.0.0.1:8443" }]`,
  );
}

/** An artifact names upstreams that have no addresses. */
export class UnboundUpstreams extends UpstreamError {}
