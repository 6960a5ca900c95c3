import { run } from './run.ts';

process.exitCode = await run(process.argv.slice(2), async () => {
  const [{ platform }, { tools }] = await Promise.all([
    import('../src/platform.ts'),
    import('../src/tools/index.ts'),
  ]);
  return { platform, tools };
});
