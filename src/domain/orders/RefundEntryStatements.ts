import type { SqlClient } from "effect/sql"
import type { Actor } from "../platform/access/Actor.ts"
import { changeLogRows } from "../platform/events/ChangeLogRepo.ts"
import type { ChangeType } from "../platform/events/Event.ts"

const refundJson = (row: string) =>
  `jsonb_build_object('id', ${row}.id, 'orderId', ${row}.order_id, 'kind', ${row}.kind, 'amount', ${row}.amount,
    'shipping', ${row}.shipping_amount, 'reason', ${row}.reason, 'status', ${row}.status, 'providerReference', ${row}.provider_reference, 'failure', ${row}.failure)`

const before: Readonly<Record<RefundChange, string | undefined>> = {
  "refunds.create": undefined,
  "refunds.complete": "pending",
  "refunds.fail": "pending",
  "refunds.undo": "pending",
  "refunds.retry": "failed"
}

type RefundChange = Extract<ChangeType, `refunds.${string}`>

export const refundNoted = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  type: RefundChange,
  from: string,
  lines: ReadonlyArray<object> = []
) =>
  changeLogRows(sql, actor, {
    type,
    entityType: "refund",
    entityId: "x.id::text",
    payload: lines.length === 0
      ? refundJson("x")
      : sql`${sql.literal(refundJson("x"))} || jsonb_build_object('lines', ${JSON.stringify(lines)}::jsonb)`,
    before: before[type] === undefined ? undefined : `${refundJson("x")} || '{"status": "${before[type]}"}'
      || '{"providerReference": null, "failure": null}'`,
    from: `${from} x`
  })
