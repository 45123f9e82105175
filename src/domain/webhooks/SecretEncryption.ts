import { Redacted, Schema } from "effect"
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto"
import type { WebhookEndpointId } from "../platform/ids/Id.ts"

const cipher = "aes-256-gcm"
const nonceBytes = 12
const tagBytes = 16

/** The id is the beginning of the key's digest: rows name the key that encrypted them. */
export interface SecretsKey {
  readonly id: string
  readonly bytes: Redacted.Redacted<Uint8Array>
}

export type Keyring = readonly [SecretsKey, ...ReadonlyArray<SecretsKey>]

const keyOf = (bytes: Uint8Array): SecretsKey => ({
  id: createHash("sha256").update(bytes).digest("hex").slice(0, 8),
  bytes: Redacted.make(bytes, { label: "secrets key" })
})

/** For tests and deployments without secrets or mail. It is not secret. */
export const developmentKeyring: Keyring = [keyOf(createHash("sha256").update("stoa development").digest())]

const encoded = /^[A-Za-z0-9+/]{43}=$/

/**
 * Reads `STOA_SECRETS_KEY`: keys of 32 bytes in base64, separated by commas, the newest first. Undefined when one is
 * invalid.
 */
export const readKeyring = (text: string): Keyring | undefined => {
  const parts = text.split(",").map((part) => part.trim())
  if (!parts.every((part) => encoded.test(part))) return undefined
  const [first, ...others] = parts.map((part) => keyOf(Buffer.from(part, "base64")))
  return first === undefined ? undefined : [first, ...others]
}

/** The key's id, and nonce, tag and ciphertext in base64. */
export const Encrypted = Schema.Struct({ keyId: Schema.String, text: Schema.String })
export type Encrypted = typeof Encrypted.Type

/** `owner` is authenticated with the secret (AAD): a row copied to another owner does not decrypt. */
export const encryptSecret = ([key]: Keyring, owner: string, secret: string): Encrypted => {
  const nonce = randomBytes(nonceBytes)
  const sealing = createCipheriv(cipher, Redacted.value(key.bytes), nonce).setAAD(Buffer.from(owner))
  const encrypted = [sealing.update(secret, "utf8"), sealing.final()]
  return { keyId: key.id, text: Buffer.concat([nonce, sealing.getAuthTag(), ...encrypted]).toString("base64") }
}

export const openSecret = (keyring: Keyring, owner: string, { keyId, text }: Encrypted): string | undefined => {
  const key = keyring.find(({ id }) => id === keyId)
  const bytes = Buffer.from(text, "base64")
  if (key === undefined || bytes.length < nonceBytes + tagBytes) return undefined
  const opening = createDecipheriv(cipher, Redacted.value(key.bytes), bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes
  }).setAAD(Buffer.from(owner))
  opening.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  try {
    const opened = [opening.update(bytes.subarray(nonceBytes + tagBytes)), opening.final()]
    return Buffer.concat(opened).toString("utf8")
  } catch {
    return undefined
  }
}

const prefix = "whsec_"
const canonical = /^[A-Za-z0-9+/]+={0,2}$/

/** `whsec_` and 32 random bytes in base64 (contract, platform §9.1). */
export const newSecret = (): string => prefix + randomBytes(32).toString("base64")

export const secretRefusal = (secret: string): string | undefined => {
  if (!secret.startsWith(prefix)) {
    return secret.length >= 16 && secret.length <= 128 ? undefined : "must have 16 to 128 characters."
  }
  const text = secret.slice(prefix.length)
  const bytes = Buffer.from(text, "base64")
  return canonical.test(text) && bytes.toString("base64") === text && bytes.length >= 24 && bytes.length <= 64
    ? undefined
    : "must be whsec_ and the base64 of 24 to 64 bytes."
}

export const signingKey = (secret: string): Uint8Array =>
  secret.startsWith(prefix) ? Buffer.from(secret.slice(prefix.length), "base64") : Buffer.from(secret, "utf8")

export const secretOwner = (organizationId: string, endpointId: WebhookEndpointId): string =>
  `${organizationId}/${endpointId}`
