import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { admin, aDocument, announced, aVendor, refusal, withMarketplace } from "../VendorShop.ts"

const handIn = (vendorId: string, type = "identity") =>
  Effect.map(admin("POST", `/${vendorId}/documents`, aDocument(type)), (made) => made.text("data.id"))

const judge = (vendorId: string, id: string, how: "approve" | "reject", body?: object) =>
  admin("POST", `/${vendorId}/documents/${id}/${how}`, body)

const state = (id: string) =>
  Effect.map(admin("GET", `/${id}`), (read) => [read.at("data.status"), read.at("data.verificationStatus")])

withMarketplace({ requiredDocuments: ["identity", "tax_form"] })("documents of a vendor", (it) => {
  it.effect("documents of a vendor are handed in with an address of their file, and listed newest first", () =>
    Effect.gen(function*() {
      const id = yield* aVendor()
      const first = yield* handIn(id)
      const second = yield* handIn(id, "tax_form")
      const list = yield* admin("GET", `/${id}/documents`)
      assert.deepStrictEqual([list.at("data.0.id"), list.at("data.1.id")], [second, first])
      assert.deepInclude(list.at("data.1"), { type: "identity", status: "pending", reviewedAt: null })
      assert.deepStrictEqual(yield* state(id), ["pending", "documents_submitted"])
      for (const body of [{}, { type: "selfie", fileUrl: "https://a.example" }, { ...aDocument(), fileUrl: "file" }]) {
        assert.deepStrictEqual(yield* refusal(admin("POST", `/${id}/documents`, body)), [422, "VALIDATION_FAILED"])
      }
    }))

  it.effect("documents of a vendor are judged once, with notes or without a body", () =>
    Effect.gen(function*() {
      const id = yield* aVendor()
      const bad = yield* judge(id, yield* handIn(id), "reject", { notes: "Not readable." })
      assert.deepInclude(bad.at("data"), { status: "rejected", reviewerNotes: "Not readable." })
      assert.isString(bad.at("data.reviewedAt"))
      const good = yield* judge(id, yield* handIn(id), "approve")
      assert.deepStrictEqual([good.status, good.at("data.status"), good.at("data.reviewerNotes")], [
        201,
        "approved",
        null
      ])
      for (const [document, how] of [[bad, "approve"], [bad, "reject"], [good, "reject"], [good, "approve"]] as const) {
        assert.deepStrictEqual(
          yield* refusal(judge(id, document.text("data.id"), how)),
          [422, "INVALID_TRANSITION"]
        )
      }
    }))

  it.effect("documents of a vendor belong to their vendor: judged as another's they are not found", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* aVendor(), yield* aVendor()]
      const document = yield* handIn(one)
      for (const [vendor, id] of [[other, document], [one, randomUUID()], [randomUUID(), document]] as const) {
        assert.deepStrictEqual(yield* refusal(judge(vendor, id, "approve")), [404, "NOT_FOUND"])
      }
      assert.strictEqual((yield* admin("GET", `/${one}/documents`)).at("data.0.status"), "pending")
    }))

  it.effect("documents of a vendor have to be approved, all that are asked for, before the vendor is", () =>
    Effect.gen(function*() {
      const id = yield* aVendor()
      yield* judge(id, yield* handIn(id), "approve")
      const early = yield* admin("POST", `/${id}/approve`)
      assert.strictEqual(early.status, 422)
      assert.strictEqual(early.at("error.code"), "VALIDATION_FAILED")
      assert.include(early.text("error.message"), "tax_form")
      assert.notInclude(early.text("error.message"), "identity")
      assert.deepStrictEqual(yield* state(id), ["pending", "documents_submitted"])
      assert.strictEqual(yield* announced("vendor.approved", id), 0)
      yield* judge(id, yield* handIn(id, "tax_form"), "approve")
      assert.deepStrictEqual(yield* state(id), ["pending", "verified"])
      assert.strictEqual((yield* admin("POST", `/${id}/approve`)).status, 201)
      yield* handIn(id, "other")
      assert.deepStrictEqual(yield* state(id), ["approved", "verified"])
    }))

  it.effect("documents of a vendor do not bring a rejected vendor back when they are approved; a new one does", () =>
    Effect.gen(function*() {
      const id = yield* aVendor()
      const papers = [yield* handIn(id), yield* handIn(id, "tax_form")]
      yield* admin("POST", `/${id}/reject`, { reason: "No." })
      for (const paper of papers) assert.strictEqual((yield* judge(id, paper, "approve")).status, 201)
      assert.deepStrictEqual(yield* state(id), ["rejected", "rejected"])
      yield* handIn(id, "other")
      assert.deepStrictEqual(yield* state(id), ["pending", "documents_submitted"])
      assert.strictEqual((yield* admin("POST", `/${id}/approve`)).at("data.verificationStatus"), "verified")
    }))

  it.effect("documents of a vendor verify their vendor also when the last two are approved at the same moment", () =>
    Effect.gen(function*() {
      for (let turn = 0; turn < 5; turn++) {
        const id = yield* aVendor()
        const papers = [yield* handIn(id), yield* handIn(id, "tax_form")]
        yield* Effect.all(papers.map((paper) => judge(id, paper, "approve")), { concurrency: 2 })
        assert.deepStrictEqual(yield* state(id), ["pending", "verified"])
      }
    }))
})

withMarketplace({ requiredDocuments: ["identity"], vendorApprovalMode: "auto" })(
  "a store that approves by itself",
  (it) => {
    it.effect("automatic approval waits for the required documents", () =>
      Effect.gen(function*() {
        const id = yield* aVendor()
        assert.deepStrictEqual(yield* state(id), ["pending", "unverified"])
        yield* judge(id, yield* handIn(id, "other"), "approve")
        assert.deepStrictEqual(yield* state(id), ["pending", "documents_submitted"])
        yield* judge(id, yield* handIn(id), "approve")
        assert.deepStrictEqual(yield* state(id), ["approved", "verified"])
        assert.strictEqual(yield* announced("vendor.approved", id), 1)
      }))
  }
)
