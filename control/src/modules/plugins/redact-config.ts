/** Redacts secrets in configs: for the audit log, and for viewers. */
import type { ProjectPlugin } from '@gw/gateway/compiler';
import { isReference, marksOf, replaceMarked } from '@gw/gateway/plugin-config';
import { hideCredentials } from '@gw/gateway/spec';

type Config = NonNullable<ProjectPlugin['config']>;

/** Placeholder for a secret. */
export const REDACTED = '[redacted]';

/**
 * Replaces all values that the plugin's schema marks `writeOnly`; references to secrets stay, since they reveal
 * nothing. A plugin without a schema marks nothing as secret.
 */
export function redactConfig(config: Config, schema: ProjectPlugin['configSchema'] | null): Config {
  if (!schema) return hideCredentials(config);
  const { secrets } = marksOf(schema);
  if (secrets.includes('')) return {};
  return replaceMarked(hideCredentials(config), secrets, (value) => (isReference(value) ? value : REDACTED));
}
