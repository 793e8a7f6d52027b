/**
 * Objects of the cluster's API in the types of `kubernetes-models`, so that a field which a kind does not have, or of
 * another type, fails to compile (docs/decisions.md#objects-typed). Types alone: nothing of the package is loaded.
 *
 * The compiler finds unknown fields in literals at typed places: not in an object that is spread, nor in the result of
 * a callback of `map` without a declared type.
 */
import type { JsonObject } from '@gw/gateway/artifact';
import type { TypeMeta } from '@kubernetes-models/base';
import { isRecord, type KubeObject, type ObjectMeta } from './kube-object.ts';

/** An object, or a part of one, as builders write it: an optional field may also be undefined. */
export type Part<T> = T extends object
  ? { readonly [K in keyof T]: Partial<Pick<T, K>> extends Pick<T, K> ? Part<T[K]> | undefined : Part<T[K]> }
  : T;

type Manifest<T extends TypeMeta> = Part<Omit<T, 'metadata' | keyof TypeMeta>> &
  Pick<T, keyof TypeMeta> & { readonly metadata: Part<ObjectMeta> };

/** Returns the object without undefined fields. */
export function manifest<T extends TypeMeta>(object: Manifest<T>): KubeObject {
  const { apiVersion, kind, metadata, ...rest } = object;
  return { apiVersion, kind, metadata: defined<ObjectMeta>(metadata), ...defined<object>(rest) };
}

/** Passes through a field whose content the API server checks, not the operator. */
export function given<T>(value: JsonObject): Part<T>;
export function given<T>(value: JsonObject | undefined): Part<T> | undefined;
export function given(value: JsonObject | undefined): unknown {
  return value;
}

/** Removes undefined values at every depth. */
function defined<T>(value: Part<T>): T;
function defined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(defined);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => (each === undefined ? [] : [[name, defined(each)]])),
  );
}
