/** Redacts secrets in configs of plugin chains: for viewers. */
import { hideCredentials } from '@gw/gateway/spec';
import type { Kysely } from 'kysely';
import type { Schema } from '../../db/schema.ts';
import { redactConfig } from '../plugins/redact-config.ts';
import { configSchemasOf } from '../plugins/store.ts';
import type { SpecOperation } from './schemas.ts';

type Binding = SpecOperation['middlewares'][number];

/** Chain of an operation, or of a binding. */
interface Chain {
  readonly dispatch?: Binding | null;
  readonly middlewares?: readonly Binding[] | null;
}

/** Hides values that the schema of any version of a plugin marks as secret: documents do not name a version. */
export async function redactChains<C extends Chain>(db: Kysely<Schema>, chains: readonly C[]): Promise<C[]> {
  const bindings = chains.flatMap(({ dispatch, middlewares }) => [
    ...(dispatch ? [dispatch] : []),
    ...(middlewares ?? []),
  ]);
  const schemas = await configSchemasOf(db, [...new Set(bindings.map(({ name }) => name))]);
  const redacted = ({ name, config }: Binding): Binding => ({
    name,
    config: (schemas.get(name) ?? []).reduce(
      redactConfig,
      hideCredentials(config) as Parameters<typeof redactConfig>[0],
    ),
  });
  return chains.map((chain) => ({
    ...chain,
    ...(chain.dispatch ? { dispatch: redacted(chain.dispatch) } : {}),
    ...(chain.middlewares ? { middlewares: chain.middlewares.map(redacted) } : {}),
  }));
}
