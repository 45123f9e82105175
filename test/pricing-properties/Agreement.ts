import { assert } from "@effect/vitest"
import { at } from "../support/TestApp.ts"
import type { Bill } from "./Bill.ts"

const numberAt = (record: unknown, path: string): number => Number(at(record, path))

const listAt = (record: unknown, path: string): ReadonlyArray<unknown> => {
  const found = at(record, path)
  return Array.isArray(found) ? found : []
}

/** A priced cart, a quote or an order, read as a bill. Where its lines, promotions and refused codes are, differs. */
export const billIn = (
  record: unknown,
  { lines = "lineItems", promotions, rejected }: {
    readonly lines?: string
    readonly promotions: ReadonlyArray<unknown>
    readonly rejected: ReadonlyArray<unknown>
  }
): Bill => ({
  currency: String(at(record, "currency")),
  lines: listAt(record, lines).map((line) => ({
    unitPrice: numberAt(line, "unitPrice"),
    totalPrice: numberAt(line, "totalPrice"),
    discountAmount: numberAt(line, "discountAmount"),
    taxAmount: numberAt(line, "taxAmount")
  })),
  applied: promotions.map((one) => [String(at(one, "code")), numberAt(one, "discountAmount")] as const),
  rejected: rejected.map((one) => String(at(one, "code"))).toSorted(),
  subtotal: numberAt(record, "subtotal"),
  discountTotal: numberAt(record, "discountTotal"),
  shippingTotal: numberAt(record, "shippingTotal"),
  taxTotal: numberAt(record, "taxTotal"),
  taxIncluded: at(record, "taxIncluded") === true,
  grandTotal: numberAt(record, "grandTotal")
})

/** The bill of the answer of a quote. */
export const quotedBill = (data: unknown): Bill =>
  billIn(data, { promotions: listAt(data, "appliedPromotions"), rejected: listAt(data, "rejectedPromotionCodes") })

/** The bill that the totals of a cart are. */
export const cartBill = (totals: unknown): Bill => ({
  ...quotedBill(totals),
  lines: listAt(totals, "lines").map((line) => ({
    unitPrice: numberAt(line, "unitPrice"),
    totalPrice: numberAt(line, "subtotal"),
    discountAmount: numberAt(line, "discount"),
    taxAmount: numberAt(line, "tax")
  }))
})

/** The bill of an order as it is stored; what of the codes was refused, only the answer of its checkout says. */
export const orderedBill = (data: unknown, rejected: unknown): Bill =>
  billIn(data, {
    promotions: listAt(data, "metadata.appliedPromotions"),
    rejected: Array.isArray(rejected) ? rejected : []
  })

/** Nothing differs by a unit. Texts are compared first, since a million comparisons of objects take minutes. */
export const assertSame = (found: unknown, expected: unknown, about: string): void => {
  if (JSON.stringify(found) !== JSON.stringify(expected)) assert.deepStrictEqual(found, expected, about)
}

/** Lines add up to the totals, and nothing is negative, by the bill alone and for any rules. */
export const assertBalanced = (bill: Bill, about: string): void => {
  const sum = (amounts: ReadonlyArray<number>) => amounts.reduce((total, amount) => total + BigInt(amount), 0n)
  const due = sum([bill.subtotal, -bill.discountTotal, bill.shippingTotal, bill.taxIncluded ? 0 : bill.taxTotal])
  const columns = [
    sum(bill.lines.map(({ totalPrice }) => totalPrice)) === BigInt(bill.subtotal),
    sum(bill.lines.map(({ discountAmount }) => discountAmount)) === BigInt(bill.discountTotal),
    sum(bill.lines.map(({ taxAmount }) => taxAmount)) === BigInt(bill.taxTotal),
    // Of exempt buyers it is less: the tax that prices contain is a discount too.
    sum(bill.applied.map(([, amount]) => amount)) <= BigInt(bill.discountTotal),
    due === BigInt(bill.grandTotal),
    bill.lines.every((line) => line.discountAmount >= 0 && line.discountAmount <= line.totalPrice),
    bill.lines.every((line) => line.unitPrice >= 0 && line.taxAmount >= 0),
    !bill.taxIncluded || bill.taxTotal <= bill.grandTotal
  ]
  if (!columns.every(Boolean)) assert.fail(`${about} does not add up: ${columns.join(" ")} ${JSON.stringify(bill)}`)
}
