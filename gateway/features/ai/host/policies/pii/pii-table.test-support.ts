/** Texts with personal data in them, and others that only look so: for tests, which report precision and recall. */
import type { PiiKind } from './kinds.ts';

/** Fictitious data: test numbers of networks, examples of standards, made-up keys. */
export const PERSONAL: Readonly<Record<PiiKind, readonly string[]>> = {
  email: [
    ...['ann@example.com', 'bob.smith@mail.example.co.uk', 'x_y-z+tag@sub.example.org', 'A.B@EXAMPLE.COM'],
    ...["o'neil@example.ie", '1234@example.net', 'anna@xn--mller-kva.example', '_ops@example.io'],
    ...['a@b-c.museum', 'first.last%dept@example.travel'],
  ],
  phone: [
    ...['+1 415 555 0132', '+49 30 1234567', '+44 20 7946 0958', '+44 (0)20 7946 0958', '+4915112345678'],
    ...['(415) 555-0132', '415-555-0132', '1-800-555-0199', '030 1234567', '01 23 45 67 89'],
  ],
  card: [
    ...['4111 1111 1111 1111', '5555555555554444', '378282246310005', '3782-822463-10005', '6011111111111117'],
    ...['3530111333300000', '30569309025904', '4012-8888-8888-1881', '2223003122003222', '6200000000000005'],
  ],
  iban: [
    ...['DE89370400440532013000', 'DE89 3704 0044 0532 0130 00', 'GB82 WEST 1234 5698 7654 32'],
    ...['FR1420041010050500013M02606', 'ES9121000418450200051332', 'IT60X0542811101000000123456', 'NL91ABNA0417164300'],
    ...['BE68 5390 0754 7034', 'CH93 0076 2011 6238 5295 7', 'at611904300234573201'],
  ],
  national_id: [
    ...['123-45-6789', '078-05-1120', '219 09 9999', 'AB123456C', 'AB 12 34 56 C', '12345678Z', 'X1234567L'],
    ...['RSSMRA85T10A562S', '1 84 12 76 451 089 46', '184127645108946'],
  ],
  api_key: [
    ...[
      `sk-${'aB3'.repeat(8)}`,
      `sk-ant-${'aB3-'.repeat(10)}x`,
      `sk_live_${'a1'.repeat(12)}`,
      `AKIA${'A1B2'.repeat(4)}`,
    ],
    ...[`ghp_${'aB1'.repeat(12)}`, `github_pat_${'aB1_'.repeat(8)}x`, `glpat-${'aB1_'.repeat(5)}`],
    ...[
      `AIza${'aB1-_'.repeat(7)}`,
      `xoxb-${'123456-'.repeat(3)}x`,
      `eyJ${'aB1'.repeat(6)}.${'cD2'.repeat(9)}.${'eF3'.repeat(7)}`,
    ],
  ],
};

export const HARMLESS: Readonly<Record<PiiKind, readonly string[]>> = {
  email: [
    ...['@alice', 'alice at example.com', 'a@b', 'root@localhost', 'foo@', '@example.com', 'a @ b.com', 'example.com'],
    ...['@scope/pkg', 'git@v2'],
  ],
  phone: [
    ...[
      '2024-11-25',
      '192.168.100.200',
      '10:30:45',
      'v1.22.333',
      '1,234,567,890',
      '3.14159265358',
      '978-3-16-148410-0',
    ],
    ...['2024-11-25 10:30:00', '01-02-2024', '12 345 678'],
  ],
  card: [
    ...['4111 1111 1111 1112', '1234567890123456', '0000 0000 0000 0000', '4111-1111-1111', '5555555555554445'],
    ...['41111111111111111111111', '9999888877776666', '378282246310006', '4111.1111.1111.1111', '1111222233334444'],
  ],
  iban: [
    ...[
      'DE89370400440532013001',
      'DE00370400440532013000',
      'GB82 WEST 1234 5698 7654',
      'XX89370400440532013000',
      'DE89',
    ],
    ...[
      'FR1420041010050500013M02607',
      'NL91ABNA04171643001',
      'CH93 0076 2011',
      'ES912100',
      'IT60X0542811101000000123457',
    ],
  ],
  national_id: [
    ...[
      '000-12-3456',
      '666-12-3456',
      '912-12-3456',
      '123-00-4567',
      '123-45-0000',
      '12345678A',
      'AB123456E',
      'QQ123456C',
    ],
    ...['RSSMRA85T10A562T', '184127645108947'],
  ],
  api_key: [
    ...[
      'sk-short',
      'skateboard',
      'AKIA123',
      'ghp_abc',
      'eyJhbGci',
      'risk-assessment-of-everything',
      'sk_live_',
      'xoxb-1',
    ],
    ...['npm_config_registry', 'SG.x.y'],
  ],
};

export const SENTENCES: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `It is ${text}, as far as I know.`,
  (text) => `1. Name: Ann\n2. Value: ${text}\n3. End`,
  (text) => `Grüße an „${text}“ und alle anderen 👋`,
  (text) => `{"value": "${text}"} (${text})`,
];
