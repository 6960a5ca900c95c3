import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { buildProgram } from '../src/cli/program.ts';

const root = join(import.meta.dirname, '..');
const pages = ['.', 'docs', 'docs/evidence', 'bench'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);

describe('the documents', () => {
  it.each(pages)('link only to existing targets: %s', (page) => {
    const links = [...prose(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    expect(links.filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(page, link))).toEqual([]);
  });

  it('name a test that exists and a limit for each promise', () => {
    const [, section = ''] =
      /^## What is promised$(.*?)^## /ms.exec(read('docs/evidence/reliability.md')) ?? [];
    const [, , ...rows] = section.split('\n').filter((line) => line.startsWith('|'));
    expect(rows.length).toBeGreaterThan(30);
    for (const row of rows) {
      const [, , documents = '', tests = '', limit = ''] = row.split(/ *\| */);
      expect(documents.split(', ').filter((name) => !isDocument(name))).toEqual([]);
      const files = [...tests.matchAll(/`(test\/[^`]+\.test\.ts)`/g)].map(([, file = '']) => file);
      expect(files, row).not.toEqual([]);
      expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
      expect(limit, row).not.toBe('');
    }
  });

  it('name every document that npm run docs writes, and no other', () => {
    const { stderr, status } = spawnSync(process.execPath, ['scripts/docs.js', 'no-such-document'], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(status).toBe(2);
    expect(stderr).toContain('"no-such-document"');
    const [, names = ''] = /Names: ([\w, -]+)\./.exec(stderr) ?? [];
    const named = (path: string) =>
      [...read(path).matchAll(/npm run docs ([a-z-]+)/g)].map(([, name = '']) => name);
    expect(new Set(named('AGENTS.md'))).toEqual(new Set(names.split(', ')));
    expect(pages.flatMap(named).filter((name) => !names.split(', ').includes(name))).toEqual([]);
  });

  // docs/project.md quotes commands in commands.
  it.each(pages.filter((page) => !page.endsWith('project.md')))(
    'give each command only flags that it has: %s',
    (page) => {
      expect(commandsIn(read(page)).flatMap(unknownFlags)).toEqual([]);
    },
  );
});

/** Whether a document of this repository or a file of a generated project (`DEPLOY.md of a project`) exists. */
function isDocument(name: string): boolean {
  const [, file] = /^(.+) of a project$/.exec(name) ?? [];
  if (file === undefined) return existsSync(join(root, name));
  const templates = ['', '.github/', '.github/workflows/'].map(
    (folder) => `templates/project/${folder}${file}`,
  );
  return templates.some((path) => existsSync(join(root, path)) || existsSync(join(root, `${path}.hbs`)));
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** A page without fenced blocks and inline code, whose brackets are not links. */
function prose(page: string): string {
  return page.replace(/^(```|~~~)[\s\S]*?^\1/gm, '').replace(/`[^`\n]*`/g, '');
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(root, target))) return false;
  return heading === undefined || headingsOf(read(target)).includes(heading);
}

/** The anchors that GitHub gives the headings of a page. */
function headingsOf(page: string): readonly string[] {
  const headings = page.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** The command lines of both programs: in fenced blocks, with continuation lines, and in inline code. */
function commandsIn(page: string): readonly string[] {
  const blocks = [...page.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
    block.replaceAll(/\\\n\s*/g, ' ').split('\n'),
  );
  const spans = [...page.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  return [...blocks, ...spans].flatMap(
    (line) => /\b(?:create-)?market-mcp(?:\.js)? .*/.exec(line)?.[0] ?? [],
  );
}

function unknownFlags(line: string): readonly string[] {
  const [program = '', ...words] = line.replace(/ #.*/, '').split(/\s+/);
  const command = commandOf(program, words);
  const known = new Set(command.options.flatMap(({ long, short }) => [long, short]));
  return words
    .filter((word) => /^--[a-z]/.test(word) && word !== '--help' && word !== '--version' && !known.has(word))
    .map((word) => `${word} in: ${line}`);
}

function commandOf(program: string, [name]: readonly string[]): Command {
  const isCreate = program.startsWith('create-');
  const tree = buildProgram(isCreate ? 'create-market-mcp' : 'market-mcp', async () => {});
  return tree.commands.find((command) => command.name() === name) ?? tree;
}
