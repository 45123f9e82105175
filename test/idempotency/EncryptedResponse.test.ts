import { assert, describe, it } from "@effect/vitest"
import { decrypt, encrypt, keyDigest } from "../../src/domain/platform/idempotency/IdempotencyRepo.ts"

describe("an encrypted answer", () => {
  const answer = "{\"data\":{\"secret\":\"ünguessable\"}}"

  it("decrypts with the key and the execution it was encrypted for", () => {
    assert.strictEqual(decrypt("the-key", "work", encrypt("the-key", "work", answer)), answer)
    assert.strictEqual(decrypt("the-key", "work", encrypt("the-key", "work", "")), "")
  })

  it("opens with no other key, no other work, and not after it was changed", () => {
    const encrypted = encrypt("the-key", "work", answer)
    const changed = Buffer.from(encrypted, "base64")
    changed[40] = (changed[40] ?? 0) ^ 1
    assert.throws(() => decrypt("another-key", "work", encrypted))
    assert.throws(() => decrypt("the-key", "other work", encrypted))
    assert.throws(() => decrypt("the-key", "work", changed.toString("base64")))
  })

  it("shows nothing of the answer and is never the same twice", () => {
    const encrypted = encrypt("the-key", "work", answer)
    assert.notInclude(Buffer.from(encrypted, "base64").toString("latin1"), "secret")
    assert.notStrictEqual(encrypt("the-key", "work", answer), encrypted)
  })

  it("is found by a digest of the key that differs by caller", () => {
    assert.strictEqual(keyDigest("caller", "key"), keyDigest("caller", "key"))
    assert.notStrictEqual(keyDigest("caller", "key"), keyDigest("another", "key"))
    assert.notInclude(keyDigest("caller", "the-key"), "the-key")
  })
})
