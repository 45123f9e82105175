import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { api, TestApp, testAppLayer, testAppOn } from "../support/TestApp.ts"
import { aTaxClass } from "./TaxedShop.ts"

type Tax = NonNullable<Parameters<typeof testAppOn>[1]["tax"]>

/** Starts the service again with other settings, and says why it does not. */
const startWith = Effect.fnUntraced(function*(tax: Tax) {
  const { databaseUrl } = yield* TestApp
  const started = Effect.scoped(Layer.build(testAppOn(databaseUrl, { tax })))
  return yield* Effect.match(started, { onFailure: String, onSuccess: () => "started" })
})

it.layer(testAppLayer(), { excludeTestServices: true, timeout: "4 minutes" })("the class of shipping", (it) => {
  it.effect("has to be a class of its organization before the service starts, once there is one", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* startWith({ shippingClassId: "standard" }), "started")
      const id = (yield* aTaxClass({ name: "Standard" })).text("data.id")
      yield* aTaxClass({ name: "Books" })
      for (const shippingClassId of ["standard", "STANDARD", id]) {
        assert.strictEqual(yield* startWith({ shippingClassId }), "started")
      }
      const unknown = yield* startWith({ shippingClassId: "standrad" })
      assert.include(
        unknown,
        "tax.shippingClassId is \"standrad\", which is no tax class of organization \"org_default\". " +
          "Set the slug or id of one of its classes (books, standard), or remove the setting."
      )
      const own = { shippingClassId: "standard", organizations: { org_default: { shippingClassId: "reduced" } } }
      assert.include(yield* startWith(own), "tax.organizations.org_default.shippingClassId is \"reduced\"")
      const elsewhere = { organizations: { org_without_classes: { shippingClassId: "reduced" } } }
      assert.strictEqual(yield* startWith(elsewhere), "started")
      assert.strictEqual((yield* api("GET", "/api/health")).status, 200)
    }))
})
