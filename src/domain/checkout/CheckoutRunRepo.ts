import { Context, Data, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../platform/access/Actor.ts"
import { processLocks } from "../platform/database/ProcessNumber.ts"
import { OrderId, Uuid } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import { Table } from "../platform/records/Table.ts"
import { Time } from "../platform/text/Time.ts"

export const RunToken = Uuid.pipe(Schema.brand("RunToken"))
export type RunToken = typeof RunToken.Type

const CheckoutRun = Schema.Struct({
  id: OrderId,
  organizationId: Schema.String,
  owner: RunToken,
  process: Schema.NullOr(Schema.Int),
  payload: Schema.String,
  startedAt: Time
})

export const checkoutRuns = new Table("checkout_runs", CheckoutRun, { unset: ["startedAt"] })

export interface RunOwner {
  readonly checkoutId: OrderId
  readonly owner: RunToken
}

export class RunLost extends Data.TaggedError("RunLost") {}

const settled = "1 second"

const AbandonedRun = Schema.Struct({ owner: RunToken, payload: Schema.String })
export type AbandonedRun = typeof AbandonedRun.Type

/**
 * Running checkouts (ARCHITECTURE §3). The claim of a cart writes the row, the last change of the checkout deletes it.
 * Each decision locks the row with its token, first of all locks: a frozen process may wake up beside the run that took
 * over.
 */
export class CheckoutRunRepo extends Context.Service<CheckoutRunRepo>()("stoa/domain/checkout/CheckoutRunRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const isOwner = ({ checkoutId, owner }: RunOwner, organization: string) =>
      sql`id = ${checkoutId}::uuid and organization_id = ${organization} and owner = ${owner}::uuid`

    /** Replaces any other owner, also of a checkout without a row. */
    const takeOver = Effect.fn("CheckoutRunRepo.takeOver")(function*({ checkoutId, owner }: RunOwner, payload: string) {
      yield* sql`insert into checkout_runs as r ${
        checkoutRuns.insert(sql, {
          id: sql`${checkoutId}::uuid`,
          organizationId: sql`${yield* currentOrganization}`,
          owner: sql`${owner}::uuid`,
          process: "null",
          payload: sql`${payload}`
        })
      } on conflict (id) do update set owner = excluded.owner, process = null
        where r.organization_id = excluded.organization_id`
    }, Effect.orDie)

    const isOpen = Effect.fn("CheckoutRunRepo.isOpen")(function*(checkoutId: OrderId) {
      const found = yield* sql`select 1 from checkout_runs
        where id = ${checkoutId}::uuid and organization_id = ${yield* currentOrganization}`
      return found.length > 0
    }, Effect.orDie)

    const owning = <A, E, R>(run: RunOwner, change: Effect.Effect<A, E, R>) =>
      sql.withTransaction(Effect.gen(function*() {
        const mine = yield* Effect.orDie(
          sql`select 1 from checkout_runs where ${isOwner(run, yield* currentOrganization)} for update`
        )
        return mine.length > 0 ? yield* change : yield* new RunLost()
      })).pipe(Effect.catchTag("SqlError", Effect.die))

    /** Fails for a run that has another owner, whose outcome counts. */
    const end = Effect.fn("CheckoutRunRepo.end")(function*(run: RunOwner) {
      const organization = yield* currentOrganization
      const ended = yield* Effect.orDie(
        sql`delete from checkout_runs where ${isOwner(run, organization)} returning 1`
      )
      if (ended.length === 0) return yield* new RunLost()
    })

    /**
     * Runs of all organizations that nothing runs any more: their process died or froze, or it is this one (`process`)
     * and they are not `running` here.
     */
    const abandoned = Effect.fn("CheckoutRunRepo.abandoned")(
      (process: number, running: ReadonlyArray<OrderId>) =>
        decoding(sql, AbandonedRun)`select owner, payload from checkout_runs
          where started_at < now() - ${settled}::interval
            and case when process = ${process} then id <> all(${running}::uuid[])
              else process <> all(array(select objid::int8 from pg_locks
                where locktype = 'advisory' and granted and objsubid = 2 and classid = ${processLocks})) end
          order by started_at limit 100`,
      Effect.orDie
    )

    return { takeOver, isOpen, owning, end, abandoned }
  })
}) {
  static readonly layer = Layer.effect(CheckoutRunRepo, CheckoutRunRepo.make)
}
