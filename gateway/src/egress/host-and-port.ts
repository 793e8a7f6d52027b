/** Reports whether a URL has a host and a port alone: no credentials, path, query or fragment. */
export function isHostAndPort({ username, password, pathname, search, hash }: URL): boolean {
  return username === '' && password === '' && /^\/?$/.test(pathname) && search === '' && hash === '';
}
