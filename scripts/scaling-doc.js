import { readFileSync, writeFileSync } from 'node:fs';

// Copies the figures of one replica into docs/deploy.md: the last step of `npm run docs scaling`.

const results = JSON.parse(readFileSync(new URL('../dist/scaling/results.json', import.meta.url), 'utf8'));
const replica = results.find(({ part }) => part === 'replica');
if (!replica) throw new Error('dist/scaling/results.json has no part replica: run npm run docs scaling');

const page = new URL('../docs/deploy.md', import.meta.url);
const place = /(?<=<!-- figures -->\n).*?(?=<!-- end of figures -->)/s;
const text = readFileSync(page, 'utf8');
if (!place.test(text)) throw new Error('docs/deploy.md has no place for figures');

const [{ head, rows }] = replica.tables;
const lines = [head, head.map((_, index) => (index === 0 ? '---' : '---:')), ...rows].map(
  (cells) => `| ${cells.join(' | ')} |`,
);
const where = `${replica.date}; ${replica.machine}; ${replica.versions}`;
const notes = replica.notes.map((note) => `- ${note}`);
const figures = ['', ...lines, '', `*${where}.*`, '', ...notes, ...(notes.length > 0 ? [''] : [])].join('\n');
writeFileSync(
  page,
  text.replace(place, () => figures),
);
