import { isJwt, isKeyName } from 'market-mcp-contract/command';

/** A value of 20 characters or more with digits and letters. */
const random = /^(?=.*\d)(?=.*[a-z])[\w.~+/=:-]{20,}$/i;

/** Headers whose values are long without being keys. */
const plainHeaders =
  /^(?:accept|content|user-agent|if-|x-request-id|x-correlation-id|x-amzn?-trace|traceparent|referer|origin)/;

const shellVariable = /^\$\{?(?<name>[A-Za-z_]\w*)\}?$/;

/** Whether a value is a key, by its name, its form and its place. A hash, an address or a symbol is none. */
export function isKeyValue(
  name: string,
  value: string,
  place: 'path' | 'query' | 'header' | 'body',
): boolean {
  if (isJwt(value)) return true;
  // Nodes of chains and bots take their key behind the version.
  if (place === 'path')
    return (
      (/^v\d+$/.test(name) && random.test(value) && !/^0x/.test(value)) || /^bot\d+:[\w-]{30,}$/.test(value)
    );
  const isKnown = /^(?:0x[\da-f]+|\d+|[A-Z]{2,6})$/i.test(value);
  if (isKeyName(name)) return !(isKnown && /^(?:token|key|auth)$/i.test(name));
  if (place !== 'header' || isKnown || plainHeaders.test(name)) return false;
  const isHost = /^[a-z\d-]+(?:\.[a-z\d-]+)*\.[a-z]{2,}$/.test(value);
  return random.test(value) && !isHost;
}

/** The place of a key below a member of a body, in lists and at any depth; undefined if there is none. An item may name itself: `token:k1`. */
export function keyBelow(value: unknown, place: string, name = ''): string | undefined {
  if (typeof value === 'string') {
    const [, keyName = name, text = value] = (name === '' && /^(\w+):(\S+)$/.exec(value)) || [];
    if (isKeyValue(keyName, text, 'body')) return place;
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [memberName, member] of Object.entries(value)) {
    const found = Array.isArray(value)
      ? keyBelow(member, `${place}[${memberName}]`)
      : keyBelow(member, `${place}.${memberName}`, memberName);
    if (found !== undefined) return found;
  }
  return undefined;
}

const placeholders = [
  shellVariable,
  /^%(?<name>[A-Za-z_]\w*)%$/,
  /^\{\{? ?[\w. -]+ ?\}?\}$|^<[\w .:'’-]+>$|^\[[\w .-]+\]$/,
  /^(?:your|my|insert|enter|replace)[-_ ]?(?:own[-_ ]?)?[\w -]*(?:key|token|secret|password|id|here|address|name|symbol)[\w -]*$/i,
  /^x{4,}$|^\.{3}$|^\*{3,}$|^…$/i,
];

/** Placeholders of documentation that are values elsewhere, such as `API_KEY` as a kind of login. */
const keyPlaceholders = [
  /^(?<name>(?:[A-Z][A-Z\d]*_)*(?:API)?(?:KEY|TOKEN|SECRET|PASSWORD|USERNAME|USER|EMAIL)|(?:[A-Z][A-Z\d]*_)+S?ID)$/,
  /^[a-z\d]{1,10}[-_](?:your|my|insert|enter|replace)[-_ ][\w -]*(?:key|token|secret|password|id|here)$/i,
  /^(?:\{\{?[\w. -]+\}\}?|<[\w .'-]+>)\/[\w-]+$/,
];

/** Returns the variable that a placeholder in the position of a key names, as `placeholderIn`. */
export function keyPlaceholderIn(text: string): string | undefined {
  return placeholderIn(text) ?? matchedVariable(keyPlaceholders, text);
}

/** The variable that a placeholder names, empty if it names none; undefined if the text is a value. */
export function placeholderIn(text: string): string | undefined {
  return matchedVariable(placeholders, text);
}

function matchedVariable(patterns: readonly RegExp[], text: string): string | undefined {
  const match = patterns.map((pattern) => pattern.exec(text.trim())).find((candidate) => candidate !== null);
  return match && (match.groups?.name ?? '');
}
