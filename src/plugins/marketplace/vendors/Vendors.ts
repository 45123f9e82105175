import { DateTime, Effect, Schema } from "effect"
import { type ChangeOf, Conflict, conflict, forbidden, invalid, newId, type PageRequest } from "stoa/plugin"
import { missingDocuments } from "../documents/VendorDocuments.ts"
import { inTransaction, Market } from "../Market.ts"
import {
  announceApproval,
  type NewVendor,
  type OwnVendorChange,
  partsOf,
  slugOf,
  toView,
  vendor,
  type VendorChange,
  type VendorRow,
  vendors,
  vendorSecrets
} from "./Vendor.ts"

/** 409 for a slug that another vendor has. */
class VendorSlugTaken extends conflict("VendorSlug", (slug: string) => `A vendor has the slug "${slug}" already.`) {}
class SuspendedVendor extends forbidden("SuspendedVendor", "A suspended vendor cannot change where its money goes.") {}
class DocumentsMissing
  extends invalid("DocumentsMissing", "documents", (names: string) => `not approved yet: ${names}`, "documents_missing")
{}

/** Which vendors are asked for; `search` is found in names and addresses, without regard to case. */
interface VendorFilter {
  readonly status?: VendorRow["status"] | undefined
  readonly tier?: VendorRow["tier"] | undefined
  readonly search?: string | undefined
}

export const listVendors = Effect.fn("Vendors.list")(
  function*({ search = "", ...where }: VendorFilter, page: PageRequest) {
    const { db } = yield* Market
    const or = search === "" ? undefined : [{ name: { contains: search } }, { email: { contains: search } }]
    const found = yield* db.table(vendors).page({ ...where, or }, page)
    return { ...found, items: found.items.map(toView) }
  }
)

/** 404. */
export const readVendor = (id: string) => Market.use(({ db }) => Effect.map(db.table(vendors).get(id), toView))

/**
 * Writes what was sent: the vendor's row by `write`, and what is shown nowhere aside. When its bank account was given is seen
 * in the audit trail.
 */
const written = Effect.fnUntraced(
  function*<E, R>(
    sent: VendorChange,
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
export const createVendor = Effect.fn("Vendors.create")(function*({ name, slug, ...sent }: NewVendor) {
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
  return toView(made)
}, inTransaction)

/** Changes what is named; 404. */
export const changeVendor = Effect.fn("Vendors.change")((id: string, sent: VendorChange) =>
  Market.use(({ db }) => Effect.map(written(sent, (open) => db.table(vendors).update(id, open)), toView))
)

/** The same by the vendor's own people. 403 for the bank account of a vendor that is suspended. */
export const changeOwnVendor = Effect.fn("Vendors.changeOwn")(function*(id: string, sent: OwnVendorChange) {
  if (sent.bankAccount === undefined) return yield* changeVendor(id, sent)
  const { db } = yield* Market
  // The condition is the update's: a vendor that is being suspended at this moment does not slip through.
  const row = yield* written(sent, (open) => db.table(vendors).update(id, open, { status: { not: "suspended" } })).pipe(
    Effect.catchTag("InvalidTransition", () => new SuspendedVendor())
  )
  return toView(row)
})

/** 422 while a document that the store asks for is not approved. Announces `vendor.approved`. */
export const approveVendor = Effect.fn("Vendors.approve")(function*(id: string) {
  const { db, settings: { requiredDocuments } } = yield* Market
  // The step comes first: it locks the row, so no document is judged between the look at them and the commit.
  const row = yield* vendor.move(db, "approve", id, { rejectionReason: null })
  const missing = yield* missingDocuments(db, requiredDocuments, id)
  if (missing.length > 0) return yield* new DocumentsMissing(missing.join(", "))
  const approved = requiredDocuments.length === 0
    ? row
    : yield* db.table(vendors).update(id, { verificationStatus: "verified" })
  yield* announceApproval(db, approved)
  return toView(approved)
}, inTransaction)

const moved = (name: "reject" | "suspend" | "reinstate", id: string, change: ChangeOf<typeof vendors>) =>
  Market.use(({ db }) => Effect.map(vendor.move(db, name, id, change), toView))

export const rejectVendor = (id: string, rejectionReason: string) =>
  moved("reject", id, { rejectionReason, verificationStatus: "rejected" })

export const suspendVendor = (id: string, suspensionReason: string) => moved("suspend", id, { suspensionReason })

export const reinstateVendor = (id: string) => moved("reinstate", id, { suspensionReason: null, suspendedAt: null })
