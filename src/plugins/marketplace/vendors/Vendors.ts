import { DateTime, Effect, Schema } from "effect"
import { type ChangeOf, Conflict, conflict, forbidden, FreeText, group, invalid, newId, resource } from "stoa/plugin"
import { missingDocuments } from "../documents/VendorDocuments.ts"
import { inTransaction, Market, permission } from "../Market.ts"
import { managers, mayForVendor, ownVendor, portal } from "../parties/VendorPortal.ts"
import {
  announceApproval,
  NewVendor,
  OwnVendorChange,
  partsOf,
  Refusal,
  slugOf,
  toView,
  vendor,
  VendorChange,
  type VendorRow,
  vendors,
  vendorSecrets,
  VendorView,
  vendorView
} from "./Vendor.ts"

/** 409 for a slug that another vendor has. */
class VendorSlugTaken
  extends conflict("VendorSlugTaken", (slug: string) => `A vendor has the slug "${slug}" already.`)
{}
class SuspendedVendor extends forbidden("SuspendedVendor", "A suspended vendor cannot change where its money goes.") {}
class OwnersOnly extends forbidden("OwnersOnly", "Only an owner of the vendor may say where its money goes.") {}
class DocumentsMissing extends invalid(
  "DocumentsMissing",
  "documents",
  (names: string) => `documents are not approved yet: ${names}.`,
  "documents_missing"
) {}

/**
 * Writes what was sent: the vendor's row by `write`, and what is shown nowhere aside. When its bank account was given is seen
 * in the audit trail.
 */
const written = Effect.fnUntraced(
  function*<E, R>(
    sent: typeof VendorChange.Type,
    write: (open: ReturnType<typeof partsOf>["open"] & ChangeOf<typeof vendors>) => Effect.Effect<VendorRow, E, R>
  ) {
    const { db } = yield* Market
    const { open, secret } = partsOf(sent)
    const bankAccountChangedAt = secret.bankAccount === undefined ? undefined : yield* DateTime.nowAsDate
    const row = yield* write({ ...open, bankAccountChangedAt })
    if (Object.values(secret).some((value) => value !== undefined)) {
      yield* db.table(vendorSecrets).upsert({ vendorId: row.id, ...secret }, ["vendorId"])
    }
    return row
  },
  (work) => inTransaction(work)
)

/** 409 for a slug that is taken. */
const createVendor = Effect.fn("Vendors.create")(function*({ name, slug, ...sent }: typeof NewVendor.Type) {
  const { db, settings } = yield* Market
  const id = newId()
  // A name without Latin letters or digits, such as a Japanese one, still gets a unique slug.
  const address = slug ?? (slugOf(name) || `vendor-${id.slice(-12)}`)
  // Required documents come first in every mode (`VendorDocuments.ts`).
  const isApproved = settings.vendorApprovalMode === "auto" && settings.requiredDocuments.length === 0
  const made = yield* written(sent, (open) =>
    db.table(vendors).insert({
      ...open,
      id,
      name,
      slug: address,
      status: isApproved ? "approved" : "pending",
      commissionRateBps: open.commissionRateBps ?? settings.defaultCommissionRateBps,
      payoutMinimumCents: open.payoutMinimumCents ?? settings.defaultPayoutMinimumCents,
      payoutSchedule: open.payoutSchedule ?? settings.defaultPayoutSchedule,
      holdbackDays: open.holdbackDays ?? settings.defaultHoldbackDays
    }).pipe(Effect.catchIf(Schema.is(Conflict), () => new VendorSlugTaken(address))))
  if (isApproved) yield* announceApproval(db, made)
  return made
}, inTransaction)

/** Changes what is named; 404. */
const changeVendor = Effect.fn("Vendors.change")((id: string, sent: typeof VendorChange.Type) =>
  Market.use(({ db }) => written(sent, (open) => db.table(vendors).update(id, open)))
)

/** The same by the vendor's own people. 403 for the bank account of a vendor that is suspended. */
const changeOwnVendor = Effect.fn("Vendors.changeOwn")(function*(id: string, sent: typeof OwnVendorChange.Type) {
  if (sent.bankAccount === undefined) return toView(yield* changeVendor(id, sent))
  const { db } = yield* Market
  // The condition is the update's: a vendor that is being suspended at this moment does not slip through.
  const row = yield* written(sent, (open) => db.table(vendors).update(id, open, { status: { not: "suspended" } })).pipe(
    Effect.catchTag("InvalidTransition", () => new SuspendedVendor())
  )
  return toView(row)
})

/** 422 while a document that the store asks for is not approved. Announces `vendor.approved`. */
const approveVendor = Effect.fn("Vendors.approve")(function*(id: string) {
  const { db, settings: { requiredDocuments } } = yield* Market
  // The step comes first: it locks the row, so no document is judged between the look at them and the commit.
  const row = yield* db.use(vendor).move("approve", id, { rejectionReason: null })
  const missing = yield* missingDocuments(db, requiredDocuments, id)
  if (missing.length > 0) return yield* new DocumentsMissing(missing.join(", "))
  const approved = requiredDocuments.length === 0
    ? row
    : yield* db.table(vendors).update(id, { verificationStatus: "verified" })
  yield* announceApproval(db, approved)
  return toView(approved)
}, inTransaction)

/** 404, 422 INVALID_TRANSITION. */
const moveVendor = (name: "reject" | "suspend" | "reinstate", id: string, change: ChangeOf<typeof vendors>) =>
  Market.use(({ db }) => Effect.map(db.use(vendor).move(name, id, change), toView))

const g = group("Marketplace vendors", "/marketplace")
const own = group("Marketplace vendor portal", "/marketplace")
const admin = { permission, success: VendorView }

/** Routes of the store over its vendors, and of vendors over themselves (contract, plugins §1.6). */
export const vendorRoutes = [
  ...resource(g, "/vendors", vendors, {
    noun: "vendor",
    read: permission,
    write: permission,
    filters: ["status", "tier"],
    search: ["name", "email"],
    view: vendorView,
    list: {
      query: { search: Schema.optional(FreeText.annotate({ description: "A part of the name or the address." })) }
    },
    create: {
      summary: "Add a vendor; it is pending until it is approved",
      input: NewVendor,
      answer: ({ input }) => createVendor(input)
    },
    patch: {
      summary: "Change a vendor; bank account and keys of its shop are kept and never shown",
      input: VendorChange,
      answer: ({ input, params }) => changeVendor(params.id, input)
    },
    remove: false
  }),
  g.post("/vendors/:id/approve", { ...admin, summary: "Approve a pending vendor" })
    .handle(({ params }) => approveVendor(params.id)),
  g.post("/vendors/:id/reject", { ...admin, summary: "Reject a pending vendor", input: Refusal })
    .handle(({ input, params }) =>
      moveVendor("reject", params.id, { rejectionReason: input.reason, verificationStatus: "rejected" })
    ),
  g.post("/vendors/:id/suspend", {
    ...admin,
    summary: "Suspend an approved vendor: nothing of it is sold any more",
    input: Refusal
  }).handle(({ input, params }) => moveVendor("suspend", params.id, { suspensionReason: input.reason })),
  g.post("/vendors/:id/reinstate", { ...admin, summary: "Reinstate a suspended vendor" })
    .handle(({ params }) => moveVendor("reinstate", params.id, { suspensionReason: null, suspendedAt: null })),
  own.get("/vendor/me", { ...portal, summary: "Get the own vendor", success: VendorView })
    .handle(({ actor, db }) => Effect.map(db.table(vendors).get(ownVendor(actor)), toView)),
  own.patch("/vendor/me", {
    ...managers,
    summary: "Change what the own vendor says of itself, and its bank account, which is not shown",
    input: OwnVendorChange,
    success: VendorView
  }).handle(({ actor, input }) =>
    input.bankAccount !== undefined && !mayForVendor(actor, "represent")
      ? new OwnersOnly()
      : changeOwnVendor(ownVendor(actor), input)
  )
]
