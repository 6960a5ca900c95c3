import { expect, it } from 'vitest';
import {
  isBinaryType,
  isJsonType,
  mayBeJson,
  parseMediaType,
  preferredJsonTypes,
} from '../../src/import/media-type.ts';

it('a media type has a name in lower case and parameters, quoted or not', () => {
  const type = parseMediaType('Application/Vnd.API+json;EXT="a;b\\"c" ; v=2;');
  expect(type?.name).toBe('application/vnd.api+json');
  expect([...(type?.parameters ?? [])].filter(([name]) => name !== '')).toEqual([
    ['ext', 'a;b"c'],
    ['v', '2'],
  ]);
  expect(parseMediaType('text/plain;')?.name).toBe('text/plain');
});

it.each([
  '',
  'json',
  'application/',
  'application/json, text/plain',
  'a/b; c d',
  'text/plain\r\nx: y',
  'té/xt',
])('a text that is no media type is not read as one: %j', (text) => expect(parseMediaType(text)).toBeNull());

it.each([
  'application/json',
  'APPLICATION/JSON ; charset=utf-8',
  'text/json',
  'application/vnd.api+json',
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/hal+json; profile="https://x.test/y"',
  'application/vnd.x!y+json',
  'model/gltf+json',
  'application/x-amz-json-1.1',
])('a type of JSON is JSON, and no file: %s', (type) => {
  expect([isJsonType(type), mayBeJson(type), isBinaryType(type)]).toEqual([true, true, false]);
});

it.each([
  'application/x-ndjson',
  'application/json-seq',
  'application/jsonl',
  'text/plain',
  'application/xml',
])('another type is not JSON: %s', (type) =>
  expect([isJsonType(type), mayBeJson(type)]).toEqual([false, false]),
);

it.each(['*/*', 'application/*', 'application/*+json'])(
  'a range may include JSON, but is no type: %s',
  (range) => {
    expect([isJsonType(range), mayBeJson(range), isBinaryType(range)]).toEqual([false, true, false]);
  },
);

it('application/json precedes other JSON types, and a JSON Patch is the last choice for an object', () => {
  const types = ['application/json-patch+json', 'application/merge-patch+json', 'text/csv'];
  const forObject = preferredJsonTypes(types, () => false);
  expect(forObject).toEqual(['application/merge-patch+json', 'application/json-patch+json']);
  expect(preferredJsonTypes(types, () => true)[0]).toBe('application/json-patch+json');
  expect(preferredJsonTypes([...types, 'application/json'], () => false)[0]).toBe('application/json');
});
