/** Every case of the suite; docs/http.md is made of those where nginx differs. */
import { CHUNKS } from './chunks.ts';
import { CONNECTION } from './connection.ts';
import { FIELDS } from './fields.ts';
import { FRAMING } from './framing.ts';
import type { Case } from './message.ts';
import { REQUEST_LINE } from './request-line.ts';

export const CASES: readonly Case[] = [...FRAMING, ...CHUNKS, ...FIELDS, ...REQUEST_LINE, ...CONNECTION];
