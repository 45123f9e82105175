import { randomBytes } from "node:crypto"

const prefix = "whsec_"
const canonical = /^[A-Za-z0-9+/]+={0,2}$/

/** A new secret: `whsec_` and 32 random bytes in base64 (contract, platform §9.1). */
export const newSecret = (): string => prefix + randomBytes(32).toString("base64")

/** Why a client's secret is refused; undefined if it is valid (contract, platform §9.1). */
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
export const signingKey = (secret: string): Uint8Array =>
  secret.startsWith(prefix) ? Buffer.from(secret.slice(prefix.length), "base64") : Buffer.from(secret, "utf8")

/** Owner of an endpoint's secret for its encryption. */
export const secretOwner = (organizationId: string, endpointId: string): string => `${organizationId}/${endpointId}`
