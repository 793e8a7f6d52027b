/** Options of `gw-control serve` about TLS. */
import type { KeyPairPaths } from '@gw/gateway/tls-files';
import { Option } from 'commander';

export interface TlsFlags {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

export const tlsOptionList = (): readonly Option[] => [
  new Option('--tls-cert <file>', 'serve HTTPS: PEM certificate and its chain; read again when it changes').env(
    'GW_CONTROL_TLS_CERT',
  ),
  new Option('--tls-key <file>', 'PEM key of the certificate').env('GW_CONTROL_TLS_KEY'),
];

/** Returns null for plain HTTP. */
export function tlsOptions({ tlsCert: cert, tlsKey: key }: TlsFlags): KeyPairPaths | null {
  if (cert === undefined && key === undefined) return null;
  if (cert === undefined || key === undefined) throw new Error('--tls-cert and --tls-key go together: give both');
  return { cert, key };
}
