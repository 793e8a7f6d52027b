/** Subjects with wildcards: `*` stands for one token, `>` at the end for one or more. */

/** Reports whether every subject that `pattern` matches is one that `other` matches, too. */
export function covers(other: string, pattern: string): boolean {
  const [outer, inner] = [other.split('.'), pattern.split('.')];
  for (const [i, token] of outer.entries()) {
    const wanted = inner[i];
    if (wanted === undefined) return false;
    if (token === '>') return true;
    if (wanted === '>' || (token !== '*' && token !== wanted)) return false;
  }
  return outer.length === inner.length;
}
