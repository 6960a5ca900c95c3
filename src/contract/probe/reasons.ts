/** Why a rule is not run where what it builds on is missing. */
export const missing = {
  signer: 'no key to sign platform tokens with',
  launch: 'no way to start another instance of this target',
  consent: 'no tool may be called that a call might do harm with',
  session: 'initialize opened no session (session.open)',
} as const;
