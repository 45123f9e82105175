import { hash } from "node:crypto"

/** Session tokens are 32 letters and digits. */
export const tokenForm = /^[A-Za-z0-9]{32}$/

/** What is stored of a session's token: its SHA-256 in hexadecimal. Whoever reads the table can open nothing with it. */
export const tokenDigest = (token: string): string => hash("sha256", token, "hex")

/**
 * What a session of this token may be stored with. One that began before tokens were stored as digests has the token
 * itself until it is renewed; a digest that somebody shows is never taken for one.
 */
export const storedForms = (token: string): ReadonlyArray<string> =>
  tokenForm.test(token) ? [tokenDigest(token), token] : [tokenDigest(token)]
