/** The zone that the name of a host counts for. */

/** Longest label that counts as a registry below a country's domain, such as `co` in `co.uk`. */
const MOST_REGISTRY = 3;
const COUNTRY = 2;

/** Returns the namespace of a Service of Kubernetes, else the registered domain, as far as its labels tell. */
export function zoneOf(name: string): string {
  const labels = name.split('.').filter((label) => label !== '');
  const [, namespace] = /\.([^.]+\.svc(?:\.cluster\.local)?)\.?$/.exec(name) ?? [];
  if (namespace !== undefined) return namespace;
  const [second = '', top = ''] = labels.slice(-2);
  const isRegistry = top.length === COUNTRY && second.length <= MOST_REGISTRY;
  return labels.slice(isRegistry ? -3 : -2).join('.');
}
