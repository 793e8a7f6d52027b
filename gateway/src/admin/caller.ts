/**
 * Clients that may use the admin port, which has no credentials: pages in browsers may not, whatever name they give the
 * gateway's address (DNS rebinding) and wherever they are from (cross-site requests).
 */
import { type Exchange, type HeaderList, headerOf } from '../exchange.ts';
import { Admission } from '../headers/admission.ts';
import { parseAddress } from '../headers/client-ip.ts';
import { mediaTypeOf } from '../headers/media-type.ts';
import { type Problem, problem } from '../problems.ts';

/** Paths of probes and scrapers, open under any host name: they reveal nothing of use to a page. */
const OPEN = new Set(['/health', '/ready', '/metrics']);

/**
 * Set by programs whose way to the gateway changes its name: the API server's proxy of pods passes on the name that it
 * was called by itself. Pages cannot set a header that begins with `Sec-` (Fetch standard, forbidden request-headers).
 */
const ADMIN_CLIENT = 'sec-gw-admin';

const HEADERS = new Admission([ADMIN_CLIENT, 'sec-fetch-site', 'sec-fetch-dest']);

export class AdminCallers {
  readonly #names: ReadonlySet<string>;

  /** Names, without ports, that it is asked by besides addresses and `localhost`. */
  constructor(names: readonly string[]) {
    this.#names = new Set(['localhost', ...names.map((name) => name.toLowerCase())]);
  }

  /** Returns why the request gets no answer, or null. */
  refusal(exchange: Exchange): Problem | null {
    if (OPEN.has(exchange.path)) return null;
    const isChange = exchange.method === 'POST' || exchange.method === 'PUT';
    return this.#checked(exchange, (headers, host) =>
      isChange ? changeRefusal(headers, host, exchange.scheme) : null,
    );
  }

  /** Returns why a request of the reference page may not go through the gateway, or null. */
  tryRefusal(exchange: Exchange): Problem | null {
    return this.#checked(exchange, (headers, host) => tryRefusal(headers, host, exchange.scheme));
  }

  #checked(
    exchange: Exchange,
    more: (headers: HeaderList, host: string | undefined) => Problem | null,
  ): Problem | null {
    const { headers, repeated } = HEADERS.admit(exchange.rawHeaders);
    if (exchange.fault !== null) return problem('malformed-request', exchange.fault);
    if (repeated !== null) return problem('malformed-request', `There is more than one ${repeated} header.`);
    const host = headerOf(headers, 'host');
    if (host !== undefined && headerOf(headers, ADMIN_CLIENT) === undefined && !this.#knows(host)) {
      return problem(
        'forbidden',
        `The admin port does not accept the host name "${nameOf(host)}": use its address or localhost, or allow the name with --admin-hosts.`,
      );
    }
    return more(headers, host);
  }

  #knows(host: string): boolean {
    const name = nameOf(host);
    return parseAddress(name.replace(/^\[|\]$/g, '')) !== undefined || this.#names.has(name);
  }
}

/** Refuses a request that changes something. */
function changeRefusal(headers: HeaderList, host: string | undefined, scheme: string): Problem | null {
  const origin = headerOf(headers, 'origin');
  if (origin !== undefined && origin.toLowerCase() !== `${scheme}://${host?.toLowerCase()}`) {
    return problem('forbidden', 'The admin port accepts no requests from pages of other origins.');
  }
  // Pages may send text and forms anywhere, without a preflight.
  if (mediaTypeOf(headerOf(headers, 'content-type')) === 'application/json') return null;
  return problem('unsupported-media-type', 'Content-Type must be application/json.');
}

/**
 * Returns why a request may not use it, or null. Only scripts of the page itself may: browsers set `Sec-Fetch-…`, which
 * pages cannot set, and send other values for links, images and frames.
 */
function tryRefusal(headers: HeaderList, host: string | undefined, scheme: string): Problem | null {
  const origin = headerOf(headers, 'origin');
  const isOwn = origin === undefined || origin.toLowerCase() === `${scheme}://${host?.toLowerCase()}`;
  const isFetch = headerOf(headers, 'sec-fetch-dest') === 'empty';
  if (isOwn && isFetch && headerOf(headers, 'sec-fetch-site') === 'same-origin') return null;
  return problem('forbidden', 'Only the reference page itself sends requests here: use the address of the gateway.');
}

/** Lower case, without port and without the root's dot. */
function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}
