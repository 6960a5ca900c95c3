/** Reasons for rules that are not run because something is missing. */
export const missing = {
  signer: 'no private key to sign platform tokens with',
  launch: 'no way to start another instance of this target',
  consent: 'no tool may be called, because each call might do harm',
  harmless: 'no tool only reads, and no other has an example with a recording',
  session: 'initialize opened no session (see session.open)',
} as const;
