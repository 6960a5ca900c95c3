import { Ajv } from 'ajv';

/** A JSON object of a message. */
export type Data = Readonly<Record<string, unknown>>;

/** A tool as C§2.1 describes it, with the function that finds its data. */
export interface Tool {
  readonly definition: Data;
  /** The data of a call; undefined if there is none. @throws Failure */
  readonly find: (args: Data) => Data | undefined;
}

/** An expected failure of a tool (C§7): the code and the message of its result. */
export class Failure extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const text = (description: string, more: Data = {}): Data => ({ type: 'string', description, ...more });
const optional = (type: string, description: string, more: Data = {}): Data => ({
  type: [type, 'null'],
  description,
  ...more,
});

/** The fields with which C§2.2 lets a result say that there is nothing, or why it failed. */
const signals: Data = {
  noResultsReason: text('Why there is no data; absent if there is.'),
  error: text('Code of the failure; absent if the call succeeded.'),
  message: text('What failed, in words; absent if the call succeeded.'),
};

const hints = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };

function tool(
  name: string,
  title: string,
  description: string,
  inputs: Readonly<Record<string, Data>>,
  required: readonly string[],
  outputs: Readonly<Record<string, Data>>,
  find: Tool['find'],
): Tool {
  const inputSchema = { type: 'object', properties: inputs, required, additionalProperties: false };
  const outputSchema = {
    type: 'object',
    properties: { ...outputs, ...signals },
    required: Object.keys(outputs),
    additionalProperties: false,
  };
  return { definition: { name, title, description, inputSchema, outputSchema, annotations: hints }, find };
}

const depths: Readonly<Record<string, readonly number[]>> = { Garda: [346, 133], Como: [425, 154] };
const tides: Readonly<Record<string, readonly string[]>> = { Brest: ['02:14', '14:41'], Cuxhaven: ['05:20'] };

export const tools: readonly Tool[] = [
  tool(
    'lake_depth',
    'Depth of a lake',
    'Returns the greatest and the mean depth of a lake. Use it when a question is about how deep a lake is.',
    {
      lake: text('English name of the lake.', { examples: ['Garda'] }),
      unit: text('Unit of the depths.', { enum: ['m', 'ft'], default: 'm' }),
    },
    ['lake'],
    {
      lake: optional('string', 'English name of the lake.'),
      greatest: optional('number', 'Greatest depth, in the unit.'),
      mean: optional('number', 'Mean depth, in the unit.'),
      unit: optional('string', 'm or ft.'),
    },
    ({ lake, unit = 'm' }) => {
      const known = depths[String(lake)];
      const factor = unit === 'ft' ? 3.28084 : 1;
      return known && { lake, greatest: (known[0] ?? 0) * factor, mean: (known[1] ?? 0) * factor, unit };
    },
  ),
  tool(
    'high_tides',
    'High tides of a port',
    'Returns the times of the high tides of a port on a day. Use it before a boat leaves or enters a port.',
    {
      port: text('English name of the port.', { default: 'Brest' }),
      day: { type: 'integer', description: 'Day of the month.', minimum: 1, maximum: 31, default: 1 },
    },
    [],
    {
      count: optional('integer', 'Number of high tides.'),
      tides: optional('array', 'The high tides, the earliest first.', {
        items: {
          type: 'object',
          properties: { at: text('Time of day, hh:mm.'), day: { type: 'integer', description: 'Day.' } },
          required: ['at', 'day'],
          additionalProperties: false,
        },
      }),
    },
    ({ port = 'Brest', day = 1 }) => {
      const known = tides[String(port)];
      return known && { count: known.length, tides: known.map((at) => ({ at, day })) };
    },
  ),
  tool(
    'divide_evenly',
    'Divide evenly',
    'Calculates how many whole parts a quantity gives and what is left. Use it to share things among people.',
    {
      quantity: { type: 'integer', description: 'What is divided.', examples: [17] },
      parts: { type: 'integer', description: 'The number of parts.', examples: [5] },
    },
    ['quantity', 'parts'],
    {
      each: optional('integer', 'The size of each part.'),
      rest: optional('integer', 'What is left.'),
    },
    ({ quantity, parts }) => {
      if (parts === 0) throw new Failure('NO_PARTS', 'Nothing can be divided into 0 parts.');
      const rest = Number(quantity) % Number(parts);
      return { each: (Number(quantity) - rest) / Number(parts), rest };
    },
  ),
];

/** Calls whose outcome is known, as `check --examples` takes them. */
export const examples = {
  lake_depth: [
    { arguments: { lake: 'Como', unit: 'ft' }, expect: 'found' },
    { arguments: { lake: 'Nowhere' }, expect: 'empty' },
  ],
  high_tides: [{ arguments: { port: 'Cuxhaven', day: 3 }, expect: 'found' }],
  divide_evenly: [{ arguments: { quantity: 3, parts: 0 }, expect: 'fail' }],
} as const;

const ajv = new Ajv({ strict: false });

/** Whether a value fits a schema. */
export function fits(schema: Data, value: unknown): boolean {
  return ajv.validate(schema, value);
}

/** The data of a call in the form that C§2.2 asks for: found, empty or failed. `isError` is set for the last. */
export function outcomeOf(tool: Tool, args: unknown): { readonly data: Data; readonly isError?: true } {
  const inputSchema = tool.definition.inputSchema as Data;
  const { properties } = tool.definition.outputSchema as { properties: Data };
  const nothing = Object.fromEntries(
    Object.keys(properties)
      .filter((name) => !(name in signals))
      .map((name) => [name, null]),
  );
  const failed = (error: string, message: string) =>
    ({ data: { ...nothing, error, message }, isError: true }) as const;
  if (!fits(inputSchema, args)) return failed('BAD_ARGUMENTS', 'The arguments do not fit the inputSchema.');
  try {
    const found = tool.find(args as Data);
    return { data: found ?? { ...nothing, noResultsReason: 'Our tables have no such entry.' } };
  } catch (error) {
    if (error instanceof Failure) return failed(error.code, error.message);
    throw error;
  }
}

/** The result of a tools/call, for servers that leave the messages to an SDK. */
export function resultOf(name: string, args: unknown) {
  const tool = tools.find(({ definition }) => definition.name === name);
  const item = (text: string) => ({ type: 'text' as const, text });
  if (!tool) return { content: [item(`Unknown tool: ${name}`)], isError: true };
  const { data, isError = false } = outcomeOf(tool, args ?? {});
  return { content: [item(JSON.stringify(data))], structuredContent: { ...data }, isError };
}
