import { Context, Layer } from "effect"
import { itemLabel } from "../../domain/carts/Line.ts"
import { headerText, type Mail, type MailOf, type MailTemplate } from "../../domain/mail/Mail.ts"
import type { MailContent, MailLocales, MailScene, MailWriters, RenderedMail } from "../../domain/mail/MailContent.ts"
import { addressLines, moneyText, personName } from "../../domain/platform/money/DisplayText.ts"
import { developmentKeyring, type Keyring } from "../../domain/webhooks/SecretEncryption.ts"
import { layOut, withUnsubscribeLink } from "./MailLayout.ts"

export interface MailOptions {
  readonly isOn: boolean
  readonly keyring: Keyring
  readonly switchedOff: ReadonlyArray<MailTemplate>
  readonly storeName: string
  readonly locale: string
  readonly locales: MailLocales
  /** Right side of message ids: the sender's domain. */
  readonly domain: string
}

const defaultMailOptions: MailOptions = {
  isOn: true,
  keyring: developmentKeyring,
  switchedOff: [],
  storeName: "Stoa",
  locale: "en",
  locales: {},
  domain: "localhost"
}

export class MailSettings extends Context.Service<MailSettings, MailOptions>()("stoa/layers/mail/MailSettings") {
  static readonly layerOf = (options: Partial<MailOptions> = {}): Layer.Layer<MailSettings> =>
    Layer.succeed(MailSettings, { ...defaultMailOptions, ...options })
}

export const canonicalLocale = (tag: string): string | undefined => {
  try {
    return Intl.getCanonicalLocales(tag)[0]
  } catch {
    return undefined
  }
}

const ancestry = (locale: string): ReadonlyArray<string> => {
  const parts = locale.split("-")
  return parts.map((_, index) => parts.slice(0, parts.length - index).join("-"))
}

const writerOf = <T extends MailTemplate>(template: T, locales: MailLocales, wanted: ReadonlyArray<string>) => {
  for (const locale of [...wanted, "en"].flatMap(ancestry)) {
    const builtIn: Partial<MailWriters> | undefined = locale === "en" ? englishMails : undefined
    const writer: MailWriters[T] | undefined = locales[locale]?.[template] ?? builtIn?.[template]
    if (writer !== undefined) return { locale, writer }
  }
  throw new Error("no installed plugin has this template")
}

const isWhole = (made: MailContent | RenderedMail): made is RenderedMail => "html" in made

export const renderMail = (
  mail: Mail,
  options: Pick<MailOptions, "locale" | "locales" | "storeName">,
  unsubscribeUrl?: string
): RenderedMail => {
  const asked = mail.locale === undefined ? undefined : canonicalLocale(mail.locale)
  const wanted = asked === undefined ? [options.locale] : [asked, options.locale]
  const write = <T extends MailTemplate>(template: T, data: MailOf<T>["data"]): RenderedMail => {
    const { locale, writer } = writerOf(template, options.locales, wanted)
    const scene: MailScene = { storeName: options.storeName, locale, unsubscribeUrl }
    const made = writer(data, scene)
    return isWhole(made)
      ? withUnsubscribeLink({ ...made, subject: headerText(made.subject) }, scene)
      : layOut(made, scene)
  }
  return write(mail.template, mail.data)
}

const greeting = (name: string): string => {
  const person = personName(name)
  return person === undefined ? "Hello," : `Hello ${person},`
}

const meanings = new Map([
  ["confirmed", "We have confirmed your order."],
  ["processing", "We are getting your order ready."],
  ["partially_fulfilled", "A part of your order is on its way to you."],
  ["fulfilled", "All of your order has been handed over."],
  ["cancelled", "Your order has been cancelled. If you have paid for it, the money is on its way back to you."],
  ["refunded", "Your order has been refunded. The money is on its way back to you."]
])

const named = (status: string): string => status.replaceAll("_", " ")

const totalsOf = (data: MailOf<"order-confirmation">["data"], locale: string) => {
  const money = (label: string, amount: number) => ({ label, amount: moneyText(amount, data.currency, locale) })
  return [
    money("Subtotal", data.subtotal),
    ...(data.discountTotal === 0 ? [] : [money("Discount", -data.discountTotal)]),
    money("Shipping", data.shippingTotal),
    ...(data.taxTotal === 0 || data.taxIncluded === true ? [] : [money("Tax", data.taxTotal)]),
    money("Total", data.grandTotal)
  ]
}

const includedTax = ({ currency, taxIncluded, taxTotal }: MailOf<"order-confirmation">["data"], locale: string) =>
  taxIncluded === true && taxTotal > 0 ? [`The total includes ${moneyText(taxTotal, currency, locale)} of tax.`] : []

const confirmation = (data: MailOf<"order-confirmation">["data"], { locale, storeName }: MailScene): MailContent => {
  const address = addressLines(data.shippingAddress)
  const notes = [
    ...includedTax(data, locale),
    ...(address.length === 0 ? [] : [`It goes to: ${address.join(", ")}`])
  ]
  return {
    subject: `Your order ${data.orderNumber}`,
    paragraphs: [`Thank you for your order at ${storeName}.`, `Your order number is ${data.orderNumber}.`],
    lines: data.lines.map(({ quantity, sku, totalPrice, ...item }) => ({
      label: `${quantity} × ${itemLabel(item)}${sku === null ? "" : ` (${sku})`}`,
      amount: moneyText(totalPrice, data.currency, locale)
    })),
    totals: totalsOf(data, locale),
    ...(notes.length === 0 ? {} : { notes })
  }
}

const returnMeaning = (data: MailOf<"order-return">["data"], locale: string): string => {
  const money = data.refunded === null ? "the money" : moneyText(data.refunded, data.currency, locale)
  const meanings = new Map([
    ["requested", "We have received your request to send these goods back. We will answer it soon."],
    ["approved", "You can send these goods back."],
    ["rejected", `We cannot take these goods back. ${data.rejectionReason ?? ""}`.trim()],
    ["received", "We have received the goods that you sent back."],
    ["refunded", `We have refunded the goods that you sent back: ${money} is on its way back to you.`],
    ["exchanged", `We have exchanged the goods that you sent back. Your new order is ${data.replacementNumber ?? ""}.`],
    ["cancelled", "The return of these goods has been cancelled."]
  ])
  return meanings.get(data.status) ?? `Your return is now ${named(data.status)}.`
}

const returned = (data: MailOf<"order-return">["data"], { locale, storeName }: MailScene): MailContent => ({
  subject: `Your return ${data.returnNumber} is ${named(data.status)}`,
  paragraphs: [
    returnMeaning(data, locale),
    ...(data.status === "approved" && data.instructions !== null ? [data.instructions] : []),
    `Return ${data.returnNumber} of your order ${data.orderNumber} at ${storeName}:`
  ],
  ...(data.status === "approved" && data.labelUrl !== null
    ? { button: { label: "Label of the parcel", url: data.labelUrl } }
    : {}),
  lines: data.lines.map(({ quantity, sku, ...item }) => ({
    label: `${quantity} × ${itemLabel(item)}`,
    amount: sku ?? ""
  }))
})

const englishMails: MailWriters = {
  "password-reset": ({ resetUrl, userName }, { storeName }) => ({
    subject: `Choose a new password for ${storeName}`,
    paragraphs: [greeting(userName), `Somebody, hopefully you, has asked for a new password at ${storeName}.`],
    button: { label: "Choose a new password", url: resetUrl },
    notes: ["The link works for a short time and once. If you have not asked for it, you need not do anything."]
  }),
  "email-verification": ({ userName, verifyUrl }, { storeName }) => ({
    subject: `Confirm your address for ${storeName}`,
    paragraphs: [greeting(userName), `Please confirm that this address is yours, to use your account at ${storeName}.`],
    button: { label: "Confirm address", url: verifyUrl },
    notes: [
      "The link works for a short time and signs out everybody who is signed in to the account.",
      "If you did not sign up, ignore this mail: without you no one can use the account."
    ]
  }),
  "order-confirmation": confirmation,
  "order-status-change": ({ newStatus, orderId, orderNumber, previousStatus }, { storeName }) => ({
    subject: `Your order ${orderNumber ?? orderId} is ${named(newStatus)}`,
    paragraphs: [
      meanings.get(newStatus) ?? `Your order is now ${named(newStatus)}.`,
      `Order ${orderNumber ?? orderId} at ${storeName}: ${named(newStatus)}, before that ${named(previousStatus)}.`
    ]
  }),
  "order-return": returned,
  "order-invoice": ({ currency, grandTotal, invoiceNumber, orderNumber }, { locale, storeName }) => ({
    subject: `Invoice ${invoiceNumber} of your order ${orderNumber}`,
    paragraphs: [
      `Here is the invoice of your order ${orderNumber} at ${storeName}, over ${
        moneyText(grandTotal, currency, locale)
      }. You find it attached.`
    ]
  })
}
