import { Effect, Schema } from "effect"
import {
  about,
  Amount,
  amount,
  Country,
  Email,
  email,
  fieldsOf,
  FreeText,
  inputOf,
  integerBetween,
  json,
  jsonOf,
  longText,
  machine,
  notFound,
  oneOf,
  type PluginDatabase,
  type RowOf,
  table,
  Text,
  text,
  timestamp,
  uuid,
  type View
} from "stoa/plugin"

export const tiers = ["standard", "silver", "gold", "platinum"] as const
export const payoutSchedules = ["daily", "weekly", "biweekly", "monthly", "manual"] as const

/** Who sells through the store (contract, plugins §1.1). */
export const vendors = table("marketplace_vendors", {
  name: text,
  slug: text.unique().about("Part of the address of the vendor's page."),
  email: email.nullable,
  description: longText.nullable,
  logoUrl: longText.nullable.about("Address of the logo."),
  bannerUrl: longText.nullable.about("Address of the banner."),
  contactPhone: text.nullable.forPeople.about("Phone for the marketplace."),
  taxId: text.nullable.forPeople.about("Number at the tax office."),
  businessAddress: json.nullable.about("Address of the business."),
  /** When its bank account was given last: the account itself is shown nowhere, and who changed it the audit trail tells. */
  bankAccountChangedAt: timestamp.nullable,
  status: oneOf(["pending", "approved", "suspended", "rejected"]).default("pending").about(
    "Only an approved vendor sells. A rejected one is pending again with its next document."
  ),
  verificationStatus: oneOf(["unverified", "documents_submitted", "verified", "rejected"]).default("unverified").about(
    "State of the check of its documents."
  ),
  rejectionReason: longText.nullable.about("Why it was rejected."),
  suspensionReason: longText.nullable.about("Why it was suspended."),
  suspendedAt: timestamp.nullable,
  approvedCategories: jsonOf(Schema.Array(Schema.String), 16_384).nullable.about(
    "Slugs of categories in which it may sell; null: all."
  ),
  tier: oneOf(tiers).default("standard").about("Level of the vendor, on which commissions can depend."),
  performanceScore: integerBetween(0, 100).default(100).about(
    "From 0 to 100, by its shipments, cancellations, disputes and reviews; a job computes it every day."
  ),
  commissionRateBps: integerBetween(0, 10_000).default(1000).about(
    "Share of the marketplace where no rule fits, in hundredths of a per cent."
  ),
  payoutSchedule: oneOf(payoutSchedules).default("weekly").about("How often it is paid."),
  payoutMinimumCents: amount.default(5000).about("Least balance that is paid out."),
  holdbackDays: integerBetween(0, 365).default(7).about("Days after delivery before money can be paid out."),
  metadata: json.default({}),
  storeConnectionProvider: oneOf(["shopify", "woocommerce"]).nullable.forPeople.about("System of the vendor's shop."),
  storeConnectionUrl: longText.nullable.about("Address of the vendor's shop."),
  lastSyncAt: timestamp.nullable.forPeople,
  syncStatus: oneOf(["healthy", "stale", "error", "disconnected"]).default("disconnected").forPeople.about(
    "State of the connection to the vendor's shop."
  )
})

/** Fields of a vendor that no response shows: the bank account, and keys of the vendor's shop. */
export const vendorSecrets = table("marketplace_vendor_secrets", {
  vendorId: uuid.references(vendors).unique(),
  bankAccount: json.nullable,
  storeAccessToken: longText.nullable,
  storeConsumerSecret: longText.nullable,
  storeWebhookSecret: longText.nullable
}, { changeLog: false, counted: false })

/**
 * How a vendor moves (contract, plugins §1.2). A rejected one becomes pending again with the next document that it hands in
 * (`VendorDocuments.ts`).
 */
export const vendor = machine(vendors, {
  noun: "vendor",
  moves: {
    approve: { from: ["pending"], to: "approved" },
    reject: { from: ["pending"], to: "rejected" },
    suspend: { from: ["approved"], to: "suspended", stamp: "suspendedAt" },
    reinstate: { from: ["suspended"], to: "approved" }
  }
})

export class VendorNotFound extends notFound("Vendor", "Vendor not found.") {}

export type VendorRow = RowOf<typeof vendors>

/** A vendor as the API shows it (contract, plugins §1.1). Its address is called by both of its names. */
export const VendorView = Schema.Struct({
  ...fieldsOf(vendors),
  contactEmail: Schema.NullOr(Schema.String)
}).annotate({ identifier: "MarketplaceVendor" })
export type VendorView = typeof VendorView.Type

export const toView = (row: VendorRow): VendorView => ({ ...row, contactEmail: row.email })

export const vendorView: View<typeof vendors, VendorView> = {
  success: VendorView,
  show: (rows) => Effect.succeed(rows.map(toView))
}

/** Tells webhooks and readers of the change log, in the caller's transaction (contract, plugins §1.8). */
export const announceApproval = (db: PluginDatabase, row: VendorRow) =>
  db.announce("vendor.approved", { entityType: "vendor", entityId: row.id, payload: toView(row) })

/** A web address, up to 2048 characters. */
export const WebAddress = FreeText.check(
  Schema.isMaxLength(2048),
  Schema.makeFilter((text: string) =>
    (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) ||
    "must be an address that begins with http or https."
  )
)

const Slug = Text.check(
  Schema.isPattern(/^[a-z0-9]+(-[a-z0-9]+)*$/, { expected: "a text of lower case letters, digits and single hyphens" })
)
const Reason = FreeText.check(Schema.isBetweenLength(1, 10_000))

/** Of an address a vendor may say a part. */
const BusinessAddress = Schema.Struct({
  line1: Schema.optional(Text),
  line2: Schema.optional(FreeText.check(Schema.isMaxLength(255))),
  city: Schema.optional(Text),
  state: Schema.optional(FreeText.check(Schema.isMaxLength(255))).pipe(about("State or province.")),
  postalCode: Schema.optional(Text),
  country: Schema.optional(Country)
})

const BankAccount = Schema.Struct({
  accountHolder: Schema.optional(Text),
  bankName: Schema.optional(Text),
  routingNumber: Schema.optional(Text),
  accountNumber: Schema.optional(Text),
  iban: Schema.optional(Text),
  swift: Schema.optional(Text)
})

const clearable = <A, E>(schema: Schema.Codec<A, E>) => Schema.optional(Schema.NullOr(schema))

/** What a vendor may say of itself. `email` and `contactEmail` mean the same; of both, `contactEmail` counts. */
const ofItself = {
  ...inputOf(vendors, { optional: ["name", "description", "contactPhone", "metadata"] }).fields,
  email: clearable(Email),
  contactEmail: clearable(Email),
  logoUrl: clearable(WebAddress),
  bannerUrl: clearable(WebAddress),
  businessAddress: clearable(BusinessAddress),
  bankAccount: clearable(BankAccount).pipe(about("Account for payouts. No answer shows it; null removes it."))
}

/** Body of a change by the vendor's own people. */
export const OwnVendorChange = Schema.Struct(ofItself)

/** Body of a change by the store. Bank account and keys are kept and never shown. */
export const VendorChange = Schema.Struct({
  ...ofItself,
  ...inputOf(vendors, {
    optional: ["taxId", "commissionRateBps", "tier", "payoutSchedule", "holdbackDays", "storeConnectionProvider"]
  }).fields,
  approvedCategories: clearable(Schema.Array(Text).check(Schema.isMaxLength(1_000))).pipe(
    about("Slugs of categories in which it may sell; null: all.")
  ),
  payoutMinimumCents: Schema.optional(Amount),
  storeConnectionUrl: clearable(WebAddress),
  storeAccessToken: clearable(Reason).pipe(about("Token of the vendor's shop. No answer shows it.")),
  storeConsumerSecret: clearable(Reason).pipe(about("Secret for requests to the vendor's shop. No answer shows it.")),
  storeWebhookSecret: clearable(Reason).pipe(about("Secret of webhooks from the vendor's shop. No answer shows it."))
})

/** Body of a new vendor (contract, plugins §1.6). */
export const NewVendor = Schema.Struct({ ...VendorChange.fields, name: Text, slug: Schema.optional(Slug) })

/** Body of a refusal. */
export const Refusal = Schema.Struct({ reason: Reason })

/** `Zoë's Wares` becomes `zo-s-wares`; empty where nothing of the name can be an address. */
export const slugOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "")

/** A body apart: what the vendor's own row gets, and what is kept aside. Fields that were not sent stay undefined. */
export const partsOf = (sent: typeof VendorChange.Type) => {
  const { bankAccount, contactEmail, email, storeAccessToken, storeConsumerSecret, storeWebhookSecret, ...open } = sent
  const address = contactEmail === undefined ? email : contactEmail
  return {
    open: { ...open, email: address },
    secret: { bankAccount, storeAccessToken, storeConsumerSecret, storeWebhookSecret }
  }
}
