import { describe, expect, it } from 'vitest';
import { context, platforms } from '../../packages/contract/src/platforms/all.ts';
import { profileProblems } from '../../packages/contract/src/platforms/profile-schema.ts';
import { showPlatforms } from '../../src/cli/commands/platforms.ts';
import { outputTo } from './sinks.ts';

describe('market-mcp platforms', () => {
  it('lists the built-in profiles', async () => {
    const { output, stdout } = outputTo();
    await showPlatforms(undefined, output);
    for (const { name, title } of platforms) expect(stdout.text).toContain(`${name.padEnd(16)}  ${title}`);
  });

  it('lists them as JSON', async () => {
    const { output, stdout } = outputTo({ json: true });
    await showPlatforms(undefined, output);
    const named = platforms.map(({ name }) => expect.objectContaining({ name }));
    expect(JSON.parse(stdout.text)).toEqual({ platforms: named });
  });

  it('prints one in full, as a valid profile to start from', async () => {
    const { output, stdout } = outputTo();
    await showPlatforms('context', output);
    const printed: unknown = JSON.parse(stdout.text);
    expect(printed).toEqual(context);
    expect(profileProblems(printed)).toEqual([]);
  });

  it('refuses an unknown name and lists the known ones', async () => {
    const { output } = outputTo();
    await expect(showPlatforms('nowhere', output)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('"nowhere"'),
      hint: expect.stringContaining('generic or context'),
    });
  });
});
