import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readArchive, withTime, writeArchive } from './archive.ts';

const folder = mkdtempSync(join(tmpdir(), 'gw-archive-'));
const path = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

const entries = () => [
  { name: 'launcher', mode: 0o755, content: Buffer.from('#!/bin/sh\n') },
  { name: 'lib/program', mode: 0o644, content: { file: path('program') } },
];

it('gives the same bytes for the same content, whatever the time of the files', async () => {
  writeFileSync(path('program'), 'x'.repeat(200_000));
  await writeArchive(path('one.tgz'), entries(), 1);
  utimesSync(path('program'), 9, 9);
  await writeArchive(path('two.tgz'), entries(), 1);
  expect(readFileSync(path('one.tgz')).equals(readFileSync(path('two.tgz')))).toBe(true);
});

it('keeps names, modes and content of an archive whose time it changes', async () => {
  await writeArchive(path('early.tgz'), entries(), 1);
  await writeArchive(path('late.tgz'), entries(), 1000);
  const before = await readArchive(path('late.tgz'));
  await withTime(path('late.tgz'), 1);
  expect(await readArchive(path('late.tgz'))).toEqual(before);
  expect(readFileSync(path('late.tgz')).equals(readFileSync(path('early.tgz')))).toBe(true);
});
