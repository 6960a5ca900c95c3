import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scratch } from '../e2e/support.ts';
import { documents, fetchDocuments } from './documents.ts';
import { shareOf, writePage } from './page.ts';
import { type TakenOver, takeOver } from './take-over.ts';

const root = scratch();
const rows = new Map<string, TakenOver>();
let paths: Awaited<ReturnType<typeof fetchDocuments>>;

beforeAll(async () => {
  paths = await fetchDocuments();
});

describe('a document that others wrote', () => {
  it.each(documents)('$title', async (document) => {
    const place = join(root, document.title.replaceAll(/\W+/g, '-'));
    mkdirSync(place);
    rows.set(document.title, await takeOver(paths.get(document) ?? '', place));
    rmSync(place, { recursive: true });
  });
});

afterAll(() => {
  // A run of a part of them leaves the page as it is.
  if (rows.size < documents.length) return;
  const inOrder = [...rows];
  writePage(inOrder);
  expect(shareOf(inOrder)).toBeGreaterThanOrEqual(0.95);
});
