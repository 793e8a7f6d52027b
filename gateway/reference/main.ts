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

async function show(): Promise<void> {
  const response = await fetch('documents.json');
  if (!response.ok) return notice(`The list of APIs cannot be read: ${response.status}.`);
  const { title, documents, server }: Listing = await response.json();
  document.title = title;
  if (documents.length === 0) return notice('There is no OpenAPI document here.');
  window.Scalar.createApiReference('#reference', {
    sources: documents.map(({ name, url }) => ({ title: name, url: new URL(url, location.href).href })),
    ...(server === null ? {} : { servers: [{ url: server.url }], customFetch: passedOn(server) }),
    // Nothing that leads to services of others.
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
  });
}

show().catch((error: unknown) => notice(`The API reference cannot be shown: ${String(error)}.`));
