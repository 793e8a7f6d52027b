const DECIMAL = /^(0|[1-9]\d*)$/;

/**
 * Reports whether the first version of an object is older than the second. Versions of one kind are growing numbers,
 * which Kubernetes guarantees since 1.35 and every API server on etcd has always used; other values are never older.
 */
export function isOlder(version: string | undefined, than: string | undefined): boolean {
  if (version === undefined || than === undefined || !DECIMAL.test(version) || !DECIMAL.test(than)) return false;
  return version.length === than.length ? version < than : version.length < than.length;
}
