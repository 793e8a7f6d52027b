/** Settings of connections to a PostgreSQL server: URL, timeouts, and detection of a lost server. */
import { Socket } from 'node:net';
import type { ClientConfig } from 'pg';
import { valueTypes } from './value-types.ts';

/** Maximum milliseconds of a statement, and of an idle transaction. */
const STATEMENT_MS = 30_000;
/** A connection without a byte for this long (milliseconds) is dead: the server ends statements sooner. */
const SILENCE_MS = 40_000;
const CONNECT_MS = 10_000;

const SSL_MODES = new Set(['disable', 'require', 'verify-ca', 'verify-full']);

/**
 * Returns the URL as `pg` takes it, with `sslmode` as in libpq: `require` encrypts, `verify-full` also checks the
 * certificate, against `sslrootcert` if it is given. Throws for settings that it cannot keep.
 */
function connectionString(url: string): string {
  if (!URL.canParse(url))
    throw new Error('the database URL is not valid: write postgres://USER:PASSWORD@HOST:PORT/NAME');
  const parsed = new URL(url);
  const mode = parsed.searchParams.get('sslmode');
  if (mode !== null && !SSL_MODES.has(mode)) {
    throw new Error(`sslmode=${mode} of the database URL is not supported: use ${[...SSL_MODES].join(', ')}`);
  }
  if (mode !== null) parsed.searchParams.set('uselibpqcompat', 'true');
  return parsed.href;
}

/** Returns settings for queries: each ends, with an answer or an error. */
export function queryConnection(url: string): ClientConfig {
  return {
    ...patientConnection(url),
    statement_timeout: STATEMENT_MS,
    idle_in_transaction_session_timeout: STATEMENT_MS,
    stream: () => {
      const socket = new Socket();
      const seconds = SILENCE_MS / 1000;
      return socket.setTimeout(SILENCE_MS, () => socket.destroy(new Error(`the database was silent for ${seconds} s`)));
    },
  };
}

/** Returns settings for long operations: migrations, and waiting for those of another replica. */
export function patientConnection(url: string): ClientConfig {
  return {
    connectionString: connectionString(url),
    application_name: 'gw-control',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: CONNECT_MS,
    types: valueTypes,
  };
}
