import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { currentOrganization } from "../platform/access/Actor.ts"
import type { OrderId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import { withdrawn } from "./BackorderStatements.ts"
import { StockAllocation, type StockDemand, unitsBySellable } from "./StockRules.ts"
import {
  allocatedUnits,
  deductedFromHolds,
  holdUnits,
  lockingHolds,
  lockWaiting,
  movedVersions,
  newHold,
  notedLines,
  openUnits,
  releaseStock
} from "./StockStatements.ts"

const batchSize = 500

const purgeSize = 1000

/** A release concurrent with a committing reservation sees it only at the second try. */
const releaseTries = 5

const Holders = Schema.Struct({ organization: Schema.String, holders: Schema.Array(Schema.String) })

const Next = Schema.Struct({ ms: Schema.Finite })

const Released = Schema.Struct({ released: Schema.Boolean, settled: Schema.Boolean, waits: Schema.Boolean })

/**
 * Ends holds and returns or deducts their stock. Moves versions, so that stock entities notice. Lock order of all stock
 * writers: holds, versions by key, levels.
 */
export class HoldRepo extends Context.Service<HoldRepo>()("stoa/domain/inventory/HoldRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => ({
    ...makeReleases(sql),
    ...makeExpiry(sql),
    ...makeSold(sql),
    ...makeReturns(sql)
  }))
}) {
  static readonly layer = Layer.effect(HoldRepo, HoldRepo.make)
}

/** Ends holds per organization, and one by one if that fails: a broken hold must not block others. */
const eachAlone = Effect.fnUntraced(function*(
  what: string,
  due: ReadonlyArray<typeof Holders.Type>,
  end: (
    organization: string,
    holders: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>
) {
  const attempt = (organization: string, holders: ReadonlyArray<string>) =>
    end(organization, holders).pipe(
      Effect.map((ended) => ended.length),
      Effect.catch((error) =>
        Effect.as(Effect.logError(`cannot ${what} holds of ${organization}: ${holders.join(", ")}`, error), undefined)
      )
    )
  let ended = 0
  for (const { holders, organization } of due) {
    const together = yield* attempt(organization, holders)
    if (together !== undefined) ended += together
    else if (holders.length > 1) {
      for (const holder of holders) ended += (yield* attempt(organization, [holder])) ?? 0
    }
  }
  return ended
})

const releasedHolds = (sql: SqlClient.SqlClient, organization: string, reason: string) =>
  sql`lines as materialized (
      select holder, sellable_id, warehouse_id, quantity from hold_lines
      where organization_id = ${organization} and holder = any(array(select holder from mine)) and quantity > 0),
    ${releaseStock(sql, organization, reason)}`

const ofWaiting = (sql: SqlClient.SqlClient) =>
  sql`exists (select 1 from backorders b
    where b.organization_id = holds.organization_id and b.holder = holds.holder and b.quantity > 0)`

/** Ends the wait of holds: only then their lines stay as they are until they are released. */
const stopWaiting = (
  sql: SqlClient.SqlClient,
  organization: string,
  holders: ReadonlyArray<string>,
  only: Statement.Fragment
) =>
  sql.withTransaction(Effect.gen(function*() {
    const mine = yield* decoding(sql, Schema.Struct({ holder: Schema.String }))`select holder from holds
      where organization_id = ${organization} and holder = any(${holders}::text[]) and state = 'held'
        and ${only} and ${ofWaiting(sql)} order by holder for update skip locked`
    if (mine.length === 0) return
    const waiting = mine.map(({ holder }) => holder)
    yield* lockWaiting(sql, organization, waiting)
    yield* withdrawn(sql, organization, waiting)
  }))

const makeReleases = (sql: SqlClient.SqlClient) => {
  /**
   * Ends the hold of a failed checkout and leaves a marker: a reservation still on its way is refused. True if stock
   * was returned.
   */
  const release = Effect.fn("HoldRepo.release")(function*(holder: string) {
    const organization = yield* currentOrganization
    for (let tries = 0; tries < releaseTries; tries++) {
      const [row] = yield* decoding(sql, Released)`with mine as materialized (
          select holder from holds
          where organization_id = ${organization} and holder = ${holder} and state = 'held'
            and not ${ofWaiting(sql)} for update),
        mark as (
          ${newHold(sql, organization, holder, "released")}
          where not exists (select 1 from mine) on conflict (organization_id, holder) do nothing returning 1),
        ${releasedHolds(sql, organization, "released")},
        ended as (
          update holds set state = 'released', updated_at = now()
          where organization_id = ${organization} and holder = any(array(select holder from mine)))
        select exists (select 1 from mine) as released,
          exists (select 1 from mine) or exists (select 1 from mark)
            or exists (select 1 from holds where organization_id = ${organization} and holder = ${holder}) as settled,
          exists (select 1 from holds where organization_id = ${organization} and holder = ${holder}
            and state = 'held' and ${ofWaiting(sql)}) as waits`
      if (row?.waits === true) {
        yield* stopWaiting(sql, organization, [holder], sql`true`)
        continue
      }
      // Not settled: the hold was committed after this statement's snapshot and before its insert. The next try sees
      // it.
      if (row?.settled === true) return row.released
    }
    return yield* Effect.die(new Error(`The hold of ${holder} could not be released.`))
  }, Effect.orDie)
  return { release }
}

const makeExpiry = (sql: SqlClient.SqlClient) => {
  const expireIdle = (organization: string, holders: ReadonlyArray<string>) =>
    sql`with mine as materialized (
        select holder from holds where organization_id = ${organization} and holder = any(${holders}::text[])
          and state = 'held' and expires_at <= now() and not ${ofWaiting(sql)}
        order by holder for update skip locked),
      ${releasedHolds(sql, organization, "expired")},
      ended as (
        update holds set state = 'expired', updated_at = now()
        where organization_id = ${organization} and holder = any(array(select holder from mine)))
      select 1 from mine`
  const expireOf = Effect.fnUntraced(function*(organization: string, holders: ReadonlyArray<string>) {
    const idle = yield* expireIdle(organization, holders)
    if (idle.length === holders.length) return idle
    yield* stopWaiting(sql, organization, holders, sql`expires_at <= now()`)
    return [...idle, ...yield* expireIdle(organization, holders)]
  })
  const expireDue = Effect.gen(function*() {
    const due = yield* decoding(sql, Holders)`select organization_id as organization, array_agg(holder) as holders
      from (select organization_id, holder from holds where state = 'held' and expires_at <= now()
        order by expires_at limit ${batchSize}) due group by organization_id`
    return yield* eachAlone("expire", due, expireOf)
  }).pipe(Effect.orDie, Effect.withSpan("HoldRepo.expireDue"))
  const untilNextExpiry = Effect.gen(function*() {
    const [next] = yield* decoding(sql, Next)`select
        (extract(epoch from expires_at - now()) * 1000)::float8 as ms
      from holds where state = 'held' and expires_at is not null order by expires_at limit 1`
    return next?.ms
  }).pipe(Effect.orDie, Effect.withSpan("HoldRepo.untilNextExpiry"))
  const deleteEnded = (organization: string, holders: ReadonlyArray<string>) =>
    sql`with old as materialized (
        select holder from holds where organization_id = ${organization} and holder = any(${holders}::text[])
          and state in ('released', 'expired', 'fulfilled') for update skip locked),
      lines as (
        delete from hold_lines where organization_id = ${organization} and holder = any(array(select holder from old))),
      waits as (
        delete from backorders where organization_id = ${organization} and holder = any(array(select holder from old)))
      delete from holds where organization_id = ${organization} and holder = any(array(select holder from old))
      returning 1`
  /** Deletes at most 1,000 ended holds per call. The order and the stock movements stay. */
  const purgeEnded = Effect.fn("HoldRepo.purgeEnded")(function*(olderThanDays: number) {
    const ended = yield* decoding(sql, Holders)`select organization_id as organization, array_agg(holder) as holders
      from (select organization_id, holder from holds where state in ('released', 'expired', 'fulfilled')
        and updated_at < now() - make_interval(days => ${olderThanDays}) order by updated_at limit ${purgeSize}) old
      group by organization_id`
    return yield* eachAlone("delete", ended, deleteEnded)
  }, Effect.orDie)
  return { expireDue, untilNextExpiry, purgeEnded }
}

const makeSold = (sql: SqlClient.SqlClient) => {
  const locking = lockingHolds(sql)
  const releaseSold = Effect.fn("HoldRepo.releaseSold")(function*(orderId: OrderId) {
    const [row] = yield* locking(orderId, (organization, holders, waits) =>
      Effect.andThen(
        waits ? Effect.asVoid(withdrawn(sql, organization, holders)) : Effect.void,
        decoding(sql, Schema.Struct({ units: Schema.Int }))`with mine as materialized (
          select holder from holds where organization_id = ${organization} and holder = any(${holders}::text[])
            and state in ('held', 'sold')),
        ${releasedHolds(sql, organization, "cancelled")},
        emptied as (
          update hold_lines set quantity = 0
          where organization_id = ${organization} and holder = any(array(select holder from mine)) and quantity > 0),
        ended as (
          update holds set state = 'released', expires_at = null, updated_at = now()
          where organization_id = ${organization} and holder = any(array(select holder from mine)))
        select coalesce(sum(quantity), 0)::int8 as units from lines`
      ))
    return row?.units ?? 0
  }, Effect.orDie)
  /**
   * Deducts shipped stock by SQL arithmetic: concurrent shipments add up. Without `lines` everything the order still
   * holds. Returns the deducted units and their warehouses.
   */
  const fulfilSold = Effect.fn("HoldRepo.fulfilSold")(function*(orderId: OrderId, lines?: ReadonlyArray<StockDemand>) {
    const shipped = lines === undefined ? undefined : unitsBySellable(lines)
    return yield* locking(
      orderId,
      (organization, holders) =>
        decoding(sql, StockAllocation)`with ${openUnits(sql, organization, holders, shipped)},
    ${movedVersions(sql, organization)},
    gone as (
      update stock_levels s set on_hand = s.on_hand - l.quantity, reserved = s.reserved - l.quantity,
        updated_at = now()
      from (select sellable_id, warehouse_id, sum(quantity)::int4 as quantity from lines
        group by sellable_id, warehouse_id) l
      where s.organization_id = ${organization} and s.sellable_id = any(array(select sellable_id from locked))
        and s.sellable_id = l.sellable_id and s.warehouse_id = l.warehouse_id
      returning s.*),
    ${deductedFromHolds(sql, organization, holders, "fulfilled")},
    ${
          notedLines(sql, organization, "gone", {
            type: "fulfillment",
            quantity: "-l.quantity",
            reference: { type: "'order'", id: sql`${orderId}` },
            reason: null
          })
        }
    select sellable_id as sellable, warehouse_id as "warehouseId", quantity from lines`
    )
  }, Effect.orDie)
  return { releaseSold, fulfilSold }
}

const makeReturns = (sql: SqlClient.SqlClient) => ({
  /** Undoes `fulfilSold` for a shipment that came back: the units are held for the order again. */
  returnToHold: Effect.fn("HoldRepo.returnToHold")(
    function*(orderId: OrderId, units: ReadonlyArray<StockAllocation>) {
      if (units.length === 0) return
      const organization = yield* currentOrganization
      yield* sql`${newHold(sql, organization, orderId, "sold")}
        on conflict (organization_id, holder) do update set state = 'sold', expires_at = null, updated_at = now()`
      yield* sql`with lines as materialized (
      select sellable_id, warehouse_id, sum(quantity)::int4 as quantity
      from ${allocatedUnits(sql, units)} group by sellable_id, warehouse_id),
    ${movedVersions(sql, organization)},
    back as (
      update stock_levels s set on_hand = s.on_hand + l.quantity, reserved = s.reserved + l.quantity, updated_at = now()
      from lines l
      where s.organization_id = ${organization} and s.sellable_id = any(array(select sellable_id from locked))
        and s.sellable_id = l.sellable_id and s.warehouse_id = l.warehouse_id
      returning s.*),
    held as (${holdUnits(sql, organization, orderId, "lines")}),
    ${
        notedLines(sql, organization, "back", {
          type: "return",
          quantity: "l.quantity",
          reference: { type: "'order'", id: sql`${orderId}` },
          reason: "shipment cancelled"
        })
      }
    select 1`
    },
    sql.withTransaction,
    Effect.orDie
  )
})
