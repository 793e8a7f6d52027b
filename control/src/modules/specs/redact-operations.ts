/** Operations without the secrets of their plugin configs: for who may only look. */
import type { Kysely } from 'kysely';
import type { Schema } from '../../db/schema.ts';
import { redactConfig } from '../plugins/redact-config.ts';
import { configSchemasOf } from '../plugins/store.ts';
import type { SpecOperation } from './schemas.ts';

type Binding = SpecOperation['middlewares'][number];

/** What the schema of any version of a plugin marks is a secret: documents do not say which version they are for. */
export async function redactOperations(
  db: Kysely<Schema>,
  operations: readonly SpecOperation[],
): Promise<SpecOperation[]> {
  const bindings = operations.flatMap(({ dispatch, middlewares }) => [...(dispatch ? [dispatch] : []), ...middlewares]);
  const schemas = await configSchemasOf(db, [...new Set(bindings.map(({ name }) => name))]);
  const redacted = ({ name, config }: Binding): Binding => ({
    name,
    config: (schemas.get(name) ?? []).reduce(redactConfig, config as Parameters<typeof redactConfig>[0]),
  });
  return operations.map((operation) => ({
    ...operation,
    dispatch: operation.dispatch && redacted(operation.dispatch),
    middlewares: operation.middlewares.map(redacted),
  }));
}
