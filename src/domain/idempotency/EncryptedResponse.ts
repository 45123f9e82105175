import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto"

const cipher = "aes-256-gcm"
const nonceBytes = 12
const tagBytes = 16

/** The stored digest of a key: enough to find it, not enough to use it or to decrypt its response. */
export const keyDigest = (scope: string, key: string): string =>
  createHash("sha256").update(`${scope}\n${key}`).digest("hex")

/** The execution's id is random, so the same key used twice encrypts under different secrets. */
const secretOf = (key: string, executionId: string): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", key, executionId, "stoa idempotency answer", 32))

/**
 * Encrypts a response under its idempotency key, which only the client has: a response may hold a secret, such as that
 * of a new cart, and a copy of the database must not reveal it (as long as the key cannot be guessed).
 */
export const encrypt = (key: string, executionId: string, answer: string): string => {
  const nonce = randomBytes(nonceBytes)
  const encipher = createCipheriv(cipher, secretOf(key, executionId), nonce)
  const encrypted = [encipher.update(answer, "utf8"), encipher.final()]
  return Buffer.concat([nonce, encipher.getAuthTag(), ...encrypted]).toString("base64")
}

/** Decrypts a response with this key. Throws for another key or a modified text. */
export const decrypt = (key: string, executionId: string, encrypted: string): string => {
  const bytes = Buffer.from(encrypted, "base64")
  const decipher = createDecipheriv(cipher, secretOf(key, executionId), bytes.subarray(0, nonceBytes))
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString("utf8")
}
