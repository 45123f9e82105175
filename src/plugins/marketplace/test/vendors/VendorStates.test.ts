import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { admin, aDocument, announced, assertOnce, aVendor, withMarketplace } from "../VendorShop.ts"

type Step = "approve" | "reject" | "suspend" | "reinstate"

const step = (id: string, name: Step) =>
  admin("POST", `/${id}/${name}`, name === "reject" || name === "suspend" ? { reason: `To ${name} it.` } : undefined)

const anApproved = Effect.fnUntraced(function*() {
  const id = yield* aVendor()
  assert.strictEqual((yield* step(id, "approve")).status, 201)
  return id
})

withMarketplace()("the status of a vendor", (it) => {
  it.effect("says why and since when, and forgets it when the vendor is back", () =>
    Effect.gen(function*() {
      const id = yield* anApproved()
      const away = yield* step(id, "suspend")
      assert.strictEqual(away.at("data.suspensionReason"), "To suspend it.")
      assert.isString(away.at("data.suspendedAt"))
      const back = yield* step(id, "reinstate")
      assert.deepInclude(back.at("data"), { status: "approved", suspensionReason: null, suspendedAt: null })
      assert.strictEqual(yield* announced("vendor.approved", id), 1)
    }))

  it.effect("becomes pending again with a new document of a rejected vendor", () =>
    Effect.gen(function*() {
      const id = yield* aVendor()
      const rejected = yield* step(id, "reject")
      assert.deepInclude(rejected.at("data"), {
        status: "rejected",
        verificationStatus: "rejected",
        rejectionReason: "To reject it."
      })
      assert.strictEqual((yield* admin("POST", `/${id}/documents`, aDocument())).status, 201)
      const again = yield* admin("GET", `/${id}`)
      assert.deepInclude(again.at("data"), {
        status: "pending",
        verificationStatus: "documents_submitted",
        rejectionReason: null
      })
      assert.strictEqual((yield* step(id, "approve")).status, 201)
    }))

  it.effect("the status of a vendor is approved once by eight who approve at the same moment, and announced once", () =>
    Effect.gen(function*() {
      const id = yield* aVendor()
      yield* assertOnce(step(id, "approve"))
      assert.strictEqual(yield* announced("vendor.approved", id), 1)
    }))
})
