import type { Field } from '../../../src/model/tool-model.ts';
import type { AuthoredTool } from '../authored.ts';

const content: Field = {
  name: 'content',
  type: 'array',
  description: 'What the result holds, item by item.',
  required: true,
  items: {
    type: 'object',
    fields: [
      { name: 'type', type: 'string', description: 'Kind of content', required: true, examples: ['text'] },
      { name: 'text', type: 'string', description: 'Text' },
      { name: 'data', type: 'string', description: 'Bytes as base64' },
      { name: 'mimeType', type: 'string', description: 'Type of the bytes' },
      {
        name: 'resource',
        type: 'object',
        description: 'An embedded resource',
        fields: ['uri', 'mimeType', 'text'].map((name) => ({
          name,
          type: 'string',
          description: `The ${name} of the resource`,
          required: true,
        })),
      },
    ],
  },
};

const text = { type: 'text', text: 'This is a simple text response for testing.' };
const image = {
  type: 'image',
  mimeType: 'image/png',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
};
const audio = { type: 'audio', mimeType: 'audio/wav', data: 'UklGRiQAAABXQVZFZm10IBAAAAABAAEA' };

function resource(uri: string, mimeType: string, body: string) {
  return { type: 'resource', resource: { uri, mimeType, text: body } };
}

/** The tools that the suite's scenarios call, as far as a generated server can have them. */
export const fixtureTools: readonly AuthoredTool[] = [
  fixture('test_simple_text', 'plain text', [text]),
  fixture('test_image_content', 'an image', [image]),
  fixture('test_audio_content', 'a sound', [audio]),
  fixture('test_embedded_resource', 'an embedded resource', [
    resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ]),
  fixture('test_multiple_content_types', 'a text, an image and a resource', [
    text,
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ]),
  fixture('test_error_handling', 'nothing but a failure', null),
  fixture(
    'test_header',
    'plain text',
    [text],
    [{ name: 'region', type: 'string', description: 'Region to ask', examples: ['eu'] }],
  ),
];

function fixture(
  name: string,
  returns: string,
  items: readonly object[] | null,
  input: readonly Field[] = [],
): AuthoredTool {
  const description = `Returns ${returns}; use it where the conformance suite asks for ${name}.`;
  return {
    spec: { name, description, returns: 'record', input, output: [content] },
    read: [items ? `return { content: ${JSON.stringify(items)} };` : "throw new Error('intended');"],
  };
}
