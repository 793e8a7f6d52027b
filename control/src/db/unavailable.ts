/** Recognises an unavailable database among all errors: `pg` and sockets throw no class of their own for it. */
import { messageOf } from '@gw/gateway/message-of';
import { type DatabaseConnection, type Driver, PostgresDialect, type PostgresDialectConfig } from 'kysely';

/** The connection broke, could not be made, or none became free in time: a retry may succeed. */
export class DatabaseUnavailable extends Error {
  constructor(cause: unknown) {
    super(messageOf(cause) || 'no address of the database accepts connections', { cause });
  }
}

/** Called for each error that the database answers with. */
export type OnDatabaseError = (error: unknown) => void;

/** Kysely's dialect, whose queries and transactions throw DatabaseUnavailable if the database does not answer. */
export class TellingDialect extends PostgresDialect {
  readonly #onError: OnDatabaseError;

  constructor(config: PostgresDialectConfig, onError: OnDatabaseError = () => {}) {
    super(config);
    this.#onError = onError;
  }

  override createDriver(): Driver {
    const driver = super.createDriver();
    const acquire = driver.acquireConnection.bind(driver);
    const telling = new WeakSet<DatabaseConnection>();
    driver.acquireConnection = async (options) => {
      const connection = await acquire(options).catch(tell);
      // The same connection returns after its release.
      if (telling.has(connection)) return connection;
      telling.add(connection);
      const execute = connection.executeQuery.bind(connection);
      connection.executeQuery = <R>(...args: Parameters<typeof execute>) =>
        execute<R>(...args).catch((error: unknown) => {
          this.#onError(error);
          return tell(error);
        });
      return connection;
    };
    return driver;
  }
}

function tell(error: unknown): never {
  throw isWithoutAnswer(error) ? new DatabaseUnavailable(error) : error;
}

/** Answers are DatabaseError, defects are TypeError and the like. */
function isWithoutAnswer(error: unknown): boolean {
  // A host with several addresses, all of which refuse connections.
  if (error instanceof AggregateError) return true;
  return error instanceof Error && error.constructor === Error;
}
