/** Reads the text of a parameter as the JSON value that its schema's types ask for. */

/** A JSON number, as RFC 8259 writes it. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The value in the first type that fits; text that fits none stays a string, for the schema to refuse. */
export function readAs(text: string, types: readonly string[]): unknown {
  for (const type of types) {
    switch (type) {
      case 'integer':
      case 'number':
        if (NUMBER.test(text)) return Number(text);
        break;
      case 'boolean':
        if (text === 'true') return true;
        if (text === 'false') return false;
        break;
      case 'null':
        if (text === '') return null;
        break;
    }
  }
  return text;
}

/** Percent-decodes; `undefined` for what is not valid UTF-8. `plus`: `+` is a space, as in forms. */
export function decode(text: string, plus: boolean): string | undefined {
  const spaced = plus && text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}
