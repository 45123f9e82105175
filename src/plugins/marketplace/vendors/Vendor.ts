import { Schema } from "effect"
import { Amount, FreeText, notFound, type RowOf, StorableObject, Text, Time, Uuid } from "stoa/plugin"
import { payoutSchedules, tiers, vendors } from "./VendorTables.ts"

export class VendorNotFound extends notFound("Vendor", "Vendor not found.") {}

export type VendorRow = RowOf<typeof vendors>

type Columns = typeof vendors.columns
type Fields = { readonly [K in keyof Columns]: Columns[K]["schema"] }

const columns = Object.fromEntries(
  Object.entries(vendors.columns).map(([name, { schema }]) => [name, schema])
) as Fields

/** A vendor as the API shows it (contract, plugins §1.1). Its address is called by both of its names. */
export const VendorView = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  ...columns,
  contactEmail: Schema.NullOr(Schema.String),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "MarketplaceVendor" })
export type VendorView = typeof VendorView.Type

export const toView = (row: VendorRow): VendorView => ({ ...row, contactEmail: row.email })

/** A web address, up to 2048 characters. */
export const WebAddress = FreeText.check(
  Schema.isMaxLength(2048),
  Schema.makeFilter((text: string) =>
    (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) || "must be a web address"
  )
)

const Email = Text.check(Schema.isPattern(/^[^\s@]+@[^\s@]+$/, { message: "must be an e-mail address" }))
const Slug = Text.check(
  Schema.isPattern(/^[a-z0-9]+(-[a-z0-9]+)*$/, { message: "has lower case letters, digits and single hyphens" })
)
const Reason = FreeText.check(Schema.isBetweenLength(1, 10_000))

const Address = Schema.Struct({
  line1: Schema.optional(Text),
  line2: Schema.optional(FreeText.check(Schema.isMaxLength(255))),
  city: Schema.optional(Text),
  state: Schema.optional(FreeText.check(Schema.isMaxLength(255))),
  postalCode: Schema.optional(Text),
  country: Schema.optional(Text)
})

/** Where a vendor's money goes. */
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
  description: clearable(FreeText.check(Schema.isMaxLength(10_000))),
  email: clearable(Email),
  contactEmail: clearable(Email),
  contactPhone: clearable(Text),
  logoUrl: clearable(WebAddress),
  bannerUrl: clearable(WebAddress),
  businessAddress: clearable(Address),
  metadata: Schema.optional(StorableObject)
}

/** What the store decides of it. */
const byTheStore = {
  taxId: clearable(Text),
  commissionRateBps: Schema.optional(vendors.columns.commissionRateBps.schema),
  tier: Schema.optional(Schema.Literals(tiers)),
  approvedCategories: clearable(Schema.Array(Text).check(Schema.isMaxLength(1_000))),
  payoutSchedule: Schema.optional(Schema.Literals(payoutSchedules)),
  payoutMinimumCents: Schema.optional(Amount),
  holdbackDays: Schema.optional(vendors.columns.holdbackDays.schema),
  storeConnectionProvider: clearable(Schema.Literals(["shopify", "woocommerce"])),
  storeConnectionUrl: clearable(WebAddress)
}

/** What is kept and never shown. */
const secrets = {
  bankAccount: clearable(BankAccount),
  storeAccessToken: clearable(Reason),
  storeConsumerSecret: clearable(Reason),
  storeWebhookSecret: clearable(Reason)
}

/** Body of a new vendor (contract, plugins §1.6). */
export const NewVendor = Schema.Struct({
  name: Text,
  slug: Schema.optional(Slug),
  ...ofItself,
  ...byTheStore,
  ...secrets
})
export type NewVendor = typeof NewVendor.Type

/** Body of a change by the store. */
export const VendorChange = Schema.Struct({
  name: Schema.optional(Text),
  ...ofItself,
  ...byTheStore,
  ...secrets
})
export type VendorChange = typeof VendorChange.Type

/** Body of a change by the vendor's own people. */
export const OwnVendorChange = Schema.Struct({
  name: Schema.optional(Text),
  ...ofItself,
  bankAccount: secrets.bankAccount
})
export type OwnVendorChange = typeof OwnVendorChange.Type

/** Body of a refusal. */
export const Refusal = Schema.Struct({ reason: Reason })

/** `Zoë's Wares` becomes `zo-s-wares`; empty where nothing of the name can be an address. */
export const slugOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "")

/** A body apart: what the vendor's own row gets, and what is kept aside. Fields that were not sent stay undefined. */
export const partsOf = (sent: Omit<VendorChange, "name">) => {
  const { bankAccount, contactEmail, email, storeAccessToken, storeConsumerSecret, storeWebhookSecret, ...open } = sent
  const address = contactEmail === undefined ? email : contactEmail
  return {
    open: { ...open, email: address },
    secret: { bankAccount, storeAccessToken, storeConsumerSecret, storeWebhookSecret }
  }
}
