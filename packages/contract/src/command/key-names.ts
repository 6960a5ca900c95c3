/** The last word of a name that carries a key. */
const secretWord =
  /^(?:(?:api|access|auth|client|private|secret|session)?(?:key|token|secret)|password|passwd|pwd|passphrase|auth|authorization|appid)$/;

/** What makes such a word the name of something public: a page, an order, a coin. */
const publicWords: { readonly [last: string]: ReadonlySet<string> } = {
  key: new Set(
    'sort order group partition row primary foreign public idempotency cache translation object'.split(' '),
  ),
  token: new Set(
    (
      'page next prev previous continuation continue cursor sync pagination start end resume change delta base quote sell buy in ' +
      'out input output from to contract src dst destination source pool lp reward staking underlying collateral native'
    ).split(' '),
  ),
};

/**
 * Whether a name of a header, a parameter or a member of a body says that its value is a key: `X-CMC_PRO_API_KEY`, `access_token`,
 * `apikey`; not `pageToken`.
 */
export function isKeyName(name: string): boolean {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
  const last = words.at(-1) ?? '';
  const before = words.at(-2) ?? '';
  if (last === 'id' && before === 'app') return true;
  return secretWord.test(last) && publicWords[last]?.has(before) !== true;
}

/** A value that only a signed token has (RFC 7519). */
const jwt = /^(?:\w+ )?eyJ[\w-]{5,}\.eyJ[\w-]{5,}\.[\w-]*$/;

/** Whether a text is a signed token, with or without a scheme such as Bearer before it. */
export function isJwt(text: string): boolean {
  return jwt.test(text);
}
