import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import type { ForeignServer } from '../../test/foreign/servers.ts';
import { modules } from './servers.ts';

/** Repositories of the public marketplace whose servers are in no package, and the variables that name a clone of each. */
const clones = {
  'ctxprotocol/docs': process.env.CTX_DOCS,
  'ctxprotocol/sdk': process.env.CTX_SDK,
} as const;
type Repository = keyof typeof clones;

interface Known extends Pick<ForeignServer, 'name' | 'answers' | 'hasSessions' | 'fails'> {
  readonly repository: Repository;
  readonly file: string;
  /** The program in the text of the file. */
  readonly code: (text: string) => string;
}

const sharing = { answers: 'SSE', hasSessions: true } as const;
/** What is known of each server: the repository, the file, and the rules that it fails. */
const known: readonly Known[] = [
  {
    name: "the marketplace's quickstart",
    ...{ repository: 'ctxprotocol/docs', file: 'guides/quickstart.mdx', ...sharing },
    fails: ['session.two-at-once', 'gate.no-token'],
    code: (page: string) => /^```typescript\n(import "dotenv.*?)^```/ms.exec(page)?.[1] ?? '',
  },
  {
    name: 'the same with the middleware that it recommends',
    ...{ repository: 'ctxprotocol/docs', file: 'guides/quickstart.mdx', ...sharing },
    fails: ['session.two-at-once', 'gate.batch'],
    code: (page: string) =>
      (/^```typescript\n(import "dotenv.*?)^```/ms.exec(page)?.[1] ?? '')
        .replace(
          'import express',
          'import { createContextMiddleware } from "@ctxprotocol/sdk";\nimport express',
        )
        .replaceAll(/app\.(get|post)\("\/mcp", /g, 'app.$1("/mcp", createContextMiddleware(), '),
  },
  {
    name: 'normalized-data-provider',
    ...{
      repository: 'ctxprotocol/sdk',
      file: 'examples/server/normalized-data-provider/server.ts',
      ...sharing,
    },
    fails: ['gate.batch'],
    code: (text: string) => text,
  },
  {
    name: 'blocknative-contributor',
    ...{
      repository: 'ctxprotocol/sdk',
      file: 'examples/server/blocknative-contributor/server.ts',
      ...sharing,
    },
    fails: ['gate.batch'],
    code: (text: string) => text,
  },
];

/** Those whose repositories are there; the middleware is in ctxprotocol/sdk. */
export async function repositoryServers(): Promise<readonly ForeignServer[]> {
  if (!clones['ctxprotocol/docs'] || !clones['ctxprotocol/sdk']) return [];
  return Promise.all(
    known.map(async ({ name, repository, file, code, answers, hasSessions, fails }) => ({
      ...{ name, package: 'quickstart-sdk', modules, answers, hasSessions, fails },
      source: `${repository}, ${file} of commit ${(await git(repository, 'rev-parse', 'HEAD')).slice(0, 7)}`,
      start: async (place) => {
        await prepare(place);
        writeFileSync(
          join(place, 'server.mjs'),
          compiled(code(await git(repository, 'show', `HEAD:${file}`))),
        );
        return [join(place, 'server.mjs')];
      },
    })),
  );
}

/** The packages that the servers import, with the SDK of their time. */
async function prepare(place: string): Promise<void> {
  const links = {
    'quickstart-sdk': '@modelcontextprotocol/sdk',
    express: 'express',
    dotenv: 'dotenv',
    jose: 'jose',
  };
  for (const [from, to] of Object.entries(links)) {
    const path = join(place, 'node_modules', to);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(modules, from), path, 'dir');
  }
  for (const file of ['package.json', 'dist/index.js']) {
    const path = join(place, 'node_modules/@ctxprotocol/sdk', file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, await git('ctxprotocol/sdk', 'show', `HEAD:${file}`));
  }
}

async function git(repository: Repository, ...args: readonly string[]): Promise<string> {
  return (await execa('git', ['-C', clones[repository] ?? '', ...args])).stdout;
}

function compiled(text: string): string {
  const { transpileModule } = createRequire(join(modules, 'x'))('typescript');
  return transpileModule(text, { compilerOptions: { module: 'esnext', target: 'es2022' } }).outputText;
}
