/** Parts of files written by hand that are made from something else. */

/** `text` with what is between two lines replaced. Throws where the lines are not there once each, in this order. */
export function between(text: string, first: string, last: string, content: string): string {
  const [above, below, ...more] = text.split(`${first}\n`);
  const end = below?.indexOf(`${last}\n`) ?? -1;
  if (above === undefined || below === undefined || end === -1 || more.length > 0) {
    throw new Error(`put these two lines, once, around what is generated:\n${first}\n${last}`);
  }
  return `${above}${first}\n${content}${below.slice(end)}`;
}
