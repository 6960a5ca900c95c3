import { readFileSync, writeFileSync } from 'node:fs';

// Copies the figures of the last whole reliability run (dist/reliability.json) into docs/evidence/reliability.md.

const figures = JSON.parse(readFileSync(new URL('../dist/reliability.json', import.meta.url), 'utf8'));
const page = new URL('../docs/evidence/reliability.md', import.meta.url);
const place = /(?<=<!-- figures -->\n).*?(?=<!-- end of figures -->)/s;

const outages = /(?<=<!-- outages -->\n).*?(?=<!-- end of outages -->)/s;

const text = readFileSync(page, 'utf8');
if (!place.test(text) || !outages.test(text)) {
  throw new Error('docs/evidence/reliability.md has no place for figures');
}
// Redis may be missing: the table of an earlier run then stays.
const rows = Object.entries(figures).flatMap(([part, one]) => (part.startsWith('outage-') ? [one] : []));
const filled = rows.length === 0 ? text : text.replace(outages, () => outageTable(figures.machine, rows));
writeFileSync(
  page,
  filled.replace(place, () => table(figures)),
);

function outageTable(machine, rows) {
  const bad = rows.filter(({ later, denied, lost, twice }) => later + denied + lost + twice > 0);
  const lines = bad.map(
    ({ once, name, sent, answered, later, denied, lost, twice }) =>
      `| ${once} | ${name} | ${sent} | ${answered} | ${later} | ${denied} | ${lost} | ${twice} |`,
  );
  return [
    '',
    `${whereOf(machine)} Nothing was late, denied, lost or run twice in the ${rows.length - bad.length} others.`,
    '',
    '| `TOKEN_ONCE` | what happens | sent | answered | later | denied | lost | run twice |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...lines,
    '',
    '',
  ].join('\n');
}

function whereOf(machine) {
  return `Measured on ${machine.date} with Node ${machine.node.slice(1)} on ${machine.cores} cores.`;
}

function table({ machine, ...parts }) {
  const rows = [
    ['endurance', enduranceOf(parts)],
    ['random tool specs', randomSpecsOf(parts)],
    ['killed runs', killsOf(parts)],
    [
      'official suite',
      ['conformance-0.1', 'conformance-0.2', 'conformance-0.2-2026-07-28']
        .map((suite) => suiteOf(parts, suite))
        .join('<br>'),
    ],
    ['Node', checkedWith(parts, ['node-20', 'node-22', 'node-24'])],
    ['Bun, Deno', checkedWith(parts, ['bun', 'deno'])],
    ['package managers', checkedWith(parts, ['npm', 'pnpm', 'yarn-classic', 'yarn-berry', 'bun-install'])],
  ];
  const lines = rows.map((row) => `| ${row.join(' | ')} |`);
  return ['', whereOf(machine), '', '| part | figures |', '| --- | --- |', ...lines, '', ''].join('\n');
}

function enduranceOf(parts) {
  const { requests, kinds, connections, seconds, requestsPerSecond, statuses, heap, resident } = part(
    parts,
    'endurance',
  );
  const answers = Object.entries(statuses).map(([status, count]) => `${status}: ${grouped(count)}`);
  return [
    `${grouped(requests)} requests of ${kinds} kinds from ${connections} connections in ${seconds} s (${grouped(requestsPerSecond)} a second)`,
    `answers by status: ${answers.join(', ')}`,
    `heap after a full collection: ${heap.warm} MB warm, ${heap.end} MB at the end; resident under load: ${Math.min(...resident)} to ${Math.max(...resident)} MB`,
  ].join('<br>');
}

function randomSpecsOf(parts) {
  const { rendered, called, selfChecked } = part(parts, 'random-specs');
  return `${rendered} specs rendered, compiled and inspected; ${called} expected calls answered; ${selfChecked} projects self-checked`;
}

function killsOf(parts) {
  const { kills, nothing, everything } = part(parts, 'kills');
  return `${kills} runs ended: ${nothing} left nothing, ${everything} everything`;
}

function suiteOf(parts, suite) {
  const { version, revision, scenarios, passed, doNotApply } = part(parts, suite);
  return `${version} at ${revision}: ${scenarios} scenarios, ${passed} pass, ${doNotApply} do not apply`;
}

function checkedWith(parts, names) {
  return names
    .map(
      (name) =>
        `${name.replace('node-', '')} (${part(parts, name).version}): ${part(parts, name).passed} rules passed`,
    )
    .join('<br>');
}

function part(parts, name) {
  if (!parts[name]) throw new Error(`dist/reliability.json has no figures of ${name}: run the whole suite`);
  return parts[name];
}

function grouped(number) {
  return number.toLocaleString('en');
}
