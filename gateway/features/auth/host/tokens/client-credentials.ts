/** How the gateway authenticates as a client of an authorization server. */

/** The value of `Authorization`; both parts are form-encoded before they are joined (RFC 6749, section 2.3.1). */
export function basicCredentials(clientId: string, clientSecret: string): string {
  const credentials = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`;
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}
