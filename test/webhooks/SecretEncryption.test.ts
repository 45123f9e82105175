import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { randomBytes } from "node:crypto"
import { inspect } from "node:util"
import { encryptSecret, openSecret, readKeyring } from "../../src/domain/webhooks/SecretEncryption.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"

const aKey = () => randomBytes(32).toString("base64")

const keyring = (text: string) => {
  const read = readKeyring(text)
  if (read === undefined) throw new Error("not a keyring")
  return read
}

describe("the secret of an endpoint at rest", () => {
  it("an encrypted secret decrypts only with its key and for its owner", () => {
    const own = keyring(aKey())
    const encrypted = encryptSecret(own, "org/endpoint", "whsec_secret")
    assert.strictEqual(openSecret(own, "org/endpoint", encrypted), "whsec_secret")
    assert.isUndefined(openSecret(own, "org/other", encrypted))
    assert.isUndefined(openSecret(keyring(aKey()), "org/endpoint", encrypted))
    assert.isUndefined(openSecret(own, "org/endpoint", { ...encrypted, text: encrypted.text.slice(0, 20) }))
    const changed = Buffer.from(encrypted.text, "base64")
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1
    assert.isUndefined(openSecret(own, "org/endpoint", { ...encrypted, text: changed.toString("base64") }))
  })

  it("a secret is encrypted differently every time", () => {
    const own = keyring(aKey())
    assert.notStrictEqual(encryptSecret(own, "o", "s").text, encryptSecret(own, "o", "s").text)
  })

  it("a secret still decrypts after a newer key was added, which encrypts from then on", () => {
    const [older, newer] = [aKey(), aKey()]
    const before = encryptSecret(keyring(older), "o", "s")
    const both = keyring(`${newer}, ${older}`)
    assert.strictEqual(openSecret(both, "o", before), "s")
    const after = encryptSecret(both, "o", "s")
    assert.notStrictEqual(after.keyId, before.keyId)
    assert.strictEqual(openSecret(keyring(newer), "o", after), "s")
  })

  it("a key is printed by nothing", () => {
    const text = aKey()
    assert.notInclude(inspect(keyring(text), { depth: 9 }) + JSON.stringify(keyring(text)), text)
    assert.notInclude(inspect(keyring(text), { depth: 9 }), "Uint8Array")
  })
})

const read = (
  webhooks: DeploymentConfig["webhooks"],
  environment: "development" | "production" | "test",
  env: Record<string, string> = {}
) =>
  readSettings({
    ...(webhooks && { webhooks }),
    auth: { requireEmailVerification: false, secret: "s".repeat(32) }
  }).pipe(
    Effect.map((settings) => settings.webhooks),
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({ env: { ...env, NODE_ENV: environment } })
    )
  )

describe("the settings of webhooks", () => {
  it.effect("the settings have a key only if one is set", () =>
    Effect.gen(function*() {
      assert.isUndefined((yield* read({}, "development")).keyring)
      assert.isUndefined((yield* read({}, "production")).keyring)
      assert.isDefined((yield* read({}, "production", { STOA_SECRETS_KEY: aKey() })).keyring)
    }))

  it.effect("the settings allow internal addresses in development and if configured, never in production", () =>
    Effect.gen(function*() {
      assert.isTrue((yield* read(undefined, "development")).allowPrivate)
      assert.isFalse((yield* read(undefined, "test")).allowPrivate)
      assert.isFalse((yield* read(undefined, "production")).allowPrivate)
      assert.isFalse((yield* read({ allowPrivateTargets: false }, "development")).allowPrivate)
      assert.isTrue((yield* read({ allowPrivateNetworks: true }, "test")).allowPrivate)
      assert.isTrue((yield* read({}, "test", { STOA_WEBHOOKS_ALLOW_PRIVATE: "true" })).allowPrivate)
    }))

  const wrong: ReadonlyArray<readonly [DeploymentConfig["webhooks"], Record<string, string>, RegExp]> = [
    [{ allowPrivateTargets: true }, {}, /allowPrivateTargets/],
    [{ allowPrivateNetworks: true }, {}, /allowPrivateTargets/],
    [{}, { STOA_WEBHOOKS_ALLOW_PRIVATE: "true" }, /allowPrivateTargets/],
    [{}, { STOA_WEBHOOKS_ALLOW_PRIVATE: "yes" }, /STOA_WEBHOOKS_ALLOW_PRIVATE/],
    [{}, { STOA_SECRETS_KEY: "secret" }, /STOA_SECRETS_KEY/],
    [{}, { STOA_SECRETS_KEY: `${aKey()},${aKey().slice(4)}` }, /STOA_SECRETS_KEY/],
    [{ disableAfterDays: 0 }, {}, /webhooks\.disableAfterDays/],
    [{ rotationHours: -1 }, {}, /webhooks\.rotationHours/],
    [{ retentionDays: NaN }, {}, /webhooks\.retentionDays/],
    [{ backoff: { baseSeconds: 0 } }, {}, /webhooks\.backoff\.baseSeconds/],
    [{ backoff: { factor: 0.5 } }, {}, /webhooks\.backoff\.factor/],
    [{ backoff: { maxSeconds: Infinity } }, {}, /webhooks\.backoff\.maxSeconds/],
    [{ backoff: { jitter: 2 } }, {}, /webhooks\.backoff\.jitter/]
  ]

  for (const [webhooks, env, name] of wrong) {
    it.effect(`a start in production fails with one line for ${JSON.stringify(webhooks)} ${Object.keys(env).join()} ${name}`, () =>
      Effect.gen(function*() {
        const { message } = yield* Effect.flip(read(webhooks, "production", env))
        assert.match(message, name)
        for (const value of Object.values(env).filter((one) => one.length > 5)) assert.notInclude(message, value)
      }))
  }
})
