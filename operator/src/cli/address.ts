import { InvalidArgumentError } from 'commander';

/** Reads `HOST:PORT`, also `[::1]:8080`; a port alone means all addresses. */
export function parseAddress(text: string): { readonly host: string; readonly port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]:|([^:]+):|:)?(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65535) throw new InvalidArgumentError('expected HOST:PORT, such as 127.0.0.1:8080');
  return { host: match[1] ?? match[2] ?? '0.0.0.0', port };
}
