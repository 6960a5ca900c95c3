import type { JsonObject } from '../../contract/model.ts';
import { blankAnswer, signals } from '../../contract/outcomes.ts';
import { clip, fieldRows, tableLines } from '../../fields/table.ts';
import type { Prepared, PreparedTool } from '../../model/model.ts';
import { adviceLines, changeLines } from './format.ts';

/** The width of a line in the box that clack draws. */
export function reviewWidth(): number {
  return Math.max(40, (process.stdout.columns ?? 80) - 6);
}

/** Further tools are only named. */
const shownTools = 3;

/**
 * What will be written, for the author to confirm: the definition of each tool with an example call and its three
 * outcomes, then the changes to it and possible improvements.
 *
 * @param place `12 files in /tmp/gas`
 * @param width of a line in characters
 */
export function reviewLines(place: string, prepared: Prepared, width: number): readonly string[] {
  const { tools, changes, advice } = prepared;
  const more = tools.slice(shownTools).map(({ definition }) => definition.name);
  const notes = [...changeLines(changes), ...adviceLines(advice)];
  return [
    place,
    ...tools.slice(0, shownTools).flatMap((tool) => ['', ...toolLines(tool, width)]),
    ...(more.length > 0 ? ['', clip(`and ${more.length} more: ${more.join(', ')}`, width)] : []),
    ...(notes.length > 0 ? ['', ...notes] : []),
  ];
}

const inputHead = { name: 'Input', required: 'Required', hasDefaults: true };
const outputHead = { name: 'Output', required: 'Always', hasDefaults: false };

function toolLines({ definition, keyParameter, samples, examples }: PreparedTool, width: number) {
  const { name, description, inputSchema, outputSchema } = definition;
  const inputs = fieldRows(inputSchema);
  const outputs = fieldRows(outputSchema, Object.keys(signals));
  const given = examples.find(({ expect }) => expect === 'found')?.arguments ?? {};
  const key = keyParameter === null ? null : given[keyParameter];
  const found = (samples.find((sample) => sample.key === key) ?? samples[0])?.answer ?? {};
  const blank = blankAnswer(outputSchema);
  const rest = blank.ok ? blank.answer : {};
  const outcome = (label: string, value: JsonObject) =>
    clip(`  ${label.padEnd(8)}${JSON.stringify(value)}`, width);
  return [
    `Tool ${name}`,
    clip(description.replaceAll(/\s+/g, ' '), width),
    '',
    ...(inputs.length === 0 ? ['The tool has no input.'] : tableLines(inputs, inputHead, width)),
    '',
    ...(outputs.length === 0 ? ['The tool returns no fields.'] : tableLines(outputs, outputHead, width)),
    '',
    clip(`Example call ${JSON.stringify(given)} and its three outcomes`, width),
    outcome('found', found),
    outcome('empty', { ...rest, searchExhausted: true, noResultsReason: '…' }),
    outcome('failed', { ...rest, error: 'SOURCE_UNAVAILABLE', message: '…' }),
  ];
}
