/** Texts that people and programs send where a schema allows any text, by the name of the value. */
import type { Random } from '../../gateway/src/examples/random.ts';

const NAMES = [
  ...[
    'Jane Doe',
    "Siobhán O'Connor",
    'Jean-Luc D’Arcy',
    'José García Márquez',
    'Łukasz Żółć',
    '山田 太郎',
    'Иван Петров',
  ],
  ...[
    'Smith & Sons Ltd.',
    'AT&T',
    "Ben & Jerry's",
    'Müller GmbH + Co. KG',
    'Nguyễn Văn A',
    'عمر الخطيب',
    'Select Union Bank',
  ],
];
const ADDRESSES = [
  ...['221B Baker Street, London NW1 6XE', 'Bahnhofstrasse 12, 8001 Zürich', "4, rue de l'Église, 75015 Paris"],
  ...[
    '1600 Pennsylvania Ave. NW; Washington, DC 20500',
    'Apt #5, 10/12 Main St.',
    '東京都千代田区丸の内1丁目9-1',
    'São Paulo',
  ],
];
const EMAILS = [
  ...['jane.doe@example.com', "miles.o'brien+news@example.org", 'Jane Doe <jane@example.com>', 'info@müller.example'],
];
const URLS = [
  ...[
    'https://example.com/',
    'https://www.example.com/shop/items?id=42&ref=mail#reviews',
    'http://localhost:3000/callback',
  ],
  ...['https://hooks.example.com/services/T024/B01?token=abc123', 'https://cdn.example.com/img/photo%20(1).jpg'],
  ...[
    'https://user.example.org/~jane/index.php?page=2',
    'https://example.com/login?next=https%3A%2F%2Fapp.example.com%2F',
  ],
];
const SENTENCES = [
  ...[
    "It's 5 o'clock somewhere, isn't it?",
    'Please select a size from the list, and order by Friday.',
    'Say "hi" to her for me!',
  ],
  ...[
    "Don't drop the table; it isn't ours -- it's the landlord's.",
    'Terms & conditions apply (see page 3).',
    '50% off 2 or more = £10!',
  ],
  ...["L'échéance est fixée à la fin du mois, n'est-ce pas ?", 'Können Sie mir bitte bis morgen antworten? Danke!'],
  ...[
    '¿Dónde está la biblioteca? Está al lado del museo.',
    'これはテストです。よろしくお願いします。',
    'Это не первый раз, когда мы пишем.',
  ],
  ...[
    'Meeting notes: 1) budget 2) hiring; next call at 10:30 <tbd>',
    'The cat sat where the rats were and ran; who cares?',
  ],
];
const LONG_TEXTS = [
  '# Release 2.1\n\n* Adds **dark mode**\n* Fixes [#42](https://example.com/issues/42)\n\n```js\nconst total = items.length;\n```\n',
  '## Steps to reproduce\n\n1. Run `npm install && npm test`\n2. Open /etc/hosts\n\n> It fails with `Error: ENOENT`\n\n| a | b |\n|---|---|\n| 1 | 2 |',
  'Stainless-steel kettle, 1.7 l, 2200 W. Boils in under 3 minutes; auto shut-off & "keep warm" (60–100 °C). Box: 24 × 18 × 22 cm.',
  "Women's trail shoe – size 38½, colour: black/red. 100 % recycled mesh; it doesn't slip. Was $129.99, now $89 (-31 %)!",
  'Hi team,\n\nI can’t log in since the update: the page says "session expired" and then redirects to /login?error=1.\n\nThanks,\nJane',
  'Hello {{first_name}}, your order #{{order_id}} has shipped. Track it at https://example.com/t?id={{code}}.',
  '<p>Dear customer,</p><p>Thank you for your order of <b>2 items</b>.</p>',
];
const SEARCHES = [
  ...[
    'running shoes',
    '"exact phrase" -excluded',
    'c++ or c#',
    'coffee AND tea',
    'price > 10 and price < 20',
    'größe 42 rot',
  ],
  ...[
    "men's shirt",
    '何か面白い本',
    'zapatos de niño',
    'site:example.com (news OR blog)',
    'is:open label:"good first issue"',
    "name eq 'Jane'",
  ],
];
const IDENTIFIERS = [
  ...[
    '42',
    'usr_9s6XKzkNRiz8i3',
    'c7a1f0b2',
    '550e8400-e29b-41d4-a716-446655440000',
    'order-2026-0042',
    'A1B2',
    'main',
  ],
  ...[
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2ln',
    'dGhpcyBpcyBhIGN1cnNvcg==',
    'sk_test_4eC39HqLyjWDarjtT1zdp7dc',
    'AbC-dEf_123',
  ],
];
const PHONES = ['+41 44 668 18 00', '(555) 123-4567', '0800 123 456'];
const DATES = ['2026-11-28', '2026-11-28T15:00:00Z', '28.11.2026', 'last monday'];
const PATHS = ['src/main.ts', 'src/README.md', 'photo (1).jpg', 'Q3 report_final.xlsx', 'images/logo.png'];
const WORDS = [
  'open',
  'created_at',
  'en-US',
  'Europe/Zurich',
  'v1.2.3',
  'image/png',
  'USD',
  'Blue',
  'name,email',
  '-created',
  'R&D',
  '10%',
];

/** The first whose pattern the name has. */
const BY_NAME: readonly (readonly [name: RegExp, texts: readonly string[]])[] = [
  [/e-?mail/i, EMAILS],
  [/ur[il]$|ur[il][s_-]|link|website|homepage|callback|webhook|redirect|href/i, URLS],
  [/phone|mobile|fax/i, PHONES],
  [/(?:^|[_-])q$|query|search|keyword|filter|term/i, SEARCHES],
  [
    /desc|body|comment|message|note|content|summary|bio|about|text|reason|subject|html|markdown/i,
    [...SENTENCES, ...LONG_TEXTS],
  ],
  [/address|street|city|line[12]|location/i, ADDRESSES],
  [/date|time|since|until|_at$/i, DATES],
  [/file|path|folder|dir$/i, PATHS],
  [
    /(?:^|[a-z_-])(?:id|ids|uuid|key|token|cursor|sha|hash|code|number|ref|secret|sid|arn|etag)s?$|^id|Id$/i,
    IDENTIFIERS,
  ],
  [/name|title|author|owner|company|label|user|account|org/i, [...NAMES, ...WORDS]],
];
const TOKENS = [...WORDS, ...IDENTIFIERS];
const ANY = [...NAMES, ...ADDRESSES, ...EMAILS, ...URLS, ...SENTENCES, ...SEARCHES];

/** Texts that rules of level 1 take for attacks, and that people write all the same. */
const LOOKALIKES: ReadonlySet<string> = new Set(
  [...URLS, ...LONG_TEXTS].filter((text) => /localhost|\/etc\//.test(text)),
);

export class RealisticTexts {
  readonly #examples: ReadonlyMap<string, readonly string[]>;
  readonly #hasLookalikes: boolean;

  /** `examples`: those of the document, by name. */
  constructor(examples: ReadonlyMap<string, readonly string[]>, hasLookalikes: boolean) {
    this.#examples = examples;
    this.#hasLookalikes = hasLookalikes;
  }

  /** An example of the document half of the time. */
  text(name: string, random: Random): string {
    const examples = this.#examples.get(name) ?? [];
    if (examples.length > 0 && random.below(2) === 0) return random.pick(examples) ?? '';
    const known = BY_NAME.find(([pattern]) => pattern.test(name))?.[1];
    const texts = known ?? (random.below(3) === 0 ? ANY : TOKENS);
    return random.pick(this.#hasLookalikes ? texts : texts.filter((text) => !LOOKALIKES.has(text))) ?? '';
  }

  /** The name of something within a path. */
  pathText(name: string, random: Random): string {
    const examples = (this.#examples.get(name) ?? []).filter((text) => /^[^/\\.][^/\\]*$/.test(text));
    if (examples.length > 0 && random.below(2) === 0) return random.pick(examples) ?? '';
    return random.pick(/name|title|label|term|query|city/i.test(name) ? NAMES : IDENTIFIERS) ?? '';
  }
}
