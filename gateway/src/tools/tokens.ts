/** Characters of JSON that make a token, roughly and over models. */
const CHARACTERS_PER_TOKEN = 4;

/** Estimates the tokens that a tool's definition takes in a model's context. */
export function tokensOf(definition: object): number {
  return Math.ceil(JSON.stringify(definition).length / CHARACTERS_PER_TOKEN);
}
