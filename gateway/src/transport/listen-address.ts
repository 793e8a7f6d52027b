/** Listening addresses, and error messages for unusable ones. */
import { type AddressInfo, isIP } from 'node:net';
import { parseAddress } from '../headers/client-ip.ts';
import { errorCode } from '../text/error-code.ts';
import { messageOf } from '../text/message-of.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** The address cannot be listened on. */
class BindError extends Error {}

/** Rejects with BindError; `option` is the flag to change. */
export async function bind<T>(
  { host, port }: ListenAddress,
  option: string,
  listen: (host: string, port: number) => Promise<T>,
): Promise<T> {
  try {
    return await listen(host, port);
  } catch (error) {
    const code = errorCode(error);
    const reason =
      code === 'EADDRINUSE'
        ? 'it is in use: stop the other process or choose another port'
        : code === 'EACCES'
          ? 'that needs more privileges: choose a port above 1023'
          : messageOf(error);
    throw new BindError(`cannot listen on ${host}:${port} (${option}): ${reason}`, { cause: error });
  }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || parseAddress(host)?.range() === 'loopback';
}

/** `127.0.0.1:8080`, `[::1]:8080`, or `off`. */
export function shownAddress(address: AddressInfo | null): string {
  if (!address) return 'off';
  return isIP(address.address) === 6 ? `[${address.address}]:${address.port}` : `${address.address}:${address.port}`;
}

/** Reports whether the address stands for all interfaces. */
export function isAnyAddress(address: string): boolean {
  return address === '0.0.0.0' || address === '::';
}

/** The address by which this machine reaches a server: `127.0.0.1:8080` also if the server listens on all addresses. */
export function reachableAddress({ address, port }: AddressInfo): string {
  const host = isAnyAddress(address) ? '127.0.0.1' : address;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
