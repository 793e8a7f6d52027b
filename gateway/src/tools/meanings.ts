/** Synonyms of words in questions, and the actions of tools (docs/mcp.md#search). */
import { stem, terms } from './words.ts';

/** A tool's action on its subject. */
export type Deed = 'read' | 'create' | 'update' | 'delete';

const DEEDS: Readonly<Record<Deed, string>> = {
  read: `get list show see view find fetch read look lookup download search query retrieve display browse count check describe
    inspect export history info`,
  create:
    'create add new make open start register insert post send submit upload invite issue publish schedule trigger write',
  update:
    'update change edit modify rename set replace patch move adjust configure put enable disable close reopen resize',
  delete: 'delete remove destroy drop erase purge revoke kick unset unlink detach unassign',
};
/** Actions by stem of a word. */
export const DEED_OF: ReadonlyMap<string, Deed> = new Map(
  (Object.keys(DEEDS) as Deed[]).flatMap((deed) => terms(DEEDS[deed]).map((word): [string, Deed] => [word, deed])),
);

const OF_METHODS: Readonly<Record<string, Deed>> = {
  GET: 'read',
  HEAD: 'read',
  QUERY: 'read',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'delete',
};
/** Beginnings of tool names, by action: words that a question may use in their place. */
const USUAL: Readonly<Record<Deed, readonly string[]>> = {
  read: ['get', 'list', 'search', 'retriev'],
  create: ['creat', 'add', 'post'],
  update: ['updat', 'set', 'chang'],
  delete: ['delet', 'remov', 'destroy'],
};

/** Returns the action of an HTTP method at a path: `POST` to one thing changes it, to a list it adds to it. */
export function deedOf(method: string, path: string): Deed | undefined {
  if (method !== 'POST') return OF_METHODS[method];
  return path.endsWith('}') ? 'update' : 'create';
}

/** Things that one API calls so and another otherwise: all words of a line may stand for each other. */
const ALIKE = `
  repository repo project
  organization org organisation
  branch ref reference
  message chat
  channel conversation
  user account
  user member people person
  whoami authenticat
  whoami current
  whoami account
  whoami identity
  mine authenticat
  mine current
  login auth session token
  money balance
  card payment
  charge pay payment
  bill invoice
  purchase order
  picture image photo avatar
  file content document
  folder directory
  machine server instance
  job task run
  reboot restart
  rerun retry
  run execut
  webhook hook
  permission role access
  lock freez
  cancel void abort stop
  cancel delete
  approv review
  trigger dispatch
  kick remov
  mail email
  phone number
  place location
  price cost amount
  shop store
  topic subject
  vote rating
  star stargazer`;

/** Synonyms in other APIs, by stem. */
export const ALSO: ReadonlyMap<string, readonly string[]> = (() => {
  const also = new Map<string, Set<string>>();
  for (const line of ALIKE.trim().split('\n')) {
    const words = line.trim().split(/\s+/).map(stem);
    for (const word of words) {
      const others = also.get(word) ?? new Set();
      also.set(word, others);
      for (const other of words) if (other !== word) others.add(other);
    }
  }
  return new Map([...also].map(([word, others]) => [word, [...others]]));
})();

/** Words of a deed that tools may use for it. */
export function wordsOf(deed: Deed): readonly string[] {
  return USUAL[deed].map(stem);
}
