import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { asAdmin } from "../../../../../test/support/TestApp.ts"
import { announced } from "../Books.ts"
import { asVendor, done, each, refused, refusedBodies } from "../Calls.ts"
import { aVendor } from "../Goods.ts"
import { market } from "../Market.ts"

const paper = (type: string) => ({ type, fileUrl: `https://files.example.com/${type}.pdf` })
const aPending = aVendor({ status: "pending" })

const handIn = (vendorId: string, type = "identity") =>
  Effect.map(done(asVendor(vendorId), "POST /vendor/me/documents", paper(type)), (made) => made.text("data.id"))

const judgement = (vendorId: string, id: string, how: "approve" | "reject" = "approve") =>
  `POST /vendors/${vendorId}/documents/${id}/${how}`
const approve = (vendorId: string, type?: string) =>
  Effect.flatMap(handIn(vendorId, type), (id) => done(asAdmin, judgement(vendorId, id)))

const assertState = Effect.fnUntraced(function*(id: string, status: string, verificationStatus: string) {
  assert.deepInclude((yield* done(asAdmin, `GET /vendors/${id}`)).at("data"), { status, verificationStatus })
})

market({ requiredDocuments: ["identity", "tax_form"] })("documents of a vendor", (test) => {
  test("are handed in with an address of their file, and listed newest first", function*() {
    const [id, other] = [yield* aPending, yield* aPending]
    yield* handIn(other)
    const [first, second] = [yield* handIn(id), yield* handIn(id, "tax_form")]
    for (const route of [`GET /vendors/${id}/documents`, "GET /vendor/me/documents"]) {
      assert.deepStrictEqual(each(yield* done({ ...asAdmin, ...asVendor(id), permissions: ["*:*"] }, route), "id"), [
        second,
        first
      ])
    }
    yield* assertState(id, "pending", "documents_submitted")
    const wrong = [{}, { ...paper("identity"), type: "selfie" }, { ...paper("identity"), fileUrl: "file" }]
    yield* refusedBodies("422 VALIDATION_FAILED", asAdmin, `POST /vendors/${id}/documents`, wrong)
  })

  test("are judged once, as their vendor's, with notes or without a body", function*() {
    const [id, other] = [yield* aPending, yield* aPending]
    const [bad, good] = [yield* handIn(id), yield* handIn(id)]
    for (const [vendor, document] of [[other, bad], [id, randomUUID()], [randomUUID(), bad]] as const) {
      yield* refused("404 NOT_FOUND", asAdmin, judgement(vendor, document))
    }
    const rejected = yield* done(asAdmin, judgement(id, bad, "reject"), { notes: "Not readable." })
    assert.deepInclude(rejected.at("data"), { status: "rejected", reviewerNotes: "Not readable." })
    assert.isString(rejected.at("data.reviewedAt"))
    const approved = yield* done(asAdmin, judgement(id, good))
    assert.deepInclude(approved.at("data"), { status: "approved", reviewerNotes: null })
    for (const document of [bad, good]) {
      for (const how of ["approve", "reject"] as const) {
        yield* refused("422 INVALID_TRANSITION", asAdmin, judgement(id, document, how))
      }
    }
  })

  test("have to be approved, all that are asked for, before the vendor is", function*() {
    const id = yield* aPending
    yield* approve(id)
    const early = yield* refused("422 VALIDATION_FAILED", asAdmin, `POST /vendors/${id}/approve`)
    assert.match(early.text("error.message"), /^(?!.*identity).*tax_form/)
    yield* assertState(id, "pending", "documents_submitted")
    assert.strictEqual(yield* announced("vendor.approved", id), 0)
    yield* approve(id, "tax_form")
    yield* assertState(id, "pending", "verified")
    yield* done(asAdmin, `POST /vendors/${id}/approve`)
    yield* handIn(id, "other")
    yield* assertState(id, "approved", "verified")
    assert.strictEqual(yield* announced("vendor.approved", id), 1)
  })

  test("bring a rejected vendor back when a new one is handed in, not when old ones are approved", function*() {
    const id = yield* aPending
    const papers = [yield* handIn(id), yield* handIn(id, "tax_form")]
    yield* done(asAdmin, `POST /vendors/${id}/reject`, { reason: "No." })
    for (const document of papers) yield* done(asAdmin, judgement(id, document))
    yield* assertState(id, "rejected", "rejected")
    yield* handIn(id, "other")
    yield* assertState(id, "pending", "documents_submitted")
    const back = yield* done(asAdmin, `POST /vendors/${id}/approve`)
    assert.deepInclude(back.at("data"), { verificationStatus: "verified", rejectionReason: null })
  })

  test("verify their vendor also when the last two are approved at the same moment", function*() {
    for (let turn = 0; turn < 5; turn++) {
      const id = yield* aPending
      const papers = [yield* handIn(id), yield* handIn(id, "tax_form")]
      yield* Effect.all(papers.map((one) => done(asAdmin, judgement(id, one))), { concurrency: 2 })
      yield* assertState(id, "pending", "verified")
    }
  })
})

market({ requiredDocuments: ["identity"], vendorApprovalMode: "auto" })("a store that approves by itself", (test) => {
  test("waits for the required documents", function*() {
    const id = (yield* done(asAdmin, "POST /vendors", { name: "Waits" })).text("data.id")
    yield* assertState(id, "pending", "unverified")
    yield* approve(id, "other")
    yield* assertState(id, "pending", "documents_submitted")
    yield* approve(id)
    yield* assertState(id, "approved", "verified")
    assert.strictEqual(yield* announced("vendor.approved", id), 1)
  })
})
