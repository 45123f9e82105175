import { Data, Effect } from "effect"
import type { CoreMailTemplate, Mail, MailOf } from "../../domain/mail/Mail.ts"
import type { Mailing } from "../../domain/mail/PluginMails.ts"
import { OrderId } from "../../domain/platform/ids/Id.ts"
import type { AppSettings } from "../config/AppConfig.ts"
import { renderMail } from "./MailTexts.ts"

const about = { to: "ann@home.example", organizationId: "org_default" }
const order = { orderId: OrderId.make("0190c0de-0000-7000-8000-000000000001"), orderNumber: "ORD-2026-000042" }

export const sampleMails: { readonly [T in CoreMailTemplate]: MailOf<T> } = {
  "password-reset": {
    template: "password-reset",
    ...about,
    data: { resetUrl: "https://shop.example/reset?token=sample", userName: "Ann Lee" }
  },
  "email-verification": {
    template: "email-verification",
    ...about,
    data: { verifyUrl: "https://shop.example/verify?token=sample", userName: "Ann Lee" }
  },
  "order-confirmation": {
    template: "order-confirmation",
    ...about,
    data: {
      ...order,
      currency: "USD",
      lines: [
        { title: "Mug & saucer", variantTitle: "blue", sku: "M-1", quantity: 2, totalPrice: 2550 },
        { title: "Gift card", sku: null, quantity: 1, totalPrice: 5000 }
      ],
      subtotal: 7550,
      discountTotal: 50,
      shippingTotal: 500,
      taxTotal: 210,
      grandTotal: 8210,
      shippingAddress: { line1: "1 Main St", city: "Springfield", postalCode: "12345", country: "US" }
    }
  },
  "order-status-change": {
    template: "order-status-change",
    ...about,
    data: { ...order, newStatus: "partially_fulfilled", previousStatus: "processing" }
  },
  "order-return": {
    template: "order-return",
    ...about,
    data: {
      ...order,
      returnNumber: "ORD-2026-000042-R1",
      status: "approved",
      lines: [{ title: "Linen Shirt", variantTitle: "M / navy", sku: "S-1", quantity: 1 }],
      rejectionReason: null,
      instructions: "Use the box that it came in.",
      labelUrl: "https://shop.example/labels/sample.pdf",
      currency: "USD",
      refunded: null,
      replacementNumber: null
    }
  },
  "order-invoice": {
    template: "order-invoice",
    ...about,
    data: { ...order, invoiceNumber: "INV-000007", currency: "USD", grandTotal: 8210 }
  }
}

export const previewTemplates = (plugins: ReadonlyArray<Mailing>): ReadonlyArray<string> => [
  ...Object.keys(sampleMails),
  ...plugins.flatMap(({ mailTemplates }) => mailTemplates.map(({ name }) => name))
]

const sampleOf = (template: string, plugins: ReadonlyArray<Mailing>): Mail | undefined => {
  const core = Object.values(sampleMails).find((mail) => mail.template === template)
  if (core !== undefined) return core
  const brought = plugins.flatMap(({ mailTemplates }) => mailTemplates).find(({ name }) => name === template)
  const category = typeof brought?.purpose === "object" ? { category: brought.purpose.category } : {}
  return brought && { template: brought.name, ...about, ...category, data: brought.sample() }
}

export class PreviewFailed extends Data.TaggedError("PreviewFailed")<{ readonly message: string }> {}

export const previewMail = ({ deployment, mail }: AppSettings, template: string, locale: string | undefined) =>
  Effect.try({
    try: () => {
      const sample = sampleOf(template, deployment.plugins)
      if (sample === undefined) throw new Error("there is no such template")
      return renderMail(
        { ...sample, ...locale === undefined ? {} : { locale } },
        { ...mail, storeName: deployment.storeName },
        "category" in sample ? "https://shop.example/api/mail/unsubscribe?token=sample" : undefined
      ).html
    },
    catch: (error) => new PreviewFailed({ message: `The template ${template} failed: ${String(error)}` })
  })
