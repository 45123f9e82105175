import { Context, type Effect, Schema, Struct } from "effect"
import type { CurrentActor } from "../platform/access/Actor.ts"
import { about } from "../platform/hints/Hints.ts"
import { OrderId, type OrderMessageId, OrganizationId } from "../platform/ids/Id.ts"
import { Email } from "../platform/text/Email.ts"

const Amount = Schema.Int

export const MailedLine = Schema.Struct({
  title: Schema.String,
  variantTitle: Schema.optional(Schema.NullOr(Schema.String)),
  sku: Schema.NullOr(Schema.String),
  quantity: Schema.Int,
  totalPrice: Amount
})
export type MailedLine = typeof MailedLine.Type

const mailOf = <const T extends string, F extends Schema.Struct.Fields>(template: T, data: F) =>
  Schema.Struct({
    template: Schema.Literal(template),
    to: Schema.String,
    organizationId: Schema.String,
    /** Default: the deployment's language. */
    locale: Schema.optional(Schema.String),
    data: Schema.Struct(data)
  })

const PluginMail = Schema.Struct({
  template: Schema.TemplateLiteral([Schema.String, "/", Schema.String]),
  to: Schema.String,
  organizationId: OrganizationId,
  locale: Schema.optional(Schema.String),
  /** Category that the receiver can decline; absent: a transactional mail. */
  category: Schema.optional(Schema.String),
  /** Why its job does not send it: it was too many. */
  suppressed: Schema.optional(Schema.String),
  data: Schema.Record(Schema.String, Schema.Unknown)
})
export type PluginMail = typeof PluginMail.Type

export const isPluginMail = (mail: Mail): mail is PluginMail => mail.template.includes("/")

/**
 * A mail of the service (contract, platform §3). It waits in the queue and may be read by a newer process: additions
 * are optional.
 */
export const Mail = Schema.Union([
  mailOf("password-reset", { resetUrl: Schema.String, userName: Schema.String }),
  mailOf("email-verification", { verifyUrl: Schema.String, userName: Schema.String }),
  mailOf("order-confirmation", {
    orderId: OrderId,
    orderNumber: Schema.String,
    currency: Schema.String,
    lines: Schema.Array(MailedLine),
    subtotal: Amount,
    discountTotal: Amount,
    shippingTotal: Amount,
    taxTotal: Amount,
    taxIncluded: Schema.optional(Schema.Boolean),
    grandTotal: Amount,
    shippingAddress: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))
  }),
  mailOf("order-status-change", {
    orderId: OrderId,
    newStatus: Schema.String,
    previousStatus: Schema.String,
    orderNumber: Schema.optional(Schema.String)
  }),
  mailOf("order-return", {
    orderId: OrderId,
    orderNumber: Schema.String,
    returnNumber: Schema.String,
    status: Schema.String,
    lines: Schema.Array(Schema.Struct(Struct.pick(MailedLine.fields, ["title", "variantTitle", "sku", "quantity"]))),
    rejectionReason: Schema.NullOr(Schema.String),
    instructions: Schema.NullOr(Schema.String),
    labelUrl: Schema.NullOr(Schema.String),
    currency: Schema.String,
    /** Amount of the refund, or of the credit of an exchange. */
    refunded: Schema.NullOr(Amount),
    replacementNumber: Schema.NullOr(Schema.String)
  }),
  mailOf("order-invoice", {
    orderId: OrderId,
    orderNumber: Schema.String,
    invoiceNumber: Schema.String,
    currency: Schema.String,
    grandTotal: Amount
  }),
  PluginMail
])
export type Mail = typeof Mail.Type

export type MailTemplate = Mail["template"]

export type CoreMailTemplate = Exclude<MailTemplate, PluginMail["template"]>

export type MailOf<T extends MailTemplate> = Extract<Mail, { readonly template: T }>

/** A mail, encrypted for its organization. */
export interface MailContent {
  readonly keyId: string
  readonly encrypted: string
}

/**
 * Sends mails in background jobs (docs/mail.md); inside a transaction exactly if that commits. Skips a mail that cannot
 * be sent.
 */
export class Mails extends Context.Service<Mails, {
  /** False without mail; features that depend on a mailed link must check it. */
  readonly isOn: boolean
  readonly sends: (template: MailTemplate) => boolean
  /** With a key the mail is sent once for its organization and key, as long as its job is kept. */
  readonly send: (mail: Mail, idempotencyKey?: string) => Effect.Effect<void>
  readonly sendAll: (mails: ReadonlyArray<Mail>) => Effect.Effect<void>
  /** The receiver of a mail; null where no key opens it. */
  readonly receiverOf: (organizationId: string, content: MailContent) => string | null
  /** Sends a mail about an order to another address; its new id, or undefined where no key opens its content. */
  readonly sendAgain: (
    id: OrderMessageId,
    content: MailContent,
    to: string
  ) => Effect.Effect<OrderMessageId | undefined, never, CurrentActor>
}>()("stoa/domain/mail/Mails") {}

/** Without line ends and other control characters, at most 200 long. */
export const headerText = (text: string): string =>
  text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim().slice(0, 200).toWellFormed()

export const InvoiceMail = Schema.Struct({
  to: Schema.optional(Email).pipe(about("Receiver; absent: the address of the order."))
}).annotate({ identifier: "InvoiceMail" })
export type InvoiceMail = typeof InvoiceMail.Type

export const SentInvoice = Schema.Struct({
  queued: Schema.Boolean.annotate({ description: "False if the template `order-invoice` is switched off." }),
  to: Schema.String.annotate({ description: "Address of the receiver." })
}).annotate({ identifier: "SentInvoice" })
export type SentInvoice = typeof SentInvoice.Type
