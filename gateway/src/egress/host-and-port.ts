/** Reports whether a URL says a host and a port, and nothing else: no credentials, path, query or fragment. */
export function isHostAndPort({ username, password, pathname, search, hash }: URL): boolean {
  return username === '' && password === '' && /^\/?$/.test(pathname) && search === '' && hash === '';
}
