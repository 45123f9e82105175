import { createHmac, hash, timingSafeEqual } from "node:crypto"

export type SentHeaders = Readonly<Record<string, string | undefined>>

export type SentCredential =
  | { readonly _tag: "Cookie"; readonly value: string }
  /** A session token, raw or signed, or an API key. */
  | { readonly _tag: "Bearer"; readonly value: string }
  | { readonly _tag: "Key"; readonly value: string }
  | { readonly _tag: "Unknown" }

/** Value of a cookie by name; undefined where it is absent or empty, as browsers send it after a sign-out. */
export const cookieNamed = (header: string, name: string): string | undefined => {
  for (const part of header.split(";")) {
    const end = part.indexOf("=")
    if (end !== -1 && part.slice(0, end).trim() === name) {
      const value = part.slice(end + 1).trim()
      return value.startsWith("\"") && value.endsWith("\"") ? value.slice(1, -1) || undefined : value || undefined
    }
  }
  return undefined
}

const nothing: ReadonlyArray<SentCredential> = []

/**
 * The credentials of a request by precedence (contract, platform §2): a bearer token, then a session cookie, then an
 * API key. An `Authorization` of another scheme counts only where nothing else is sent: it may be meant for a proxy.
 */
export const sentCredentials = (headers: SentHeaders, cookieName: string): ReadonlyArray<SentCredential> => {
  const [authorization, cookie, key] = [headers["authorization"], headers["cookie"], headers["x-api-key"]]
  if (authorization === undefined && key === undefined && cookie === undefined) return nothing
  if (authorization !== undefined && /^bearer( |$)/i.test(authorization)) {
    return [{ _tag: "Bearer", value: authorization.slice(7).trim() }]
  }
  const session = cookie === undefined ? undefined : cookieNamed(cookie, cookieName)
  const found: Array<SentCredential> = []
  if (session !== undefined) found.push({ _tag: "Cookie", value: session })
  if (key !== undefined) found.push({ _tag: "Key", value: key })
  if (found.length === 0 && authorization !== undefined) found.push({ _tag: "Unknown" })
  return found
}

/** Session tokens are 32 letters and digits. */
export const tokenForm = /^[A-Za-z0-9]{32}$/

/** The stored form of a session's token: its SHA-256 in hexadecimal, which cannot be used to sign in. */
export const tokenDigest = (token: string): string => hash("sha256", token, "hex")

const signatureOf = (token: string, secret: string): Buffer => createHmac("sha256", secret).update(token).digest()

/** `token.signature` in a session cookie and the header `set-auth-token` (contract, platform §3, cookies). */
export const signToken = (token: string, secret: string): string =>
  `${token}.${signatureOf(token, secret).toString("base64")}`

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
