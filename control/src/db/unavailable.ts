/** Tells a database that is away from all other errors: what `pg` and sockets throw has no class of its own. */
import { messageOf } from '@gw/gateway/message-of';
import { type DatabaseConnection, type Driver, PostgresDialect, type PostgresDialectConfig } from 'kysely';

/** The connection broke, none could be made, or none came free in time: the same may succeed later. */
export class DatabaseUnavailable extends Error {
  constructor(cause: unknown) {
    super(messageOf(cause) || 'no address of the database accepts connections', { cause });
  }
}

/** Called for each error that the database answers with. */
export type OnDatabaseError = (error: unknown) => void;

/** Kysely's, whose queries and transactions throw DatabaseUnavailable where the database gives no answer. */
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
      // It comes again when it was released.
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
  // A host of several addresses, none of which takes connections.
  if (error instanceof AggregateError) return true;
  return error instanceof Error && error.constructor === Error;
}
