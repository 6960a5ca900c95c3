import { expect, it } from 'vitest';
import { linesOf, reached, sources } from './reach.ts';

it('x', () => {
  const cmds: Record<string, string[]> = {
    token: ['src/cli/commands/token.ts'],
    doctor: ['src/cli/commands/doctor.ts'],
    url: ['src/cli/check/command.ts'],
    explain: ['src/cli/commands/explain.ts'],
  };
  for (const [n, s] of Object.entries(cmds)) {
    const all = reached(s);
    const sum = linesOf(all);
    console.log(n, sum, all.size);
    const costs: [number, string][] = [];
    for (const from of all)
      for (const { to } of sources.get(from)!.arrows) {
        const saved = sum - linesOf(reached(s, `${from} > ${to}`));
        if (saved > 300) costs.push([saved, `${from} > ${to}`]);
      }
    for (const [a, b] of costs.sort((x, y) => y[0] - x[0]).slice(0, 22)) console.log('  -', a, b);
    const rooms: Record<string, number> = {};
    for (const f of all) {
      const r = f
        .split('/')
        .slice(0, f.startsWith('src') ? 2 : 4)
        .join('/');
      rooms[r] = (rooms[r] ?? 0) + linesOf([f]);
    }
    console.log('   ', JSON.stringify(rooms));
  }
});
