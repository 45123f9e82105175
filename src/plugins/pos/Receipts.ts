import { Effect, Option, Schema } from "effect"
import {
  about,
  Email,
  invalid,
  InvalidTransition,
  mailTemplate,
  MinorUnits,
  moneyText,
  type Order,
  OrderId,
  type PluginCall,
  type PluginDatabase,
  Time
} from "stoa/plugin"
import { PrintQueue } from "../notifications/index.ts"
import { fiscalRecords, FiscalView } from "./FiscalRecords.ts"
import { netOf, returnItems, TaxPart, transactions } from "./Sales.ts"
import { loadSale, lockTransaction } from "./SaleStore.ts"
import { operate, routes } from "./Terminals.ts"

/** What is printed of a completed or voided transaction; minor units of `currency`. */
export const Receipt = Schema.Struct({
  receiptNumber: Schema.String,
  transactionId: Schema.String,
  orderNumber: Schema.NullOr(Schema.String),
  terminalCode: Schema.String.pipe(about("Short name of the terminal.")),
  operatorName: Schema.String,
  timestamp: Time,
  businessDate: Schema.String.pipe(about("Business day of the terminal.")),
  type: Schema.String.pipe(about("sale, return or exchange.")),
  status: Schema.String.pipe(about("State of the transaction, such as completed or voided.")),
  currency: Schema.String,
  lineItems: Schema.Array(Schema.Struct({
    title: Schema.String,
    quantity: Schema.Int,
    unitPrice: MinorUnits,
    totalPrice: MinorUnits,
    notes: Schema.optional(Schema.String)
  })),
  subtotal: MinorUnits,
  discountTotal: MinorUnits,
  taxTotal: MinorUnits,
  taxByRate: Schema.Array(TaxPart).pipe(about("Taxes by rate.")),
  rounding: MinorUnits,
  tips: MinorUnits,
  total: MinorUnits,
  payments: Schema.Array(Schema.Struct({
    method: Schema.String.pipe(about("Means that the customer paid with.")),
    label: Schema.String,
    amount: MinorUnits,
    changeGiven: MinorUnits,
    tip: MinorUnits,
    reference: Schema.optional(Schema.String).pipe(about("Number of the slip of a card payment."))
  })).pipe(about("Payments in the order in which they were taken.")),
  changeDue: MinorUnits,
  customerId: Schema.NullOr(Schema.String),
  fiscal: Schema.NullOr(FiscalView).annotate({ description: "The signature; null before the sale is recorded." }),
  reprint: Schema.Int.annotate({ description: "How often it was printed before." })
}).annotate({ identifier: "PosReceipt" })
type Receipt = typeof Receipt.Type

const refused = InvalidTransition.of("A receipt is for a completed or voided transaction.")

/** What came back with a return, as a receipt names it. */
const returned = (db: PluginDatabase, transactionId: string, order: Order | undefined) =>
  Effect.map(
    db.table(returnItems).list({ transactionId }, { order: ["createdAt", "id"] }),
    (items) =>
      items.map(({ originalLineItemId, quantity, title, unitPrice }) => {
        const line = order?.lineItems.find(({ id }) => id === originalLineItemId)
        const price = unitPrice ?? line?.unitPrice ?? 0
        return {
          notes: null,
          quantity,
          title: title ?? line?.title ?? "-",
          totalPrice: price * quantity,
          unitPrice: price
        }
      })
  )

/** How often it was printed before; of two prints at once one is the original. */
const countPrint = (db: PluginDatabase, id: string) =>
  db.transaction(Effect.gen(function*() {
    const { reprints } = yield* lockTransaction(db, id)
    yield* db.table(transactions).update(id, { reprints: reprints + 1 })
    return reprints
  }))

/** 404; 422 for a transaction that is open or held. `counted`: the next one is a reprint. */
const receiptOf = Effect.fn("Receipts.of")(function*(call: PluginCall, id: string, counted: boolean) {
  const { asStore, db, services } = call
  const { lines, payments, terminal, transaction } = yield* loadSale(db, id)
  const { completedAt, orderId, reprints, status, type, updatedAt } = transaction
  if (status !== "completed" && status !== "voided") return yield* refused
  const order = orderId === null ? undefined : yield* asStore(services.orders.get(OrderId.make(orderId)))
  const fiscal = yield* db.table(fiscalRecords).first({ transactionId: id })
  const operator = yield* asStore(services.users.known({ userId: transaction.operatorId }))
  const reprint = counted ? yield* countPrint(db, id) : reprints
  const sold = type === "return" ? yield* returned(db, id, order) : order?.lineItems ?? lines
  const paid = payments.filter((one) => one.status === "collected" || one.status === "refunded")
  const receipt: Receipt = {
    ...transaction,
    transactionId: id,
    orderNumber: order?.orderNumber ?? null,
    terminalCode: terminal.code,
    operatorName: operator?.name ?? transaction.operatorId,
    timestamp: completedAt ?? updatedAt,
    lineItems: sold.map(({ notes, quantity, title, totalPrice, unitPrice }) => ({
      title,
      quantity,
      unitPrice: unitPrice ?? 0,
      totalPrice,
      ...(notes === null ? {} : { notes })
    })),
    taxByRate: transaction.taxes,
    tips: transaction.tipTotal,
    payments: paid.map(({ reference, ...one }) => ({ ...one, ...(reference === null ? {} : { reference }) })),
    changeDue: paid.reduce((sum, { changeGiven }) => sum + changeGiven, 0),
    fiscal: fiscal ?? null,
    reprint
  }
  return receipt
})

const rowsOf = (receipt: Receipt): ReadonlyArray<readonly [text: string, amount: string]> => {
  const money = (amount: number) => moneyText(amount, receipt.currency, "en")
  return [
    ...receipt.lineItems.map(({ quantity, title, totalPrice }) =>
      [`${quantity} × ${title}`, money(totalPrice)] as const
    ),
    ...(receipt.discountTotal === 0 ? [] : [["Discount", money(-receipt.discountTotal)] as const]),
    ...receipt.taxByRate.map(({ rateBps, tax }) => [`Tax ${rateBps / 100} %`, money(tax)] as const),
    ["Total", money(receipt.total)],
    ...(receipt.rounding === 0 ? [] : [["Rounding", money(receipt.rounding)] as const]),
    ...receipt.payments.map((one) => [one.label, money(netOf(one))] as const),
    ...(receipt.changeDue === 0 ? [] : [["Change", money(receipt.changeDue)] as const]),
    ...(receipt.tips === 0 ? [] : [["Tip", money(receipt.tips)] as const])
  ]
}

const titleOf = ({ receiptNumber, reprint, status }: Receipt): string =>
  [receiptNumber, ...(status === "voided" ? ["VOID"] : []), ...(reprint > 0 ? [`COPY ${reprint}`] : [])].join(" · ")

const unsigned = ({ fiscal }: Receipt): ReadonlyArray<string> =>
  fiscal === null || fiscal.state === "skipped" ? [] : [fiscal.signature ?? "This receipt is not signed yet."]

const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)

const htmlOf = (receipt: Receipt): string => {
  const rows = rowsOf(receipt).map(([text, amount]) => `<tr><td>${escaped(text)}</td><td>${escaped(amount)}</td></tr>`)
  const notes = unsigned(receipt).map((note) => `<p>${escaped(note)}</p>`)
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escaped(titleOf(receipt))}</title>` +
    `<style>body{font:14px monospace;width:72mm}td+td{text-align:right}</style><h1>${escaped(titleOf(receipt))}</h1>` +
    `<p>${receipt.timestamp.toISOString()} ${escaped(receipt.terminalCode)}</p><table>${rows.join("")}</table>${
      notes.join("")
    }</html>`
}

const columns = 42

/** ESC/POS: reset, text in code page 437 as far as it goes, feed and cut. */
const escPosOf = (receipt: Receipt): Uint8Array => {
  const line = ([text, amount]: readonly [string, string]) => {
    const width = columns - amount.length - 1
    return `${text.slice(0, width).padEnd(width)} ${amount}`
  }
  const text = [
    titleOf(receipt),
    receipt.timestamp.toISOString(),
    "",
    ...rowsOf(receipt).map(line),
    "",
    ...unsigned(receipt)
  ]
    .join("\n").replaceAll("×", "x").replaceAll(/[^\x20-\x7e\n]/g, "?")
  return new Uint8Array(Buffer.concat([
    Buffer.from([0x1b, 0x40]),
    Buffer.from(text, "latin1"),
    Buffer.from([0x0a, 0x0a, 0x0a, 0x1d, 0x56, 0x00])
  ]))
}

const Mailed = Schema.Struct({ title: Schema.String, rows: Schema.Array(Schema.Tuple([Schema.String, Schema.String])) })

export const receiptMail = mailTemplate({
  name: "pos/receipt",
  purpose: "order",
  data: Mailed,
  sample: { title: "T1-20261129-0001", rows: [["1 × Espresso", "€3.00"], ["Total", "€3.00"]] },
  texts: {
    en: ({ rows, title }, { storeName }) => ({
      subject: `Your receipt from ${storeName}`,
      paragraphs: [title],
      lines: rows.map(([label, amount]) => ({ label, amount }))
    })
  }
})

class NoPrinter extends invalid(
  "PosNoPrinter",
  "printerId",
  "printerId of the terminal is missing, or the option `printing` is off."
) {}

/** Queues a receipt for the printer of its till. */
const printReceipt = Effect.fnUntraced(function*(call: PluginCall, id: string) {
  const { terminal } = yield* loadSale(call.db, id)
  const queue = Option.getOrUndefined(yield* Effect.serviceOption(PrintQueue))
  if (terminal.printerId === null || queue === undefined) return yield* new NoPrinter()
  const receipt = yield* receiptOf(call, id, true)
  const content = {
    title: titleOf(receipt),
    rows: rowsOf(receipt),
    bytes: Buffer.from(escPosOf(receipt)).toString("base64")
  }
  const job = yield* queue.print({ type: "receipt", printerId: terminal.printerId, format: "esc_pos", content })
  return { printJobId: job.id }
})

const mailReceipt = Effect.fnUntraced(function*(call: PluginCall, id: string, to: string) {
  const receipt = yield* receiptOf(call, id, false)
  const rows = rowsOf(receipt).map(([text, amount]): [string, string] => [text, amount])
  yield* call.asStore(
    call.services.mail.send(receiptMail, { to, data: { title: titleOf(receipt), rows } })
  )
  return { sent: true as const }
})

const receiptJson = Schema.encodeSync(Schema.fromJsonString(Schema.Struct({ data: Receipt })))

const printed = {
  json: (data: Receipt) => ({ headers: { "content-type": "application/json" }, body: receiptJson({ data }) }),
  html: (receipt: Receipt) => ({ headers: { "content-type": "text/html; charset=utf-8" }, body: htmlOf(receipt) }),
  escpos: (receipt: Receipt) => ({ headers: { "content-type": "application/octet-stream" }, body: escPosOf(receipt) })
}

export const receiptRoutes = [
  routes.raw("GET", "/transactions/:id/receipt", {
    summary: "Get a receipt",
    description:
      "JSON, or with `format` HTML or the bytes of a receipt printer, which count as a print. 404 without the " +
      "transaction; 422 unless it is completed or voided.",
    permission: operate,
    query: { format: Schema.optional(Schema.Literals(["html", "escpos"])) },
    success: Receipt
  }, (call) =>
    Effect.map(
      receiptOf(call, call.params.id, call.query.format !== undefined),
      (receipt) => printed[call.query.format ?? "json"](receipt)
    )),
  routes.post("/transactions/:id/receipt/print", {
    summary: "Print a receipt",
    description: "At the printer of its terminal. 404; 422 without a printer, and unless it is completed or voided.",
    permission: operate,
    success: Schema.Struct({ printJobId: Schema.String })
  }).handle((call) => printReceipt(call, call.params.id)),
  routes.post("/transactions/:id/receipt/email", {
    summary: "Mail a receipt",
    description: "404, 422.",
    permission: operate,
    rate: "strict",
    input: Schema.Struct({ email: Email }),
    strict: true,
    success: Schema.Struct({ sent: Schema.Literal(true) })
  }).handle((call) => mailReceipt(call, call.params.id, call.input.email))
]
