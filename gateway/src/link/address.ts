/** The address of a control plane: its WebSocket, and the base URL of its artifacts. */
import { isLoopback } from '../transport/listen-address.ts';
import { LINK_PATH } from './messages.ts';

/** The address in `--control-plane` or in a notice is malformed or not allowed. */
export class LinkAddressError extends Error {}

export interface ControlPlaneAddress {
  /** `ws:` or `wss:`. */
  readonly socket: URL;
  /** `http:` or `https:`, with `/` at the end: the parent of the WebSocket's path. */
  readonly base: URL;
  /** The API key travels in the clear, and leaves this machine. */
  readonly exposed: boolean;
}

/** `url`: with the path `/ws/data-plane`, under any other, or without a path. Throws LinkAddressError. */
export function controlPlaneAddress(url: string): ControlPlaneAddress {
  const socket = URL.parse(url);
  if (!socket || !['ws:', 'wss:'].includes(socket.protocol)) {
    throw new LinkAddressError(`--control-plane needs a WebSocket URL, such as wss://control.example.com${LINK_PATH}`);
  }
  if (socket.username !== '' || socket.password !== '') {
    throw new LinkAddressError('--control-plane holds credentials: give the API key in GW_API_KEY');
  }
  if (socket.search !== '' || socket.hash !== '') {
    throw new LinkAddressError('--control-plane accepts no query and no fragment');
  }
  if (socket.pathname === '/') socket.pathname = LINK_PATH;
  if (!socket.pathname.endsWith(LINK_PATH)) {
    throw new LinkAddressError(`--control-plane must end in ${LINK_PATH}: ${socket.pathname} is another path`);
  }
  const base = new URL(socket);
  base.protocol = socket.protocol === 'ws:' ? 'http:' : 'https:';
  base.pathname = socket.pathname.slice(0, -LINK_PATH.length + 1);
  const host = socket.hostname.replace(/^\[|\]$/g, '');
  return { socket, base, exposed: socket.protocol === 'ws:' && host !== 'localhost' && !isLoopback(host) };
}

/** Returns the URL of a notice's file: under the control plane's, never elsewhere. Throws LinkAddressError. */
export function artifactUrl(base: URL, path: string): URL {
  const url = URL.parse(`.${path}`, base);
  const isUnder = url !== null && url.origin === base.origin && url.pathname.startsWith(base.pathname);
  if (!path.startsWith('/') || !isUnder || url.username !== '' || url.password !== '') {
    throw new LinkAddressError("the notice's path leads away from the control plane");
  }
  url.hash = '';
  return url;
}
