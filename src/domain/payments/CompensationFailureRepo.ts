import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { changeLogRows } from "../platform/events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import type { CompensationFailureId } from "../platform/ids/Id.ts"
import { ownPage } from "../platform/paging/OwnPageRepo.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { Table } from "../platform/records/Table.ts"
import { CompensationFailure } from "./CompensationFailure.ts"

const actions =
  `case when status <> 'open' then '{}' when refund_id is null then '{resolve}' else '{retry,resolve}' end::text[]`

export const failures = new Table("compensation_failures", CompensationFailure, {
  computed: { actions },
  unset: ["actions", "status", "note", "resolvedBy", "resolvedAt", "createdAt"]
})

export interface FailedVoid {
  readonly organizationId: string
  readonly checkoutId: string
  readonly provider: string
  readonly intentId: string | null
  readonly amount: number
  readonly message: string
}

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

export class CompensationFailureRepo
  extends Context.Service<CompensationFailureRepo>()("stoa/domain/payments/CompensationFailureRepo", {
    make: Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const list = Effect.fn("CompensationFailureRepo.list")(function*(status: string | undefined, page: PageRequest) {
        const only = status === undefined ? [] : [status === "open" ? sql`status = 'open'` : sql`status = ${status}`]
        return yield* ownPage(
          sql,
          failures,
          "created_at desc, id desc",
          page,
          only,
          status === undefined ? "all" : [status]
        )
      }, Effect.orDie)

      const find = Effect.fn("CompensationFailureRepo.find")(function*(id: CompensationFailureId) {
        const organization = yield* currentOrganization
        const [row] = yield* failures.rows(sql)`select ${sql.literal(failures.columns())} from compensation_failures
        where id = ${id}::uuid and organization_id = ${organization}`
        return row
      }, Effect.orDie)

      const resolve = Effect.fn("CompensationFailureRepo.resolve")(
        function*(id: CompensationFailureId, note: string | null) {
          const actor = yield* CurrentActor
          const rows = yield* sql`with settled as (
          update compensation_failures set status = 'resolved', note = ${note}, resolved_at = now(),
            resolved_by = ${actor.userId ?? actor.keyId ?? null}::text
          where id = ${id}::uuid and organization_id = ${actor.organizationId} and status = 'open' returning *),
        entry as (${changeLogRows(sql, actor, resolution)})${idempotencyRecord(sql, actor, "settled")}
        select 1 from settled`
          return rows.length === 1
        },
        Effect.orDie
      )

      const recordVoid = Effect.fn("CompensationFailureRepo.recordVoid")(function*(failed: FailedVoid) {
        yield* sql`insert into compensation_failures ${
          failures.insert(sql, {
            id: sql`${failed.checkoutId}::uuid`,
            organizationId: sql`${failed.organizationId}`,
            kind: "'void_failed'",
            orderId: sql`${failed.checkoutId}::uuid`,
            refundId: "null",
            provider: sql`${failed.provider}`,
            paymentIntentId: sql`${failed.intentId}`,
            amount: sql`${failed.amount}::bigint`,
            message: sql`${failed.message}`
          })
        } on conflict (id) do nothing`
      }, Effect.orDie)

      return { list, find, resolve, recordVoid }
    })
  })
{
  static readonly layer = Layer.effect(CompensationFailureRepo, CompensationFailureRepo.make)
}
