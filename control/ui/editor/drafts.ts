/**
 * Text that was written and not uploaded yet: kept in this tab over other pages, a reload, and a token that expires,
 * until it is uploaded, discarded, or its author signs out. The tab asks before it closes.
 */
export interface KeptDraft {
  readonly filename: string;
  readonly text: string;
  /** Name of the spec, if it differs from the name of the file. */
  readonly name?: string | undefined;
  /** Of the revision that it began from. */
  readonly etag?: string | null | undefined;
}

const PREFIX = 'gw-draft:';
/** Milliseconds from a change until the browser keeps it, too. */
const SOON_MS = 300;

const drafts = new Map<string, KeptDraft>();
let timer: ReturnType<typeof setTimeout> | undefined;

for (const [name, text] of Object.entries(sessionStorage)) {
  if (name.startsWith(PREFIX)) drafts.set(name.slice(PREFIX.length), JSON.parse(text));
}
addEventListener('pagehide', store);
addEventListener('beforeunload', (event) => {
  store();
  if (drafts.size > 0) event.preventDefault();
});

export const ofSpec = (specId: string): string => `spec:${specId}`;
/** Returns the key of a document that is not a spec yet. */
export const ofNewSpec = (projectId: string): string => `new:${projectId}`;

/** Returns null if no draft is kept. */
export function draftOf(key: string): KeptDraft | null {
  return drafts.get(key) ?? null;
}

export function keepDraft(key: string, { filename, text, name, etag }: KeptDraft): void {
  drafts.set(key, { filename, text, name, etag });
  timer ??= setTimeout(store, SOON_MS);
}

export function dropDraft(key: string): void {
  drafts.delete(key);
  store();
}

/** Asks before an account signs out, since drafts are dropped then. Returns false if the answer is no. */
export function mayDropDrafts(): boolean {
  const question = 'What you wrote and did not upload is lost when you sign out. Sign out?';
  if (drafts.size > 0 && !confirm(question)) return false;
  drafts.clear();
  store();
  return true;
}

/** Stores the drafts. Those that are too large for the browser last until the tab is reloaded, before which it asks. */
function store(): void {
  clearTimeout(timer);
  timer = undefined;
  for (const name of Object.keys(sessionStorage)) {
    if (name.startsWith(PREFIX) && !drafts.has(name.slice(PREFIX.length))) sessionStorage.removeItem(name);
  }
  for (const [key, draft] of drafts) {
    try {
      sessionStorage.setItem(PREFIX + key, JSON.stringify(draft));
    } catch {
      sessionStorage.removeItem(PREFIX + key);
    }
  }
}
