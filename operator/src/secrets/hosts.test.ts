import { describe, expect, it } from 'vitest';
import { ANNOTATION_HOSTS, LABEL_CREDENTIAL, refusalToSend } from './hosts.ts';

function refusal(hosts: string | undefined, url: string, label: string | null = 'true'): string | undefined {
  const metadata = {
    name: 'token',
    ...(label === null ? {} : { labels: { [LABEL_CREDENTIAL]: label } }),
    ...(hosts === undefined ? {} : { annotations: { [ANNOTATION_HOSTS]: hosts } }),
  };
  return refusalToSend(metadata, new URL(url));
}

describe('a Secret is sent', () => {
  it.each([
    ['api.example.org', 'https://api.example.org/specs'],
    ['API.example.org.', 'https://api.EXAMPLE.org./specs'],
    ['api.example.org', 'https://api.example.org:8443'],
    ['api.example.org:443', 'https://api.example.org'],
    ['api.example.org:80', 'http://api.example.org'],
    ['api.example.org:8443', 'https://api.example.org:8443'],
    ['a.example, *.example.org\nc.example', 'https://deep.api.example.org'],
    ['192.0.2.7:9443', 'https://192.0.2.7:9443'],
    ['[2001:db8::1]', 'https://[2001:db8:0::1]:9443'],
    ['[2001:db8::1]:443', 'https://[2001:db8::1]'],
  ])('with "%s" to %s', (hosts, url) => {
    expect(refusal(hosts, url)).toBeUndefined();
  });
});

describe('a Secret stays', () => {
  it.each([
    ['without the annotation', undefined, 'https://api.example.org'],
    ['for another name', 'api.example.org', 'https://evil.example'],
    ['for a name that only ends the same', 'example.org', 'https://evilexample.org'],
    ['for the suffix itself', '*.example.org', 'https://example.org'],
    ['for a name that only ends like the suffix', '*.example.org', 'https://evilexample.org'],
    ['for a name that only begins the same', 'api.example.org', 'https://api.example.org.evil.example'],
    ['for user information that looks like the name', 'api.example.org', 'https://api.example.org@evil.example'],
    ['for another port', 'api.example.org:8443', 'https://api.example.org'],
    ['for a star alone', '*', 'https://api.example.org'],
    ['for a star and a dot', '*.', 'https://api.example.org'],
    ['for an entry that is a URL', 'https://api.example.org', 'https://api.example.org'],
    ['for the empty annotation', ' , ', 'https://api.example.org'],
  ])('%s', (_, hosts, url) => {
    expect(refusal(hosts, url)).toContain(`in the annotation ${ANNOTATION_HOSTS}`);
  });

  it('without the label, whatever the annotation says', () => {
    for (const label of [null, 'false', 'TRUE', ''])
      expect(refusal('api.example.org', 'https://api.example.org', label)).toContain(`${LABEL_CREDENTIAL}: "true"`);
  });

  it('and says what to add, not what is there', () => {
    const text = refusal('internal.example', 'https://evil.example:8443/x?y');
    expect(text).toBe(
      'Secret "token" does not allow being sent to evil.example:8443: ' +
        'if it should, give it "evil.example:8443" in the annotation gw.dev/hosts',
    );
  });
});
