import { expect, it } from 'vitest';
import { firstSteps, nextSteps, sampleEdit } from '../../../src/cli/create/creation-lines.ts';

const context = { directory: '/srv/gas', packageManager: 'npm' } as const;
const commandsOf = (first: Parameters<typeof nextSteps>[2]) =>
  firstSteps(nextSteps(context, true, first, 'get_gas')).map(({ command, edit }) => command ?? edit);

it('a tool that is ready is called before dev, which does not return', () => {
  expect(commandsOf(undefined).slice(1)).toEqual(['npx market-mcp call get_gas', 'npm run dev']);
});

it('a tool with sample answers is edited before dev', () => {
  expect(commandsOf(sampleEdit('get_gas')).slice(1)).toEqual(['src/tools/get-gas.ts', 'npm run dev']);
});
