import { inspect } from 'node:util';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { startErrors } from '../../packages/runtime/src/process.ts';
import { defineEnv, number, secret, text, url } from '../../packages/runtime/src/source/environment.ts';

const declared = {
  API_URL: url('Address of the API', { default: 'https://api.example.com/v1' }),
  API_KEY: secret('Key of the API'),
  REGION: text('Where', { default: 'eu' }),
  FACTOR: number('How much', { default: 2 }),
};

beforeEach(() => {
  startErrors.length = 0;
  return () => vi.unstubAllEnvs();
});

describe('the environment of the author', () => {
  it('is typed, has defaults, and prints no secret', () => {
    const env = defineEnv(declared, { API_KEY: ' k3y ', FACTOR: '0.5' });
    expect(startErrors).toEqual([]);
    expect({ url: env.API_URL, region: env.REGION, factor: env.FACTOR * 2 }).toEqual({
      url: 'https://api.example.com/v1',
      region: 'eu',
      factor: 1,
    });
    expect(env.API_KEY.reveal()).toBe('k3y');
    expect(inspect(env)).not.toContain('k3y');
    expect(JSON.stringify(env)).toContain('[secret API_KEY]');
  });

  it('reports every error at once without values', () => {
    const given = { API_URL: 'ftp://user:pa55@x.example', API_KEY: 'k3\ny', FACTOR: 'two', REGION: '' };
    defineEnv({ ...declared, PORT: text('Mine') }, given);
    expect(startErrors).toEqual([
      'API_URL: expected an http or https URL without query, user and password.',
      'API_KEY: contains a character that is not allowed in a header.',
      'FACTOR: expected a number.',
      'PORT: is a variable of the server itself; choose another name.',
      'PORT: must be set: Mine',
    ]);
  });

  it('may lack optional variables', () => {
    const env = defineEnv({ TOKEN: secret('Raises the limit', { optional: true }) }, {});
    expect(startErrors).toEqual([]);
    expect(env.TOKEN).toMatchObject({ isOptional: true, name: 'TOKEN' });
  });

  it('may lack all variables while recordings are replayed', () => {
    vi.stubEnv('SOURCES', 'replay');
    defineEnv(declared, {});
    expect(startErrors).toEqual([]);
  });
});
