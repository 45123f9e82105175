import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto"

const cipher = "aes-256-gcm"
const nonceBytes = 12
const tagBytes = 16

/** What is stored of a key: enough to find it again, not enough to send it or to open the answer that lies under it. */
export const keyDigest = (scope: string, key: string): string =>
  createHash("sha256").update(`${scope}\n${key}`).digest("hex")

/** The work's id is random, so the same key twice seals under different secrets. */
const secretOf = (key: string, executionId: string): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", key, executionId, "stoa idempotency answer", 32))

/**
 * Encrypts an answer under the idempotency key it belongs to, which only the client has: an answer may hold a secret, as
 * that of a new cart does, and a copy of the database opens none (as far as the key cannot be guessed).
 */
export const encrypt = (key: string, executionId: string, answer: string): string => {
  const nonce = randomBytes(nonceBytes)
  const sealing = createCipheriv(cipher, secretOf(key, executionId), nonce)
  const encrypted = [sealing.update(answer, "utf8"), sealing.final()]
  return Buffer.concat([nonce, sealing.getAuthTag(), ...encrypted]).toString("base64")
}

/** The answer that was sealed under this key. Throws when it was sealed under another one or has been changed. */
export const unseal = (key: string, executionId: string, encrypted: string): string => {
  const bytes = Buffer.from(encrypted, "base64")
  const opening = createDecipheriv(cipher, secretOf(key, executionId), bytes.subarray(0, nonceBytes))
  opening.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  return Buffer.concat([opening.update(bytes.subarray(nonceBytes + tagBytes)), opening.final()]).toString("utf8")
}
