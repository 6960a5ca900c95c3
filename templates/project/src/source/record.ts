import { callTool } from '../server/call.ts';
import { tools } from '../tools/index.ts';

// Calls every example of every tool for real and records the answers of its source (test/recordings/).

process.env.SOURCES = 'record';
let failures = 0;
for (const tool of tools) {
  for (const { arguments: args, expect } of tool.examples) {
    const { isError, structuredContent } = await callTool(tool, args);
    const ending = isError ? 'fail' : structuredContent?.searchExhausted ? 'empty' : 'found';
    const asExpected = ending === expect;
    if (!asExpected) failures += 1;
    const said = asExpected ? ending : `expected ${expect}, got ${ending} ${structuredContent?.error ?? ''}`;
    console.log(`${asExpected ? '✔' : '✖'} ${tool.name} ${JSON.stringify(args)}: ${said}`);
  }
}
process.exitCode = failures === 0 ? 0 : 1;
