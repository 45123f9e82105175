import { Schema, Struct } from "effect"
import type { Order } from "../../orders/Order.ts"
import { type RowBatch, RowTable } from "../../platform/batching/RowBatch.ts"
import type { Issue } from "../../platform/errors/ApiErrors.ts"
import { isoTime } from "../../platform/events/ChangeLogRepo.ts"
import { newId, OrderLineId, ReturnId } from "../../platform/ids/Id.ts"
import { orderedJsonOf, Table } from "../../platform/records/Table.ts"
import { maybe, Units } from "../../platform/text/Fields.ts"
import { FreeText, PictureUrl } from "../../platform/text/Storable.ts"
import { Moment } from "../../platform/text/Time.ts"
import { Disposition, Return, ReturnLine, ReturnStatus } from "../../returns/Return.ts"

const LineOfReturn = Schema.Struct({
  /** The place of the line among the order's, from 1. */
  line: Units,
  quantity: Units,
  reason: maybe(FreeText),
  received: maybe(Schema.Array(Schema.Struct({ quantity: Units, disposition: Disposition })))
})

/** Its number follows from its place; its refund is in the totals of the order. */
export const ReturnRecord = Schema.Struct({
  status: ReturnStatus,
  requestedAt: Moment,
  receivedAt: maybe(Moment),
  lines: Schema.Array(LineOfReturn).check(Schema.isBetweenLength(1, 1_000)),
  photos: maybe(Schema.Array(PictureUrl)),
  rejectionReason: maybe(FreeText),
  instructions: maybe(FreeText),
  labelUrl: maybe(FreeText)
})
type ReturnRecord = typeof ReturnRecord.Type

/** Null for an order without returns. */
export const returnsJson = (order: string): string =>
  `(select json_agg(${
    orderedJsonOf(ReturnRecord.fields, "back", {
      requestedAt: isoTime("back.created_at"),
      receivedAt: isoTime("back.received_at"),
      lines: `(select json_agg(${
        orderedJsonOf(LineOfReturn.fields, "asked", {
          line: "asked.place",
          received: `(select coalesce(json_agg(json_build_object('quantity', unit.value->'quantity',
              'disposition', unit.value->'disposition') order by unit.place), '[]')
            from jsonb_array_elements(asked.received) with ordinality unit(value, place))`
        })
      } order by asked.place) from (
        select x.*, (select count(*) from order_lines e where e.order_id = l.order_id and e.position <= l.position) as place
        from order_return_lines_read x join order_lines l on l.id = x.order_line_id where x.return_id = back.id) asked)`
    })
  } order by length(back.number), back.number)
  from order_returns_read back where back.order_id = ${order}.id and back.organization_id = ${order}.organization_id)`

const complete = (record: ReturnRecord) => ({
  ...record,
  receivedAt: record.receivedAt ?? null,
  photos: record.photos ?? [],
  rejectionReason: record.rejectionReason ?? null,
  instructions: record.instructions ?? null,
  labelUrl: record.labelUrl ?? null,
  lines: record.lines.map((line) => ({ ...line, reason: line.reason ?? null, received: line.received ?? [] }))
})
export type ReturnContent = ReturnType<typeof complete>

export const returnsContent = (returns: ReadonlyArray<ReturnRecord> | null | undefined) => returns?.map(complete)

export const exportedReturn = ({ receivedAt, requestedAt, ...content }: ReturnContent) => ({
  ...content,
  requestedAt: requestedAt.toISOString(),
  receivedAt: receivedAt?.toISOString() ?? null
})

const unitsOf = (units: ReadonlyArray<{ readonly quantity: number }>) =>
  units.reduce((sum, { quantity }) => sum + quantity, 0)

const cameBack = ({ status }: ReturnContent): boolean => ["received", "refunded", "exchanged"].includes(status)

/** Returns of units that were never sold, came back unasked or without a time. */
export const returnIssues = (
  returns: ReadonlyArray<ReturnContent>,
  items: ReadonlyArray<{ readonly quantity: number }>,
  wrong: (path: string, message: string) => Issue
): ReadonlyArray<Issue> => {
  const left = items.map(({ quantity }) => quantity)
  return returns.flatMap((one, index) => {
    const [path, isBack] = [`returns.${index}`, cameBack(one)]
    const isTimed = isBack === (one.receivedAt !== null)
    const places = new Set(one.lines.map(({ line }) => line))
    return [
      ...(isTimed
        ? []
        : [
          wrong(
            `${path}.receivedAt`,
            `${path}.receivedAt must fit a return that is ${one.status}: given for goods that came back, else null.`
          )
        ]),
      ...(places.size === one.lines.length ? [] : [wrong(`${path}.lines`, "must not name a line twice.")]),
      ...one.lines.flatMap(({ line, quantity, received }, at) => {
        const back = unitsOf(received)
        const isFree = one.status === "rejected" || one.status === "cancelled"
        const claimed = isFree ? 0 : isBack ? back : quantity
        left[line - 1] = (left[line - 1] ?? 0) - claimed
        const isSold = quantity <= (items[line - 1]?.quantity ?? 0) && (left[line - 1] ?? 0) >= 0
        return [
          ...(isSold
            ? []
            : [wrong(`${path}.lines.${at}.quantity`, "must not be more than was sold and is not returned.")]),
          ...(back <= (isBack ? quantity : 0)
            ? []
            : [wrong(`${path}.lines.${at}.received`, "must not be more than was asked for and came back.")])
        ]
      })
    ]
  })
}

export const importedReturns = new Table("order_returns", Return.mapFields(Struct.omit(["lines"])))

const importedReturnLines = new RowTable(
  "order_return_lines",
  Schema.Struct({
    returnId: ReturnId,
    orderLineId: OrderLineId,
    ...Struct.pick(ReturnLine.fields, ["quantity", "reason", "receivedQuantity", "received"])
  }),
  { key: "return_id, order_line_id" }
)

/** Adds the rows of an order's returns to its draft. */
export const putReturns = (
  draft: RowBatch,
  { id: orderId, lineItems, orderNumber, organizationId }: Order,
  returns: ReadonlyArray<ReturnContent>,
  updatedAt: Date
) => {
  for (const [index, { lines, requestedAt: createdAt, ...content }] of returns.entries()) {
    const returnId = newId<ReturnId>()
    const number = `${orderNumber}-R${index + 1}`
    const references = { refundId: null, replacementOrderId: null, requestedBy: null }
    const row = { ...content, ...references, id: returnId, organizationId, orderId, number, createdAt, updatedAt }
    draft.put(importedReturns, row)
    for (const { line, quantity, reason, received: units } of lines) {
      const received = units.map((one) => ({ ...one, warehouseId: null }))
      const back = { quantity, reason, received, receivedQuantity: unitsOf(received) }
      for (const { id: orderLineId } of lineItems.slice(line - 1, line)) {
        draft.later.put(importedReturnLines, { ...back, returnId, orderLineId })
      }
    }
  }
}
