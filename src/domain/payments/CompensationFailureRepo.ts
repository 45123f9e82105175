import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogRows } from "../events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { offsetOf, type PageOf, type PageRequest } from "../paging/Paging.ts"
import { actionsOf, type CompensationFailure } from "./CompensationFailure.ts"

interface FailureRow {
  readonly id: string
  readonly organization_id: string
  readonly kind: CompensationFailure["kind"]
  readonly status: CompensationFailure["status"]
  readonly order_id: string | null
  readonly refund_id: string | null
  readonly provider: string | null
  readonly payment_intent_id: string | null
  readonly amount: bigint
  readonly message: string
  readonly note: string | null
  readonly resolved_by: string | null
  readonly resolved_at: Date | null
  readonly created_at: Date
}

const toFailure = (row: FailureRow): CompensationFailure => ({
  id: row.id,
  organizationId: row.organization_id,
  kind: row.kind,
  status: row.status,
  orderId: row.order_id,
  refundId: row.refund_id,
  provider: row.provider,
  paymentIntentId: row.payment_intent_id,
  amount: Number(row.amount),
  message: row.message,
  actions: actionsOf(row.status, row.refund_id),
  note: row.note,
  resolvedBy: row.resolved_by,
  resolvedAt: row.resolved_at,
  createdAt: row.created_at
})

/** A void that its provider never answered; amounts in minor units. */
export interface FailedVoid {
  readonly organizationId: string
  readonly checkoutId: string
  readonly provider: string
  readonly intentId: string | null
  readonly amount: number
  readonly message: string
}

/** Failed steps about money; those of refunds are written where the refund fails. */
export class CompensationFailureRepo extends Context.Service<CompensationFailureRepo, {
  /** A page of failures, newest first, optionally of one status. Two statements. */
  readonly list: (
    status: string | undefined,
    page: PageRequest
  ) => Effect.Effect<PageOf<CompensationFailure>, never, CurrentActor>
  readonly find: (id: string) => Effect.Effect<CompensationFailure | undefined, never, CurrentActor>
  /** Records that an operator settled the failure. False if it is not open or not the organization's. */
  readonly resolve: (id: string, note: string | null) => Effect.Effect<boolean, never, CurrentActor>
  /** Notes a void that failed for good, once for each checkout. */
  readonly recordVoid: (failed: FailedVoid) => Effect.Effect<void>
}>()("stoa/domain/payments/CompensationFailureRepo") {}

const resolution = {
  type: "compensations.resolve",
  entityType: "compensation_failure",
  entityId: "x.id::text",
  payload: `jsonb_build_object('id', x.id, 'kind', x.kind, 'status', x.status, 'orderId', x.order_id,
    'refundId', x.refund_id, 'amount', x.amount, 'message', x.message, 'note', x.note)`,
  before: `jsonb_build_object('id', x.id, 'kind', x.kind, 'status', 'open', 'orderId', x.order_id,
    'refundId', x.refund_id, 'amount', x.amount, 'message', x.message, 'note', null)`,
  from: "settled x"
} as const

/** `CompensationFailureRepo` over the database of the process. */
export const compensationFailureRepoLayer = Layer.effect(
  CompensationFailureRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const list = Effect.fn("CompensationFailureRepo.list")(function*(status: string | undefined, page: PageRequest) {
      const organization = yield* currentOrganization
      const where = sql.and([
        sql`organization_id = ${organization}`,
        ...(status === undefined ? [] : [status === "open" ? sql`status = 'open'` : sql`status = ${status}`])
      ])
      const [counted] = yield* sql<{ readonly total: bigint }>`select count(*) as total
        from compensation_failures where ${where}`
      const rows = yield* sql<FailureRow>`select * from compensation_failures where ${where}
        order by created_at desc, id desc limit ${page.limit} offset ${offsetOf(page)}`
      return { ...page, items: rows.map(toFailure), total: Number(counted?.total ?? 0) }
    }, Effect.orDie)

    const find = Effect.fn("CompensationFailureRepo.find")(function*(id: string) {
      const organization = yield* currentOrganization
      const [row] = yield* sql<FailureRow>`select * from compensation_failures
        where id = ${id}::uuid and organization_id = ${organization}`
      return row === undefined ? undefined : toFailure(row)
    }, Effect.orDie)

    const resolve = Effect.fn("CompensationFailureRepo.resolve")(function*(id: string, note: string | null) {
      const actor = yield* CurrentActor
      const rows = yield* sql`with settled as (
          update compensation_failures set status = 'resolved', note = ${note}, resolved_at = now(),
            resolved_by = ${actor.userId ?? actor.keyId ?? null}::text
          where id = ${id}::uuid and organization_id = ${actor.organizationId} and status = 'open' returning *),
        entry as (${changeLogRows(sql, actor, resolution)})${idempotencyRecord(sql, actor, "settled")}
        select 1 from settled`
      return rows.length === 1
    }, Effect.orDie)

    const recordVoid = Effect.fn("CompensationFailureRepo.recordVoid")(function*(failed: FailedVoid) {
      // The record reuses the checkout's id, because the durable step can run more than once.
      yield* sql`insert into compensation_failures (id, organization_id, kind, order_id, provider, payment_intent_id,
          amount, message)
        values (${failed.checkoutId}::uuid, ${failed.organizationId}, 'void_failed', ${failed.checkoutId}::uuid,
          ${failed.provider}, ${failed.intentId}, ${failed.amount}::bigint, ${failed.message})
        on conflict (id) do nothing`
    }, Effect.orDie)

    return CompensationFailureRepo.of({ list, find, resolve, recordVoid })
  })
)
