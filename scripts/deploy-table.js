import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

// Runs the proof of each target that this machine can run, and writes the table of docs/deploy.md. Exits with 1 if a proof failed.

const page = new URL('../docs/deploy.md', import.meta.url);
const place = /(?<=<!-- proofs -->\n).*?(?=<!-- end of proofs -->)/s;
const kept = new URL('../node_modules/.cache/deploy-proofs/', import.meta.url);
/** Their files are read by parsers, and their image is that of `docker`: test/render/hosts.test.ts. */
const parsed = ['railway', 'render', 'fly'];

rmSync(kept, { recursive: true, force: true });
mkdirSync(kept, { recursive: true });
const files = [
  'test/deploy',
  'test/reliability/hosts.test.ts',
  'test/reliability/replicas.test.ts',
  'test/render/hosts.test.ts',
];
const { status } = spawnSync('npx', ['vitest', 'run', ...files], { stdio: 'inherit' });

const text = readFileSync(page, 'utf8');
if (!place.test(text)) throw new Error('docs/deploy.md has no place for the table');
const proofs = new Map(
  readdirSync(kept).map((file) => [
    file.replace(/\.json$/, ''),
    JSON.parse(readFileSync(new URL(file, kept), 'utf8')),
  ]),
);
/** Target → its files, as the page names them. */
const [, ofTargets] = text.split(/^## /m);
const targets = new Map(
  [...ofTargets.matchAll(/^\| `(\w+)`[^|]* \| ([^|]+) \|/gm)].map(([, name, paths]) => [name, paths]),
);
const names = [...new Set([...targets.keys(), ...proofs.keys()])];
const rows = names.map(
  (name) => `| \`${name}\` | ${targets.get(name) ?? 'none'} | ${cells(name).join(' | ')} |`,
);
const where = `Run on ${new Date().toISOString().slice(0, 10)} with Node ${process.versions.node} on ${availableParallelism()} cores.`;
const head = [
  '| target | files | proven how | rules | size | cold start |',
  '| --- | --- | --- | --- | ---: | ---: |',
];
const table = ['', where, '', ...head, ...rows, ''].join('\n');
writeFileSync(
  page,
  text.replace(place, () => `${table}\n`),
);
console.log(table);
process.exitCode = status;

function cells(name) {
  const proof = proofs.get(name) ?? { notRun: 'its test has not run' };
  if (parsed.includes(name))
    return ['the file is parsed; the image is built for `docker`', ...Array(3).fill('as `docker`')];
  if (proof.notRun) return [`not run: ${proof.notRun.replaceAll('|', '/')}`, '', '', ''];
  const { how, rules, bytes, coldStartMs } = proof;
  const size = bytes === undefined ? '' : `${(bytes / 1e6).toFixed(1)} MB`;
  return [how, rules, size, coldStartMs === undefined ? '' : `${coldStartMs} ms`];
}
