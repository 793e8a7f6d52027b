/** The service account's connection: one for all searches, which LDAP numbers; made when it is needed, and again. */
import type { Entry, SearchOptions } from 'ldapts';
import { type ConnectionOptions, DirectoryConnection, DirectoryUnavailable } from './connection.ts';
import type { DirectorySettings } from './directory-settings.ts';

export class ServiceConnection {
  readonly #settings: DirectorySettings;
  readonly #options: ConnectionOptions;
  #open: Promise<DirectoryConnection> | null = null;
  #closed = false;

  constructor(settings: DirectorySettings, options: ConnectionOptions) {
    this.#settings = settings;
    this.#options = options;
  }

  /** Rejects with DirectoryUnavailable. */
  async search(base: string, options: SearchOptions): Promise<readonly Entry[]> {
    const reused = this.#open !== null;
    try {
      return await (await this.#connection()).search(base, options);
    } catch (error) {
      // The kept connection was closed by the server meanwhile.
      if (!reused || !(error instanceof DirectoryUnavailable && error.connectionLost)) throw error;
      return (await this.#connection()).search(base, options);
    }
  }

  close(): void {
    this.#closed = true;
    this.#open?.then((connection) => connection.close()).catch(() => {});
  }

  #connection(): Promise<DirectoryConnection> {
    if (this.#closed) return Promise.reject(new DirectoryUnavailable('the gateway no longer uses this directory'));
    if (this.#open) return this.#open;
    const opening = this.#connect();
    this.#open = opening;
    const gone = () => {
      if (this.#open === opening) this.#open = null;
    };
    opening.then((connection) => connection.onClose(gone), gone);
    return opening;
  }

  async #connect(): Promise<DirectoryConnection> {
    const { bindDn, bindPassword } = this.#settings;
    const connection = await DirectoryConnection.open(this.#settings, this.#options);
    try {
      if (bindDn !== '' && !(await connection.bind(bindDn, bindPassword))) {
        throw new DirectoryUnavailable('service_bind_refused: it rejects bind_dn or bind_password');
      }
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }
}
