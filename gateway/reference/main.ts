/** The page of an API reference: shows the documents that `documents.json` beside it lists, in Scalar. */

/** What `documents.json` says. */
interface Listing {
  readonly title: string;
  readonly documents: readonly { readonly name: string; readonly url: string }[];
  /** Where requests go, and the path from this page that passes them on; null: where the documents say. */
  readonly server: { readonly url: string; readonly through: string } | null;
}

interface Scalar {
  createApiReference(element: string, configuration: object): unknown;
}

declare global {
  interface Window {
    readonly Scalar: Scalar;
  }
}

export {};

const notice = (text: string) => {
  const element = document.getElementById('notice');
  if (element === null) return;
  element.textContent = text;
  element.hidden = false;
};

/** Sends requests for the server through a path of this page's own origin, since the server allows no other origin. */
function passedOn({ url, through }: { readonly url: string; readonly through: string }): typeof fetch {
  const { origin } = new URL(url);
  const start = new URL(through, location.href).href;
  return async (input, init) => {
    const request = new Request(input, init);
    const { pathname, search, origin: to } = new URL(request.url);
    if (to !== origin) return fetch(request);
    const { method, headers, signal } = request;
    // As bytes: a stream cannot be sent over HTTP/1.1.
    const body = method === 'GET' || method === 'HEAD' ? null : await request.arrayBuffer();
    return fetch(`${start}${pathname}${search}`, { method, headers, signal, body, credentials: 'omit' });
  };
}

/** The console's key for the token of its session. */
const TOKEN = 'gw-token';

interface ArtifactDocuments {
  readonly documents: readonly { readonly name: string; readonly api: boolean; readonly document: object }[];
}

/** In the console: the documents of one artifact, which the control plane tells to whom the session is. */
async function showArtifact(id: string): Promise<void> {
  const token = sessionStorage.getItem(TOKEN);
  if (token === null) return notice('Sign in to the console in this tab, and open the API reference from there.');
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`/artifacts/${encodeURIComponent(id)}/documents`, { headers });
  if (!response.ok) return notice(`The documents of the artifact cannot be read: ${response.status}.`);
  const { documents }: ArtifactDocuments = await response.json();
  document.title = 'API reference · gw console';
  const apis = documents.filter(({ api }) => api);
  if (apis.length === 0) return notice('The artifact has no OpenAPI document.');
  const urlOf = (name: string) => new URL(`documents/${encodeURIComponent(name)}`, location.href).href;
  const byUrl = new Map(documents.map(({ name, document: each }) => [urlOf(name), each]));
  const customFetch: typeof fetch = async (input, init) => {
    const found = byUrl.get(new Request(input, init).url);
    return found === undefined ? new Response(null, { status: 404 }) : Response.json(found);
  };
  window.Scalar.createApiReference('#reference', {
    sources: apis.map(({ name }) => ({ title: name, url: urlOf(name) })),
    customFetch,
    hideTestRequestButton: true,
    ...QUIET,
  });
}

/** Nothing that leads to services of others. */
const QUIET = {
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
};

async function show(): Promise<void> {
  const artifact = new URLSearchParams(location.search).get('artifact');
  if (artifact !== null) return showArtifact(artifact);
  const response = await fetch('documents.json');
  if (!response.ok) return notice(`The list of APIs cannot be read: ${response.status}.`);
  const { title, documents, server }: Listing = await response.json();
  document.title = title;
  if (documents.length === 0) return notice('There is no OpenAPI document here.');
  window.Scalar.createApiReference('#reference', {
    sources: documents.map(({ name, url }) => ({ title: name, url: new URL(url, location.href).href })),
    ...(server === null ? {} : { servers: [{ url: server.url }], customFetch: passedOn(server) }),
    ...QUIET,
  });
}

show().catch((error: unknown) => notice(`The API reference cannot be shown: ${String(error)}.`));
