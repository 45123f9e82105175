import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import type { Conflict, InvalidTransition } from "../platform/errors/ApiErrors.ts"
import type { OrderId } from "../platform/ids/Id.ts"
import { paymentEvents } from "./RefundTables.ts"

/** The id is unique per organization and provider (contract §11). */
export interface ReceivedEvent {
  readonly provider: string
  readonly eventId: string
  readonly type: string
  readonly orderId: OrderId
  /** Minor units; null if the event has no amount. */
  readonly amount: number | null
}

type WorkFailure = Conflict | InvalidTransition

export class PaymentEventRepo extends Context.Service<PaymentEventRepo>()("stoa/domain/payments/PaymentEventRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    /** Claims the event and runs the work in one transaction. Undefined, without work, for a repeated event. */
    const once = <A>(event: ReceivedEvent, work: Effect.Effect<A, WorkFailure, CurrentActor>) =>
      Effect.gen(function*() {
        const organization = yield* currentOrganization
        const claimed = yield* sql`insert into payment_events ${
          paymentEvents.insert(sql, {
            organizationId: sql`${organization}`,
            provider: sql`${event.provider}`,
            eventId: sql`${event.eventId}`,
            type: sql`${event.type}`,
            orderId: sql`${event.orderId}::uuid`,
            amount: sql`${event.amount}::bigint`
          })
        } on conflict do nothing returning 1`
        return claimed.length === 0 ? undefined : yield* work
      }).pipe(
        sql.withTransaction,
        Effect.catchTag("SqlError", Effect.die),
        Effect.withSpan("PaymentEventRepo.once")
      )

    /** Deletes at most 1,000 events a call; providers repeat for days, not for months. */
    const purge = Effect.fn("PaymentEventRepo.purge")(function*(olderThanDays: number) {
      const rows = yield* sql`delete from payment_events where ctid = any(array(
        select ctid from payment_events where received_at < now() - make_interval(days => ${olderThanDays})
        order by received_at limit 1000)) returning 1`
      return rows.length
    }, Effect.orDie)

    return { once, purge }
  })
}) {
  static readonly layer = Layer.effect(PaymentEventRepo, PaymentEventRepo.make)
}
