/** Characters of JSON that make a token, roughly and over models. */
const CHARACTERS_PER_TOKEN = 4;

/** What a tool's definition costs a model's context: an estimate. */
export function tokensOf(definition: object): number {
  return Math.ceil(JSON.stringify(definition).length / CHARACTERS_PER_TOKEN);
}
