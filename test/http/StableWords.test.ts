import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { conflict, invalid } from "../../src/domain/platform/errors/ErrorKinds.ts"
import { api, asAdmin, withSharedApp } from "../support/TestApp.ts"

describe("the kinds of refusals", () => {
  it("have the name of their rule as a word for programs, unless they say another one", () => {
    class SlotTaken extends conflict("SlotTaken", "The slot is taken.") {}
    class CartBusy extends conflict("CartBusy", "Try again.", { retryable: true }) {}
    class TooManyUnits extends invalid("TooManyUnits", "quantity", (most: number) => `must be at most ${most}.`) {}
    class NoOwner extends invalid("NoOwner", "owner", "is required.", "required") {}
    assert.deepStrictEqual(new SlotTaken().error.details, { reason: "slot_taken", retryable: false })
    assert.deepStrictEqual(new CartBusy().error.details, { reason: "cart_busy", retryable: true })
    assert.deepStrictEqual(new TooManyUnits(5).error.details.issues, [
      { path: "quantity", message: "quantity must be at most 5.", code: "too_many_units" }
    ])
    assert.strictEqual(new NoOwner().error.details.issues[0]?.code, "required")
  })
})

withSharedApp("a conflict over HTTP", (it) => {
  it.effect("says its reason and whether to send it again", () =>
    Effect.gen(function*() {
      const create = api("POST", "/api/catalog/brands", { as: asAdmin, body: { slug: "said-twice", displayName: "A" } })
      assert.strictEqual((yield* create).status, 201)
      const refused = yield* create
      assert.strictEqual(refused.status, 409)
      assert.deepStrictEqual(refused.at("error.details"), { reason: "brand_slug_taken", retryable: false })
    }))
})
