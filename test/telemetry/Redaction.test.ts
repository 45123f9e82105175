import { assert, describe, it } from "@effect/vitest"
import { redactText, redactValue } from "../../src/layers/telemetry/Redaction.ts"

const secret = "s3cr3t-V4lue"

describe("a text of the log", () => {
  it.each([
    `authorization: Bearer ${secret}`,
    `Authorization: Basic ${secret}`,
    `cookie=${secret}; path=/`,
    `{"x-cart-secret":"${secret}","x":1}`,
    `{\\"apiKey\\":\\"${secret}\\"}`,
    `x-api-key: ${secret}`,
    `paymentMethodToken=${secret}&amount=1`,
    `postgres://stoa:${secret}@db:5432/stoa`,
    `it signs with whsec_${Buffer.from(secret).toString("base64")}+${secret}/${secret}=`,
    `clientSecret pi_123_secret_${secret.replace("-", "")}`,
    `unnamed portal parameter $2 = '${secret}'`,
    `invalid input syntax for type uuid: "${secret}"`,
    `Key (slug)=(${secret}) already exists.`,
    `Failing row contains (1, ${secret}, null).`
  ])("loses the secret of %s", (text) => {
    const clean = redactText(text)
    assert.notInclude(clean, "s3cr3t")
    assert.include(clean, "<redacted>")
  })

  it.each(["order 12 was paid", "GET /api/carts/{id} 404", "the token bucket is full", "secretary of the board"])(
    "keeps %s",
    (text) => assert.strictEqual(redactText(text), text)
  )

  it("removes known secrets of any form", () => {
    assert.strictEqual(redactText("it said open sesame", ["open sesame"]), "it said <redacted>")
  })
})

it("a value under the name of a secret is lost whole, at any depth", () => {
  assert.deepStrictEqual(
    redactValue({ a: [{ password: { hash: 1 }, name: "Ada" }], headers: { Cookie: ["x"] } }),
    { a: [{ password: "<redacted>", name: "Ada" }], headers: { Cookie: "<redacted>" } }
  )
})

it("a value that JSON cannot write is written all the same", () => {
  const own: Record<string, unknown> = { units: 12n, at: new Date(0), why: new Error("token=abcdef") }
  own["self"] = [own]
  const text = JSON.stringify(redactValue(own))
  assert.include(text, `{"units":"12","at":"1970-01-01T00:00:00.000Z","why":"Error: token=<redacted>","self":[{`)
})
