import { Effect, Schema } from "effect"
import {
  addressLines,
  businessDate,
  type CoreServices,
  LocalTimeZone,
  mailTemplate,
  moneyText,
  type PluginCall
} from "stoa/plugin"
import { Units } from "../uom/index.ts"
import type { OrderItem, PurchaseOrder } from "./PurchaseOrder.ts"
import type { Supplier } from "./Supplier.ts"

const Sent = Schema.Struct({
  poNumber: Schema.String,
  contactName: Schema.NullOr(Schema.String),
  expectedDelivery: Schema.NullOr(Schema.String),
  currency: Schema.String,
  grandTotal: Schema.Int,
  notes: Schema.NullOr(Schema.String),
  lines: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      quantity: Schema.Int,
      // Optional: mails that wait may have been written without it.
      unit: Schema.optional(Schema.String),
      sku: Schema.optional(Schema.NullOr(Schema.String)),
      totalCost: Schema.Int
    })
  )
})

const dayOf = (at: Date | null) => Effect.map(LocalTimeZone, (zone) => at === null ? null : businessDate(at, zone))

/** The lines with the code of their unit; without one where the thing has no units. */
const withUnits = Effect.fnUntraced(function*(items: ReadonlyArray<OrderItem>) {
  const known = yield* Units.use((units) => units.known(items.map(({ entityId }) => entityId)))
  return items.map((item) => {
    const uomId = item.uomId ?? known.of(item.entityId)?.stockUomId
    return { ...item, unit: uomId === undefined ? undefined : known.codeOf(uomId) }
  })
})

/** The order as the supplier gets it. */
export const orderMail = mailTemplate({
  name: "procurement/purchase-order",
  purpose: "order",
  data: Sent,
  sample: {
    poNumber: "PO-0001",
    contactName: "Ann",
    expectedDelivery: "2026-12-24",
    currency: "EUR",
    grandTotal: 12_000,
    notes: null,
    lines: [{ name: "Flour", quantity: 10, unit: "sack", totalCost: 12_000 }]
  },
  texts: {
    en: ({ contactName, currency, expectedDelivery, grandTotal, lines, notes, poNumber }, { locale, storeName }) => ({
      subject: `Purchase order ${poNumber} of ${storeName}`,
      paragraphs: [
        ...(contactName === null ? [] : [`Dear ${contactName},`]),
        `we order what is listed below under the number ${poNumber}.`,
        ...(expectedDelivery === null ? [] : [`Please deliver by ${expectedDelivery}.`]),
        ...(notes === null ? [] : [notes])
      ],
      lines: lines.map(({ name, quantity, sku, totalCost, unit }) => ({
        label: `${quantity} ${unit ?? "×"} ${name}${typeof sku === "string" ? ` (${sku})` : ""}`,
        amount: moneyText(totalCost, currency, locale)
      })),
      totals: [{ label: "Total", amount: moneyText(grandTotal, currency, locale) }]
    })
  }
})

/** Mails an order to a supplier with an address, once and exactly if the caller's transaction commits. */
export const sendOrder = Effect.fn("OrderPaper.send")(function*(
  { services }: Pick<PluginCall, "services">,
  { currency, expectedDelivery, grandTotal, id, notes, poNumber }: PurchaseOrder,
  { contactEmail, contactName }: Supplier,
  items: ReadonlyArray<OrderItem>
) {
  if (contactEmail === null) return
  yield* services.mail.send(orderMail, {
    to: contactEmail,
    key: id,
    data: {
      poNumber,
      contactName,
      currency,
      grandTotal,
      notes,
      expectedDelivery: yield* dayOf(expectedDelivery),
      lines: (yield* withUnits(items)).map(({ itemName, quantityOrdered, supplierSku, totalCost, unit }) => ({
        name: itemName,
        sku: supplierSku,
        quantity: quantityOrdered,
        unit,
        totalCost
      }))
    }
  })
})

const some = (texts: ReadonlyArray<string | null>): ReadonlyArray<string> => texts.filter((text) => text !== null)

/** A purchase order as PDF, with the units of its lines. */
export const orderPaper = Effect.fn("OrderPaper.of")(
  function*(
    { printing }: Pick<CoreServices, "printing">,
    order: PurchaseOrder,
    { address, contactEmail, contactName, contactPhone, name, paymentTermsDays, taxId }: Supplier,
    items: ReadonlyArray<OrderItem>
  ) {
    const { createdAt, currency, grandTotal, notes, poNumber, status, subtotal, supplierReference, taxTotal } = order
    const delivery = yield* dayOf(order.expectedDelivery)
    const money = (amount: number) => printing.money(amount, currency)
    return yield* printing.pdf({
      title: "Purchase order",
      number: poNumber,
      date: createdAt,
      facts: [
        { label: "Status", value: status.replaceAll("_", " ") },
        { label: "Payment", value: `${paymentTermsDays} days` },
        ...(supplierReference === null ? [] : [{ label: "Your number", value: supplierReference }]),
        ...(delivery === null ? [] : [{ label: "Delivery", value: delivery }])
      ],
      parties: [{
        label: "Supplier",
        lines: some([name, ...addressLines(address), contactName, contactEmail, contactPhone, taxId])
      }],
      columns: ["Item", "Quantity", "Unit cost", "Total"],
      rows: (yield* withUnits(items)).map((item) => ({
        title: item.itemName,
        details: some([item.supplierSku, item.notes]),
        cells: [`${item.quantityOrdered} ${item.unit ?? ""}`.trimEnd(), money(item.unitCost), money(item.totalCost)]
      })),
      totals: [
        { label: "Subtotal", value: money(subtotal) },
        ...(taxTotal === 0 ? [] : [{ label: "Tax", value: money(taxTotal) }]),
        { label: "Total", value: money(grandTotal), strong: true }
      ],
      notes: some([notes])
    })
  }
)
