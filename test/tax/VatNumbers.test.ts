import { assert, describe, it } from "@effect/vitest"
import { vatNumberOf } from "../../src/domain/tax/VatNumber.ts"
import { testVatNumbers } from "../../src/layers/tax/TestVatNumbers.ts"

describe("VAT numbers of EU countries", () => {
  it("are recognised by their form, with spaces, dots and dashes", () => {
    const known: ReadonlyArray<readonly [string, string, string]> = [
      ["atu 123 456 78", "AT", "ATU12345678"],
      ["ES-B12345678", "ES", "ESB12345678"],
      ["IE1234567FA", "IE", "IE1234567FA"],
      ["FR.K7.399859412", "FR", "FRK7399859412"],
      ["NL123456789B01", "NL", "NL123456789B01"],
      ["GR123456789", "GR", "EL123456789"],
      ["EL123456789", "GR", "EL123456789"]
    ]
    for (const [text, country, number] of known) assert.deepStrictEqual(vatNumberOf(text), { country, number })
  })

  it("are none with another length, another country or no prefix", () => {
    const others = ["", "DE", "DE12345678", "DE1234567890", "123456789", "GB123456789", "CHE123456788", "constructor"]
    for (const text of others) assert.isUndefined(vatNumberOf(text), text)
  })

  it("are answered by the test service as they say", async () => {
    const { signal } = new AbortController()
    assert.deepStrictEqual(
      [
        await testVatNumbers.isRegistered("ATU12345678", signal),
        await testVatNumbers.isRegistered("ATU40412345", signal)
      ],
      [true, false]
    )
    const closed = await Promise.allSettled([testVatNumbers.isRegistered("ATU50312345", signal)])
    assert.strictEqual(closed[0].status, "rejected")
  })
})
