/** The form of API keys. */

/** Characters of an API key; tokens of service accounts have about a thousand. */
export const MAX_API_KEY = 4096;

export function isApiKey(text: string): boolean {
  return text.length <= MAX_API_KEY && /^[\x21-\x7e]+$/.test(text);
}
