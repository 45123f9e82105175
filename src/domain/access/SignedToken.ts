import { createHmac, timingSafeEqual } from "node:crypto"

const signatureOf = (token: string, secret: string): Buffer => createHmac("sha256", secret).update(token).digest()

/** `token.signature` in a session cookie and the header `set-auth-token` (contract, platform §3, cookies). */
export const signToken = (token: string, secret: string): string =>
  `${token}.${signatureOf(token, secret).toString("base64")}`

/** Decodes a percent-encoded text; undefined where it is malformed. */
const decoded = (text: string): string | undefined => {
  if (!text.includes("%")) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/**
 * The token of a signed one, percent-encoded or not; undefined for an invalid signature. Compares in constant time, so
 * that timing reveals nothing about the right signature.
 */
export const verifiedToken = (signed: string, secret: string): string | undefined => {
  const text = decoded(signed)
  const end = text?.lastIndexOf(".") ?? -1
  if (text === undefined || end < 1) return undefined
  const token = text.slice(0, end)
  const shown = Buffer.from(text.slice(end + 1), "base64")
  const right = signatureOf(token, secret)
  return shown.length === right.length && timingSafeEqual(shown, right) ? token : undefined
}
