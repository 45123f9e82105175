import { createHmac, randomBytes } from "node:crypto"

const prefix = "whsec_"
const canonical = /^[A-Za-z0-9+/]+={0,2}$/

/** A new secret: `whsec_` and 32 random bytes in base64 (contract, platform §9.1). */
export const newSecret = (): string => prefix + randomBytes(32).toString("base64")

/** Why a client's own secret is refused; undefined when it may be used (contract, platform §9.1). */
export const secretRefusal = (secret: string): string | undefined => {
  if (!secret.startsWith(prefix)) {
    return secret.length >= 16 && secret.length <= 128 ? undefined : "must have 16 to 128 characters"
  }
  const text = secret.slice(prefix.length)
  const bytes = Buffer.from(text, "base64")
  return canonical.test(text) && bytes.toString("base64") === text && bytes.length >= 24 && bytes.length <= 64
    ? undefined
    : "must be whsec_ and the base64 of 24 to 64 bytes"
}

/** The signing key: the decoded bytes after `whsec_`, else the secret in UTF-8. */
const keyOf = (secret: string): Uint8Array =>
  secret.startsWith(prefix) ? Buffer.from(secret.slice(prefix.length), "base64") : Buffer.from(secret, "utf8")

const signature = (secret: string, signed: string): string =>
  `v1,${createHmac("sha256", keyOf(secret)).update(signed).digest("base64")}`

/** A message and the time of this attempt. */
export interface SignedMessage {
  /** The body's `id`. */
  readonly id: string
  readonly type: string
  readonly body: string
  readonly at: Date
}

/**
 * Headers of a delivery (contract, platform §9.2), after Standard Webhooks. The first secret is the endpoint's current
 * one; the others also sign while a rotation overlaps. The older `x-commerce-signature` supports one signature only.
 */
export const deliveryHeaders = (
  { at, body, id, type }: SignedMessage,
  [secret, ...others]: readonly [string, ...ReadonlyArray<string>]
): Readonly<Record<string, string>> => {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const signed = `${id}.${timestamp}.${body}`
  return {
    "content-type": "application/json",
    "user-agent": "Stoa-Webhooks/1",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": [secret, ...others].map((one) => signature(one, signed)).join(" "),
    "x-commerce-event": type,
    "x-commerce-signature": createHmac("sha256", secret).update(body).digest("hex")
  }
}
