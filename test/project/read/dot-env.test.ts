import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dotEnvSecrets } from '../../../src/project/read/dot-env.ts';
import { directory } from '../directory.ts';

it('finds the secrets of .env, and neither settings nor what .env.example says', () => {
  const project = directory();
  const lines = [
    'PORT=3000',
    'LOG_LEVEL=info',
    'AUTH=optional',
    'WALLET_ADDRESS=0x52908400098527886E0F7030069857D2E4169EE7',
    'PRICES_URL=https://prices.example.com/v2/coins',
    'DEMO_API_KEY=demo-key-000000',
    'PRICES_API_KEY=8f1d2c3b4a59',
    'DATABASE_URL=postgres://reader:hunter22@db.internal/prices',
  ];
  writeFileSync(join(project, '.env'), lines.join('\n'));
  writeFileSync(join(project, '.env.example'), '# DEMO_API_KEY=demo-key-000000\n');
  expect([...dotEnvSecrets(project).keys()].toSorted()).toEqual(['DATABASE_URL', 'PRICES_API_KEY']);
});
