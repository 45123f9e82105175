import { Schema, Struct } from "effect"
import {
  about,
  amount,
  boolean,
  childOf,
  CustomerId,
  date,
  fieldsOf,
  idOf,
  integer,
  integerBetween,
  json,
  jsonOf,
  list,
  longText,
  machine,
  MinorUnits,
  oneOf,
  OrderId,
  type RowOf,
  table,
  text,
  timestamp,
  uuid
} from "stoa/plugin"
import { shifts } from "./Shifts.ts"
import { terminals } from "./Terminals.ts"

/** Net, tax and rate of a part of a sale; minor units. */
export const TaxPart = Schema.Struct({
  rateBps: Schema.Finite.pipe(about("Rate in hundredths of a per cent.")),
  net: MinorUnits,
  tax: MinorUnits
})

/** A sale, return or exchange at a till (contract-tills-channels §A.1). Minor units of `currency`. */
export const transactions = table("pos_transactions", {
  shiftId: uuid.references(shifts),
  terminalId: uuid.references(terminals),
  operatorId: text.about("Operator who opened it."),
  orderId: idOf(OrderId).nullable,
  type: oneOf(["sale", "return", "exchange"]).default("sale").about("Kind of transaction."),
  status: oneOf(["open", "held", "completed", "voided"]).default("open").about(
    "A held one is parked until it is recalled."
  ),
  orderType: oneOf(["counter", "dine_in", "takeaway", "delivery"]).default("counter").about(
    "Way the goods reach the customer."
  ),
  customerId: idOf(CustomerId).existing("customer").nullable,
  receiptNumber: text.unique().about("Number on the receipt."),
  currency: text.fewValues,
  businessDate: date.about("Business day of the terminal."),
  subtotal: amount.default(0),
  discountTotal: amount.default(0),
  taxTotal: amount.default(0),
  total: amount.default(0).about("Amount to pay, after discounts, with tax."),
  rounding: amount.default(0).about("Difference that cash rounding makes."),
  tipTotal: amount.default(0).about("Tips of its payments."),
  taxes: jsonOf(Schema.Array(TaxPart), 16_000).default([]).about("Taxes by rate."),
  codes: list(text).default([]).about("Promotion codes."),
  holdLabel: text.nullable.about("Name under which it is parked."),
  voidReason: longText.nullable.about("Why it was voided."),
  voidedBy: text.nullable.about("Operator who voided it."),
  overrideBy: text.nullable.forPeople.about("Supervisor who allowed what the operator may not."),
  completedAt: timestamp.nullable,
  clientId: text.upTo(64).nullable.about("Id that the device gave it."),
  /** Of what the device sent. */
  clientDigest: text.nullable,
  parentId: uuid.nullable.about("Id of the transaction it was split off."),
  mergedIntoId: uuid.nullable.about("Id of the transaction it was merged into."),
  refundId: uuid.nullable.about("Id of the refund that it made."),
  payout: oneOf(["cash", "original", "gift_card", "other"]).nullable.about("How the rest of an exchange goes back."),
  isLate: boolean.default(false).about(
    "True: it came, or was voided, after its shift was closed; only a closing counts it."
  ),
  reprints: integer.default(0).about("How often the receipt was printed again."),
  closingId: uuid.nullable.about("Id of the closing that contains it."),
  version: integer.default(0).about("Rises with each change."),
  metadata: json.default({})
}, {
  unique: [{ columns: ["clientId"], where: "client_id is not null" }],
  indexes: [
    { columns: ["terminalId"], where: "closing_id is null" },
    { columns: ["closingId"], where: "closing_id is not null" },
    { columns: ["parentId"], where: "parent_id is not null" },
    { columns: ["mergedIntoId"], where: "merged_into_id is not null" }
  ],
  personal: {
    of: "customerId",
    onErase: ["holdLabel", "voidReason", "metadata"],
    keeps: ["currency", "receiptNumber", "clientId", "clientDigest", "operatorId", "overrideBy", "voidedBy"],
    withholds: ["clientDigest"]
  },
  atMost: { unbounded: "Staff writes them." }
})
export type Transaction = RowOf<typeof transactions>

/** A line of a sale. Its price is the catalog's, or `unitPrice` of staff. */
export const lines = childOf(transactions, "transactionId", "pos_transaction_items", {
  transactionId: uuid.references(transactions),
  position: integer.about("Order on the receipt, from 0."),
  entityId: uuid,
  variantId: uuid.nullable,
  title: text,
  quantity: integerBetween(1, 9_999),
  metadata: json.upTo(4_000).default({}),
  notes: longText.nullable,
  isCustomPrice: boolean.default(false).about("True: the operator set the price."),
  /** Of staff, where `isCustomPrice`. */
  unitPrice: amount.nullable,
  discountAmount: amount.default(0),
  discountReason: longText.nullable.forPeople.about("Why it was discounted."),
  overrideBy: text.nullable.forPeople.about("Supervisor who allowed what the operator may not."),
  seat: integerBetween(0, 999).nullable.about("Seat at the table."),
  course: integerBetween(0, 99).nullable.about("Course of the meal."),
  /** A unit, as it was last priced. */
  price: amount.default(0),
  /** Before discounts and tax. */
  totalPrice: amount.default(0),
  addedBy: text.forPeople.about("Operator who added it."),
  addedAt: timestamp.forPeople,
  removedAt: timestamp.nullable
}, {
  checks: { discount: "discount_amount >= 0" },
  personal: { onErase: ["metadata", "notes", "discountReason"], keeps: ["title", "overrideBy", "addedBy"] }
})
export type SaleLine = RowOf<typeof lines>

export const methods = ["cash", "card", "gift_card", "store_credit", "other"] as const

/** Money that a sale took (`collected`), or that a return gave (`refunded`). Minor units. */
export const payments = table("pos_payments", {
  transactionId: uuid.references(transactions),
  method: oneOf([...methods, "original", "exchange"]).about("Method of payment."),
  status: oneOf(["pending", "collected", "failed", "cancelled", "refunded"]).default("collected").about(
    "pending: the terminal or provider has not answered. refunded: money of a return that went back."
  ),
  /** What was handed over, without the tip. */
  amount,
  changeGiven: amount.default(0).about("Cash that was given back."),
  tip: amount.default(0).about("Tip beside the amount."),
  rounding: amount.default(0).about("Difference that cash rounding makes."),
  label: text.about("Name of the method for the receipt."),
  reference: text.nullable.about("Reference of the card payment."),
  provider: text.nullable.about(
    "Payment provider or adapter of a card terminal that took it; null for cash, slips and others."
  ),
  intentId: text.nullable.about("Id of the payment at the provider."),
  collectedId: uuid.nullable.about("Collected payment of the core (`payments.collect`)."),
  readerId: text.nullable.about("Card reader."),
  failure: longText.nullable.about("Why it failed."),
  requestedBy: text.about("Operator who took it."),
  processedAt: timestamp.nullable,
  endedBy: text.nullable.about("Operator who settled a pending payment that got no answer."),
  endReason: longText.nullable.forPeople.about("Reason that this operator gave."),
  /** How often the job asked about it while it was pending, and when it asks next. */
  retries: integer.default(0),
  retryAt: timestamp.nullable,
  metadata: json.default({})
}, {
  indexes: [{ columns: ["transactionId"] }, { columns: ["status"], where: "status = 'pending'" }],
  personal: {
    of: "transactionId",
    onErase: ["reference", "endReason", "metadata"],
    keeps: ["label", "provider", "intentId", "readerId", "failure", "requestedBy", "endedBy"]
  },
  checks: { worth: "amount >= 0 and change_given between 0 and amount and tip >= 0" }
})
export type Payment = RowOf<typeof payments>

export const returnItems = childOf(transactions, "transactionId", "pos_return_items", {
  transactionId: uuid.references(transactions),
  /** Null for goods that come back without an order. */
  originalOrderId: idOf(OrderId).nullable,
  originalLineItemId: uuid.nullable,
  /** Of goods without an order. */
  entityId: uuid.nullable,
  variantId: uuid.nullable,
  title: text.nullable,
  unitPrice: amount.nullable,
  quantity: integerBetween(1, 9_999),
  reason: oneOf(["defective", "wrong_item", "changed_mind", "other"]).about("Reason of the customer."),
  restock: boolean.default(true).about("Units go back into stock."),
  restockingFee: amount.default(0).about("Amount that is kept back."),
  refundAmount: amount
}, { checks: { worth: "restocking_fee >= 0 and refund_amount >= 0" } })

export const sale = machine(transactions, {
  noun: "transaction",
  moves: {
    hold: { from: ["open"], to: "held" },
    recall: { from: ["held"], to: "open" },
    void: { from: ["open", "held"], to: "voided", by: "voidedBy", emits: "pos.voided" },
    complete: { from: ["open"], to: "completed", stamp: "completedAt", emits: "pos.completed" },
    return: { from: ["open"], to: "completed", stamp: "completedAt", emits: "pos.returned" }
  }
})

/** Money that counts toward a sale; a pending payment may still fail. */
export const isTaken = ({ status }: Payment): boolean => status === "collected" || status === "pending"

export const netOf = ({ amount, changeGiven }: Pick<Payment, "amount" | "changeGiven">): number => amount - changeGiven

const sum = (amounts: ReadonlyArray<number>): number => amounts.reduce((total, one) => total + one, 0)

/** Half up; minor units. */
export const roundedTo = (amount: number, step: number): number =>
  step === 0 ? amount : Math.floor(amount / step + 0.5) * step

/** What is still to pay: above 0. */
export const leftOf = ({ total }: Transaction, paid: ReadonlyArray<Payment>): number =>
  total + sum(paid.filter(isTaken).map(({ rounding }) => rounding)) - sum(paid.filter(isTaken).map(netOf))

const { clientDigest: _, ...shown } = fieldsOf(transactions)

export const LineView = Schema.Struct(fieldsOf(lines))
export const PaymentView = Schema.Struct(Struct.omit(fieldsOf(payments), ["organizationId", "retries", "retryAt"]))

/** A transaction with its lines and payments. */
export const TransactionView = Schema.Struct({
  ...shown,
  cartId: Schema.Null.annotate({ description: "Always null: the lines are in `items`." }),
  items: Schema.Array(LineView),
  payments: Schema.Array(PaymentView).pipe(about("Payments in the order in which they were taken.")),
  amountDue: Schema.Int.annotate({ description: "Amount that is still to pay, in minor units of `currency`." })
}).annotate({ identifier: "PosTransaction" })
