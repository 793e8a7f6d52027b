/** Which of the media types of a description is answered with (RFC 9110, section 12.5.1). */
import { covers, mediaTypeOf, parametersOf, specificity } from '../headers/media-type.ts';

/** Types that represent a range if the client names none in it. */
const CONCRETE: Readonly<Record<string, string>> = {
  '*/*': 'application/json',
  'application/*': 'application/json',
  'text/*': 'text/plain',
  'image/*': 'image/png',
};

export interface ChosenType {
  /** As described. */
  readonly range: string;
  /** Without `*`. */
  readonly type: string;
}

/**
 * Returns the type that the client prefers, or the first: for a status with no acceptable type, any is better than
 * nothing.
 */
export function chooseType(described: readonly string[], accept: string | undefined): ChosenType | null {
  const wanted = (accept ?? '*/*').split(',').map((element) => ({
    range: mediaTypeOf(element),
    quality: qualityOf(element),
  }));
  let best: ChosenType | null = null;
  let quality = -1;
  for (const range of described) {
    const type = concrete(range, wanted);
    const own = wanted
      .filter((each) => covers(each.range, type))
      .sort((a, b) => specificity(b.range) - specificity(a.range))[0];
    const liked = own?.quality ?? 0;
    if (liked <= quality) continue;
    best = { range, type };
    quality = liked;
  }
  return best;
}

function concrete(range: string, wanted: readonly { readonly range: string; readonly quality: number }[]): string {
  if (!range.includes('*')) return range;
  const named = wanted
    .filter((each) => each.quality > 0 && !each.range.includes('*') && covers(range, each.range))
    .sort((a, b) => b.quality - a.quality)[0];
  return named?.range ?? CONCRETE[range] ?? 'application/octet-stream';
}

function qualityOf(element: string): number {
  const text = parametersOf(element)?.get('q');
  const quality = text === undefined ? 1 : Number(text);
  return quality >= 0 && quality <= 1 ? quality : 0;
}
