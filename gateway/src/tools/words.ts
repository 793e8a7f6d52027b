/** Words of texts and of questions, as search compares them (docs/mcp.md#search). */

const STOP = new Set(
  `a all am an and any are as at be been but by can could did do does done for from had has have her his how i id if in into is
  it its just may me my of on one or our out please should so some that the their them then there these they this those
  to up us was we were what when where which who whom whose why will with would you your`.split(/\s+/),
);

/** Phrases of questions, with the words that tools use. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\bwho\s*am\s*i\b|\bmyself\b|\bwhich user am i\b|\blogged in (as|user)\b/gi, ' get user whoami '],
  [/\bmy (own )?(account|profile|user|identity)\b/gi, ' user whoami '],
  [/\bmy\b|\bmine\b|\b(to|by|for) me\b/gi, ' mine '],
  [/\bsign(ed)? (in|on)\b|\blog(ged)? (in|on)\b/gi, ' login '],
  [/\b(sign|log)(ed|ged)? (out|off)\b/gi, ' logout '],
  [/\bwho (has|have|is|are|was)\b|\bwhich\b/gi, ' list '],
  [/\bget rid of\b/gi, ' delete '],
  [/\blook(ing|ed)? (for|up)\b/gi, ' find '],
  [/\bturn(ed)? on\b|\bswitch(ed)? on\b/gi, ' enable '],
  [/\bturn(ed)? off\b|\bswitch(ed)? off\b/gi, ' disable '],
  [/\bpull requests?\b|\bmerge requests?\b/gi, ' pull '],
];

/** Characters of a word by which it is told from others. */
const LONGEST_WORD = 48;

/** Returns words in lower case, without inflection; names such as `listBooks` are two. */
export function terms(text: string): readonly string[] {
  const words = text.replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2').replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2');
  return (words.toLowerCase().match(/[\p{L}\d]+/gu) ?? [])
    .filter((word) => !STOP.has(word))
    .map((word) => stem(word.slice(0, LONGEST_WORD)));
}

/** Words of a question, each once. */
export function questionTerms(question: string): readonly string[] {
  const said = PHRASES.reduce((text, [phrase, word]) => text.replaceAll(phrase, word), question);
  return [...new Set(terms(said))];
}

/** Removes plural and tense, as in English; the rest need not be a word, but is the same for all forms of one. */
export function stem(word: string): string {
  let left = word;
  if (left.length > 4 && left.endsWith('ies')) left = `${left.slice(0, -3)}y`;
  else if (/(ss|sh|ch|x|z)es$/.test(left)) left = left.slice(0, -2);
  else if (left.length > 3) left = left.replace(/(?<=[^su])s$/, '');
  const base = left.replace(/(?<=[aeiouy].*)(?<=.{2})(ing|ed)$/, '');
  if (base === left) left = left.replace(/(?<=.{4})(ation|ion)$/, (ending) => (ending === 'ation' ? 'at' : ''));
  else left = base;
  return left
    .replace(/(?<=.{2})e$/, '')
    .replace(/(?<=.{3})i$/, 'y')
    .replace(/([bdfglmnprt])\1$/, '$1');
}
