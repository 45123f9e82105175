import { Context, Effect, Layer } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { currentOrganization } from "../platform/access/Actor.ts"
import { conflict } from "../platform/errors/ErrorKinds.ts"
import type { CollectedPaymentId, OrderId } from "../platform/ids/Id.ts"
import { type CollectedPayment, collectedPayments } from "./CollectedPayment.ts"
import type { PaymentIntent } from "./PaymentAdapter.ts"

class NotCollected extends conflict(
  "NotCollected",
  "A payment of the sale was given back, was declined, or pays another order. Collect it again."
) {}

export type NewCollectedPayment = Omit<
  CollectedPayment,
  "organizationId" | "intentId" | "status" | "failure" | "dueAt" | "createdAt" | "updatedAt"
>

const collecting = (sql: SqlClient.SqlClient) => {
  const [rows, all] = [collectedPayments.rows(sql), sql.literal(collectedPayments.columns())]

  const findByKey = Effect.fn("CollectedPaymentRepo.findByKey")(function*(key: string) {
    const [found] = yield* rows`select ${all} from collected_payments
          where organization_id = ${yield* currentOrganization} and key = ${key}`
    return found
  }, Effect.orDie)

  const find = Effect.fn("CollectedPaymentRepo.find")(function*(ids: ReadonlyArray<CollectedPaymentId>) {
    return yield* rows`select ${all} from collected_payments
          where organization_id = ${yield* currentOrganization} and id = any(${ids}::uuid[])`
  }, Effect.orDie)

  /** Inserts it, or finds the one of the same key. */
  const insert = Effect.fn("CollectedPaymentRepo.insert")(
    function*(payment: NewCollectedPayment, claimHours: number) {
      yield* sql`insert into collected_payments ${
        collectedPayments.insert(sql, {
          id: sql`${payment.id}::uuid`,
          organizationId: sql`${yield* currentOrganization}`,
          key: sql`${payment.key}`,
          provider: sql`${payment.provider}`,
          token: sql`${payment.token}::text`,
          label: sql`${payment.label}`,
          amount: sql`${payment.amount}::bigint`,
          currency: sql`${payment.currency}`,
          orderId: sql`${payment.orderId}::uuid`,
          customerId: sql`${payment.customerId}::uuid`,
          singlePurpose: sql`${payment.singlePurpose}::boolean`,
          dueAt: sql`now() + make_interval(hours => ${claimHours}::int)`
        })
      } on conflict (organization_id, key) do nothing`
      return (yield* findByKey(payment.key)) ?? (yield* Effect.die(new Error("An inserted payment is gone.")))
    },
    sql.withTransaction,
    Effect.orDie
  )

  /** Ends a pending payment. Undefined when another run has, or gives it back. */
  const note = Effect.fn("CollectedPaymentRepo.note")(
    function*(id: CollectedPaymentId, outcome: Pick<PaymentIntent, "id"> | { readonly failure: string }) {
      const [status, intent, failure] = "failure" in outcome
        ? ["declined", null, outcome.failure]
        : ["collected", outcome.id, null]
      const [noted] = yield* rows`update collected_payments set status = ${status}, intent_id = ${intent}::text,
              failure = ${failure}::text, token = null, updated_at = now()
            where organization_id = ${yield* currentOrganization} and id = ${id}::uuid and status = 'pending'
            returning ${all}`
      return noted
    },
    Effect.orDie
  )

  /** Binds collected payments to their order, in the caller's transaction. 409 unless each is collected for it and named once. */
  const claim = Effect.fn("CollectedPaymentRepo.claim")(
    function*(orderId: OrderId, ids: ReadonlyArray<CollectedPaymentId>) {
      if (ids.length === 0) return
      const claimed = yield* sql`update collected_payments set status = 'claimed', updated_at = now()
            where organization_id = ${yield* currentOrganization} and id = any(${ids}::uuid[])
              and status = 'collected' and order_id = ${orderId}::uuid returning 1`
      if (claimed.length !== ids.length) return yield* new NotCollected()
    },
    Effect.catchIf(SqlError.isSqlError, Effect.die)
  )

  return { claim, find, findByKey, insert, note }
}

const returning = (sql: SqlClient.SqlClient, findByKey: ReturnType<typeof collecting>["findByKey"]) => {
  const [rows, all] = [collectedPayments.rows(sql), sql.literal(collectedPayments.columns())]

  /**
   * Begins to give it back; `refused`: its capture failed. The payment as it is afterwards; undefined for an unknown
   * key.
   */
  const startReturn = Effect.fn("CollectedPaymentRepo.startReturn")(function*(
    key: string,
    refused?: { readonly intentId: string; readonly failure: string }
  ) {
    yield* sql`update collected_payments set status = 'returning', due_at = now() + interval '1 minute',
            intent_id = coalesce(${refused?.intentId ?? null}::text, intent_id),
            failure = ${refused?.failure ?? null}::text, updated_at = now()
          where organization_id = ${yield* currentOrganization} and key = ${key} and status in ('pending', 'collected')`
    return yield* findByKey(key)
  }, Effect.orDie)

  const endReturn = Effect.fn("CollectedPaymentRepo.endReturn")(
    function*(id: CollectedPaymentId, status: "returned" | "stuck") {
      const [ended] = yield* rows`update collected_payments set status = ${status}, token = null, updated_at = now()
            where organization_id = ${yield* currentOrganization} and id = ${id}::uuid and status = 'returning'
            returning ${all}`
      return ended
    },
    Effect.orDie
  )

  /** Begins, or begins again, to give back what no order has claimed in time. */
  const takeDue = Effect.fn("CollectedPaymentRepo.takeDue")(
    (limit: number) =>
      rows`update collected_payments set status = 'returning', due_at = now() + interval '1 minute',
            updated_at = now()
          where id = any(array(select id from collected_payments
            where status in ('pending', 'collected', 'returning') and due_at <= now()
            order by due_at limit ${limit} for update skip locked))
          returning ${all}`,
    Effect.orDie
  )

  /** Deletes ended payments; their orders have what is left to know. */
  const purge = Effect.fn("CollectedPaymentRepo.purge")(function*(olderThanDays: number) {
    const gone = yield* sql`delete from collected_payments where ctid = any(array(
          select ctid from collected_payments where status in ('claimed', 'declined', 'returned')
            and updated_at < now() - make_interval(days => ${olderThanDays}) order by updated_at limit 1000)) returning 1`
    return gone.length
  }, Effect.orDie)

  return { endReturn, purge, startReturn, takeDue }
}

/** Payments that are collected before their order (`collected_payments`). */
export class CollectedPaymentRepo
  extends Context.Service<CollectedPaymentRepo>()("stoa/domain/payments/CollectedPaymentRepo", {
    make: Effect.map(SqlClient.SqlClient, (sql) => {
      const collected = collecting(sql)
      return { ...collected, ...returning(sql, collected.findByKey) }
    })
  })
{
  static readonly layer = Layer.effect(CollectedPaymentRepo, CollectedPaymentRepo.make)
}
