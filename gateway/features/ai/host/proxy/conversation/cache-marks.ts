/** `cache_control` of a conversation (docs/ai.md): the marked parts, and whether there are any. */
import type { Cached, Conversation, Turn } from './conversation.ts';
import type { Members } from './json-reader.ts';

/** Returns `cache_control` as the client wrote it. Throws AiRefusal if it is not an object. */
export function cacheOf(object: Members): Cached {
  const mark = object.member('cache_control');
  return mark === null ? {} : { cache: mark.object };
}

/** Marks the last part if the whole message is marked. */
export function markAtEnd<T extends Cached>(parts: readonly T[], { cache }: Cached): readonly T[] {
  const last = parts.at(-1);
  return cache === undefined || last === undefined ? parts : [...parts.slice(0, -1), { ...last, cache }];
}

export function saysCache({ cache, instructions, turns, tools }: Conversation): boolean {
  return cache !== undefined || [...instructions, ...tools, ...turns.flatMap(placesOf)].some((each) => each.cache);
}

function placesOf(turn: Turn): readonly Cached[] {
  switch (turn.role) {
    case 'user':
      return turn.parts;
    case 'tool':
      return [turn, ...turn.parts];
    case 'assistant':
      return [...turn.text, ...turn.calls];
    case 'system':
      return turn.text;
  }
}
