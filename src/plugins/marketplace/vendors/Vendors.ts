import { Context, DateTime, Effect, Layer, Schema } from "effect"
import {
  type ChangeOf,
  Conflict,
  conflict,
  type CurrentActor,
  type Forbidden,
  forbidden,
  invalid,
  type InvalidTransition,
  isUuid,
  newId,
  type NotFound,
  type PageOf,
  type PageRequest,
  PluginDatabase,
  RowNotFound,
  type ValidationFailed
} from "stoa/plugin"
import { missingDocuments } from "../documents/RequiredDocuments.ts"
import { MarketplaceOptions } from "../MarketplaceOptions.ts"
import {
  type NewVendor,
  type OwnVendorChange,
  partsOf,
  slugOf,
  toView,
  type VendorChange,
  type VendorRow,
  type VendorView
} from "./Vendor.ts"
import { foundVendors, type VendorFilter } from "./VendorRepo.ts"
import { type Step, steps } from "./VendorStatus.ts"
import { vendors, vendorSecrets, vendorStatuses } from "./VendorTables.ts"

/** 409 for a slug that another vendor has. */
class VendorSlugTaken extends conflict("VendorSlug", (slug: string) => `A vendor has the slug "${slug}" already.`) {}
class SuspendedVendor extends forbidden("SuspendedVendor", "A suspended vendor cannot change where its money goes.") {}
class DocumentsMissing
  extends invalid("DocumentsMissing", "documents", (names: string) => `not approved yet: ${names}`, "documents_missing")
{}

type Refused = NotFound | Conflict | ValidationFailed

/** Who sells through the store, and whether it may (contract, plugins §1.2). */
export class Vendors extends Context.Service<Vendors, {
  readonly list: (filter: VendorFilter, page: PageRequest) => Effect.Effect<PageOf<VendorView>, never, CurrentActor>
  /** 404; also for what cannot be an id. */
  readonly get: (id: string) => Effect.Effect<VendorView, NotFound, CurrentActor>
  /** 409 for a slug that is taken. */
  readonly create: (sent: NewVendor) => Effect.Effect<VendorView, Refused, CurrentActor>
  /** Changes what is named. Secrets among it are kept and never shown. */
  readonly change: (id: string, sent: VendorChange) => Effect.Effect<VendorView, Refused, CurrentActor>
  /** The same by the vendor's own people. 403 for the bank account of a vendor that is suspended. */
  readonly changeOwn: (
    id: string,
    sent: OwnVendorChange
  ) => Effect.Effect<VendorView, Refused | Forbidden, CurrentActor>
  /** 422 while a document that the store asks for is not approved. Announces `vendor.approved`. */
  readonly approve: (id: string) => Effect.Effect<VendorView, Refused | InvalidTransition, CurrentActor>
  readonly reject: (id: string, reason: string) => Effect.Effect<VendorView, Refused | InvalidTransition, CurrentActor>
  readonly suspend: (id: string, reason: string) => Effect.Effect<VendorView, Refused | InvalidTransition, CurrentActor>
  readonly reinstate: (id: string) => Effect.Effect<VendorView, Refused | InvalidTransition, CurrentActor>
}>()("stoa/plugins/marketplace/vendors/Vendors") {
  static readonly layer = Layer.effect(Vendors, Effect.suspend(() => make))
}

type Secrets = ReturnType<typeof partsOf>["secret"]

/** Keeps what is shown nowhere. The caller holds the vendor's row, so no two of them make the row of its secrets. */
const keep = Effect.fnUntraced(function*(db: PluginDatabase["Service"], vendorId: string, secret: Secrets) {
  if (Object.values(secret).every((value) => value === undefined)) return
  const known = yield* db.table(vendorSecrets).first({ vendorId })
  if (known === undefined) yield* db.table(vendorSecrets).insert({ vendorId, ...secret })
  else yield* db.table(vendorSecrets).update(known.id, secret)
})

const now = Effect.map(DateTime.now, DateTime.toDateUtc)

const notSuspended = vendorStatuses.filter((status) => status !== "suspended")

const make = Effect.gen(function*() {
  const db = yield* PluginDatabase
  const settings = yield* MarketplaceOptions
  const moves = moving(db, settings.requiredDocuments)

  const list = Effect.fn("Vendors.list")(function*({ search, status, tier }: VendorFilter, page: PageRequest) {
    const where = { status, tier }
    if (search === undefined || search === "") {
      const found = yield* db.table(vendors).page(where, page)
      return { ...found, items: found.items.map(toView) }
    }
    const { ids, total } = yield* foundVendors(db.sql, { ...where, search }, page)
    const items = yield* db.table(vendors).list({ id: { in: ids } })
    return { ...page, total, items: items.map(toView) }
  })

  const get = (id: string) =>
    isUuid(id) ? Effect.map(db.table(vendors).get(id), toView) : Effect.fail(new RowNotFound())

  const create = Effect.fn("Vendors.create")(function*({ name, slug, ...sent }: NewVendor) {
    const { open, secret } = partsOf(sent)
    const id = newId()
    // A name without Latin letters or digits, such as a Japanese one, still gets a unique slug.
    const address = slug ?? (slugOf(name) || `vendor-${id.slice(-12)}`)
    const row = db.table(vendors).insert({
      ...open,
      id,
      name,
      slug: address,
      // Required documents come first in every mode (`VendorDocuments.ts`).
      status: settings.vendorApprovalMode === "auto" && settings.requiredDocuments.length === 0
        ? "approved"
        : "pending",
      bankAccountChangedAt: secret.bankAccount === undefined ? undefined : yield* now,
      commissionRateBps: open.commissionRateBps ?? settings.defaultCommissionRateBps,
      payoutMinimumCents: open.payoutMinimumCents ?? settings.defaultPayoutMinimumCents,
      payoutSchedule: open.payoutSchedule ?? settings.defaultPayoutSchedule,
      holdbackDays: open.holdbackDays ?? settings.defaultHoldbackDays
    }).pipe(Effect.catchIf(Schema.is(Conflict), () => new VendorSlugTaken(address)))
    return yield* db.transaction(Effect.gen(function*() {
      const made = yield* row
      yield* keep(db, id, secret)
      if (made.status === "approved") yield* announceApproval(db, made)
      return toView(made)
    }))
  })

  const rows = db.table(vendors)
  const changed = Effect.fnUntraced(
    function*<E>(
      id: string,
      { name, ...sent }: VendorChange,
      write: (change: ChangeOf<typeof vendors>) => Effect.Effect<VendorRow, E, CurrentActor>
    ) {
      const { open, secret } = partsOf(sent)
      const bankAccountChangedAt = secret.bankAccount === undefined ? undefined : yield* now
      return yield* db.transaction(Effect.gen(function*() {
        const row = yield* write({ ...open, name, bankAccountChangedAt })
        yield* keep(db, id, secret)
        return toView(row)
      }))
    }
  )
  const change = Effect.fn("Vendors.change")((id: string, sent: VendorChange) =>
    changed(id, sent, (all) => rows.update(id, all))
  )
  // The condition is the update's: a vendor that is being suspended at this moment does not slip through.
  const changeOwn = Effect.fn("Vendors.changeOwn")((id: string, sent: OwnVendorChange) =>
    sent.bankAccount === undefined ? change(id, sent) : changed(
      id,
      sent,
      (all) => rows.update(id, all, { status: { in: notSuspended } })
    ).pipe(Effect.catchTag("InvalidTransition", () => new SuspendedVendor()))
  )

  return Vendors.of({ list, get, create, change, changeOwn, ...moves })
})

/** Tells webhooks and readers of the change log, in the caller's transaction (contract, plugins §1.8). */
export const announceApproval = (db: PluginDatabase["Service"], row: VendorRow) =>
  db.announce("vendor.approved", { entityType: "vendor", entityId: row.id, payload: toView(row) })

/** The steps of `VendorStatus.ts`, each a compare-and-set: of several that see the same status one wins. */
const moving = (db: PluginDatabase["Service"], required: ReadonlyArray<string>) => {
  const move = (id: string, step: Step, change: ChangeOf<typeof vendors>) =>
    db.table(vendors).update(id, { ...change, status: steps[step].to }, { status: steps[step].from })

  const approve = Effect.fn("Vendors.approve")(function*(id: string) {
    // The step comes first: it locks the row, so no document is judged between the look at them and the commit.
    const row = yield* move(id, "approve", { rejectionReason: null })
    const missing = yield* missingDocuments(db, required, id)
    if (missing.length > 0) {
      return yield* new DocumentsMissing(missing.join(", "))
    }
    const approved = required.length === 0
      ? row
      : yield* db.table(vendors).update(id, { verificationStatus: "verified" })
    yield* announceApproval(db, approved)
    return toView(approved)
  }, (work) => db.transaction(work))

  const suspend = Effect.fn("Vendors.suspend")(function*(id: string, reason: string) {
    return toView(yield* move(id, "suspend", { suspensionReason: reason, suspendedAt: yield* now }))
  })
  return {
    approve,
    reject: (id: string, reason: string) =>
      Effect.map(move(id, "reject", { rejectionReason: reason, verificationStatus: "rejected" }), toView),
    suspend,
    reinstate: (id: string) => Effect.map(move(id, "reinstate", { suspensionReason: null, suspendedAt: null }), toView)
  }
}
