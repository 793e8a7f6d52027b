/** `files` in the config of `ai-proxy`: the target of files and batches, and how their ids are bound to consumers. */

import type { JsonObject } from '../../../../kit.ts';
import { BoundIds } from './bound-ids.ts';
import { objectOf, type Target } from './targets.ts';

export interface FilesSettings {
  readonly ids: BoundIds;
  /** Target of requests whose `ai.target` names no other. */
  readonly target: Target;
  /** Unauthenticated clients share their files. */
  readonly allowsAnonymous: boolean;
}

/**
 * `otherwise`: the target of requests that name no other. Returns null if the config has no files; throws if it cannot
 * be used.
 */
export function filesSettings(
  config: JsonObject,
  targets: ReadonlyMap<string, Target>,
  otherwise: Target | null,
): FilesSettings | null {
  const files = objectOf(config['files']);
  if (files === null) return null;
  const { id_key: key, target: named, anonymous } = files;
  const target = typeof named === 'string' ? targets.get(named) : otherwise;
  if (target === undefined) throw new Error('files.target must be one of the names in targets');
  if (target === null) throw new Error('files needs a target: files.target, default_target or provider');
  const why = filesObstacle(target);
  if (why !== null) throw new Error(`files cannot go to ${target.name}: ${why}`);
  return { ids: new BoundIds(String(key)), target, allowsAnonymous: anonymous === 'allow' };
}

/** Returns the feature of a target that files would bypass; null if it has no such feature. */
export function filesObstacle(target: Target): string | null {
  if (target.endpoints.length > 1) return 'it has several endpoints, and a file is known at one of them only';
  return target.permitsAll ? null : 'it has allow or deny, and models are named inside of files';
}
