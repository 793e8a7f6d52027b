/** Parts of names of headers that hold credentials, `x-api-key` for example. */
const CREDENTIAL =
  /authorization|cookie|token|secret|pass|credential|signature|api-?key|jwt|assertion|dpop|client-cert|(^|-)(otp|pin|sig|key)($|-)/;

/** Reports whether a header of this name, in lower case, holds a credential as a rule. */
export function holdsCredential(name: string): boolean {
  return CREDENTIAL.test(name);
}
