import type { SqlClient } from "effect/sql"
import type { Actor } from "../access/Actor.ts"
import type { AuditedType } from "./Event.ts"
import { journalRows } from "./JournalRepo.ts"

const refundJson = (row: string) =>
  `jsonb_build_object('id', ${row}.id, 'orderId', ${row}.order_id, 'amount', ${row}.amount, 'reason', ${row}.reason,
    'status', ${row}.status, 'providerReference', ${row}.provider_reference, 'failure', ${row}.failure)`

/**
 * The journal's entry of every refund in the part `from`, rows of `refunds`. Orders decide refunds and payments settle
 * them, so that both write it. What a refund moves on its order follows from it and has no entry of its own.
 */
export const refundNoted = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  type: Extract<AuditedType, `refunds.${string}`>,
  from: string
) =>
  journalRows(sql, actor, {
    type,
    entityType: "refund",
    entityId: "x.id::text",
    payload: refundJson("x"),
    before: type === "refunds.create" ? undefined : `${refundJson("x")} || '{"status": "pending"}'
      || '{"providerReference": null, "failure": null}'`,
    from: `${from} x`
  })
