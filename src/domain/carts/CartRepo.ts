import { Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { type Actor, CurrentActor, currentOrganization, systemActor } from "../platform/access/Actor.ts"
import * as GroupCommit from "../platform/batching/GroupCommitRepo.ts"
import { lookupSql } from "../platform/database/DatabaseRepo.ts"
import { byOrigin, changeLog, changeLogRows, originOf } from "../platform/events/ChangeLogRepo.ts"
import { entityTables } from "../platform/hooks/EntityTables.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import { type CartId, type CartLineId, type CustomerId, newId } from "../platform/ids/Id.ts"
import { StoreSettings } from "../platform/settings/StoreSettings.ts"
import {
  type CartLine,
  carts,
  type CartState,
  type CartWrite,
  type PricedLineChange,
  type StoredCart,
  toCart
} from "./Cart.ts"
import { type CartChoices, noChoices } from "./CartChoices.ts"
import { claimCartStatement } from "./CartClaimStatements.ts"
import {
  type AddedLine,
  type AddRow,
  addStatement,
  cartState,
  cartsWithLines,
  changeCartStatement,
  changeLineStatement,
  freeStatements,
  holdStatement,
  isTooMany,
  lineJson,
  type LineRow,
  loggedCart,
  offerStatement,
  toLine,
  type WantedItem
} from "./CartStatements.ts"

const cartRow = { columns: carts.columns("r"), row: carts.row(`i."row"`) }

/** The changed line, or why nothing changed; `stale`: the cart changed meanwhile. */
export type LineWrite = CartLine | "no-line" | "too-many" | "full" | "stale"

interface Created extends Pick<StoredCart, "choices"> {
  readonly state: CartState
  readonly actor: Actor
}

const toInput = ({ actor, choices, state: { cart, ...stored } }: Created) => ({
  entry: newId(),
  origin: originOf(actor),
  record: cart,
  row: { ...cart, ...stored, choices }
})

const changedLine = (line: LineRow | null): CartLine | "stale" => line === null ? "stale" : toLine(line)

const addedLine = ({ fits, line }: AddRow): CartLine | "full" | "stale" => fits ? changedLine(line) : "full"

export class CartRepo extends Context.Service<CartRepo>()("stoa/domain/carts/CartRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const { cartMaxLines, defaultOrganizationId } = yield* StoreSettings
    return {
      ...yield* reads(sql),
      ...yield* inserts(sql),
      ...yield* lineChanges(sql, cartMaxLines),
      /** `stale` when the cart has changed meanwhile, also when a line came that has no price in a new currency. */
      change: Effect.fn("CartRepo.change")(function*(from: CartState, write: CartWrite) {
        return yield* changeCartStatement(sql, yield* CurrentActor, from, write)
      }, Effect.orDie),
      /** `stale` when one of the carts has changed meanwhile. */
      claim: Effect.fn("CartRepo.claim")(
        function*(cart: StoredCart, other: StoredCart | undefined, customer: CustomerId) {
          return yield* claimCartStatement(sql, yield* CurrentActor, cart, other, customer)
        },
        Effect.orDie
      ),
      /** False when the cart has changed meanwhile, is held or not active. */
      hold: Effect.fn("CartRepo.hold")(
        (cart: CartState, holder: string) => holdStatement(sql, cart, holder),
        Effect.orDie
      ),
      free: Effect.fn("CartRepo.free")(function*(cartId: CartId, isFree: Effect.Effect<boolean, never, CurrentActor>) {
        yield* freeStatements(sql, yield* currentOrganization, cartId, isFree)
      }, Effect.orDie),
      ...jobs(sql, systemActor(defaultOrganizationId))
    }
  })
}) {
  static readonly layer = Layer.effect(CartRepo, CartRepo.make)
}

const reads = Effect.fnUntraced(function*(sql: SqlClient.SqlClient) {
  const [lookup, tables] = [yield* lookupSql, yield* entityTables]
  const looking = yield* GroupCommit.make({
    name: "carts.offers",
    together: (wanted: ReadonlyArray<WantedItem>) =>
      Effect.map(offerStatement(lookup, wanted, tables), (rows) => {
        const byIndex = new Map(rows.map((row) => [row.n, { offer: row }]))
        return wanted.map((_, n) => byIndex.get(n) ?? { offer: undefined })
      }),
    alone: (item) => Effect.map(offerStatement(lookup, [item], tables), ([offer]) => ({ offer }))
  })
  const read = Effect.fnUntraced(function*(cartId: CartId, filter?: Statement.Fragment) {
    const named = sql`c.id = ${cartId}::uuid and c.organization_id = ${yield* currentOrganization}`
    const [cart] = yield* cartsWithLines(lookup, named, filter)
    return cart
  }, Effect.orDie)

  return {
    find: Effect.fn("CartRepo.find")((cartId: CartId) => read(cartId)),
    findWithLine: Effect.fn("CartRepo.findWithLine")((cartId: CartId, lineId: CartLineId) =>
      read(cartId, sql` and l.id = ${lineId}::uuid`)
    ),
    state: Effect.fn("CartRepo.state")(function*(cartId: CartId) {
      return yield* cartState(sql, yield* currentOrganization, cartId)
    }, Effect.orDie),
    ofCustomer: Effect.fn("CartRepo.ofCustomer")(function*(customerId: CustomerId, limit: number) {
      const found = yield* cartsWithLines(
        sql,
        sql`c.organization_id = ${yield* currentOrganization} and c.customer_id = ${customerId}::uuid
          order by c.created_at desc, c.id desc limit ${limit}`
      )
      return found.map(toCart)
    }, Effect.orDie),
    /** The latest cart of a customer that is active and not held, in a currency. */
    activeOf: Effect.fn("CartRepo.activeOf")(function*(customerId: CustomerId, currency: string, now: Date) {
      const [cart] = yield* cartsWithLines(
        sql,
        sql`c.organization_id = ${yield* currentOrganization} and c.customer_id = ${customerId}::uuid
          and c.status = 'active' and c.held_by is null and c.expires_at > ${now} and c.currency = ${currency}
          order by c.created_at desc, c.id desc limit 1`
      )
      return cart
    }, Effect.orDie),
    /**
     * A cart, whether an item can be added to it and its price, in one statement for all waiting adds. Show it only to
     * admitted visitors.
     */
    offer: Effect.fn("CartRepo.offer")(function*(item: Omit<WantedItem, "organization">) {
      return (yield* looking({ ...item, organization: yield* currentOrganization })).offer
    }, Effect.orDie)
  }
})

const inserts = Effect.fnUntraced(function*(sql: SqlClient.SqlClient) {
  const insertAll = (created: ReadonlyArray<Created>) =>
    sql`with input as materialized (
        select * from jsonb_to_recordset(${JSON.stringify(created.map(toInput))}::jsonb)
          as i(entry uuid, origin jsonb, record jsonb, "row" jsonb)),
      created as (insert into carts (${sql.literal(carts.names)})
        select ${sql.literal(cartRow.columns)} from input i, ${sql.literal(cartRow.row)} r returning id)
      insert into ${changeLog(sql)}
      select i.entry, i.record->>'organizationId', 'cart.create', 'cart', i.record->>'id', i.record, null::jsonb,
        ${byOrigin(sql)}
      from input i join created on created.id = (i.record->>'id')::uuid`

  const inserting = yield* GroupCommit.make<Created, true>({
    name: "carts.create",
    together: (created) => Effect.as(insertAll(created), created.map(() => true as const)),
    alone: (one) => Effect.as(insertAll([one]), true as const)
  })

  return {
    insert: Effect.fn("CartRepo.insert")(function*(state: CartState, choices: CartChoices = noChoices) {
      yield* inserting({ state, choices, actor: yield* CurrentActor })
    }, Effect.orDie)
  }
})

/** Each change is one statement, fenced by the cart's version and status. */
const lineChanges = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, maxLines: number) {
  const adding = yield* GroupCommit.make<AddedLine, CartLine | "full" | "stale">({
    name: "carts.add",
    together: (adds) => {
      const first = new Map(adds.map((add) => [add.line.cartId, add] as const).reverse())
      const chosen = adds.filter((add) => first.get(add.line.cartId) === add)
      return Effect.map(addStatement(sql, chosen, maxLines, "skip locked"), (rows) => {
        const results = new Map(rows.map((row) => [chosen[row.n], addedLine(row)]))
        return adds.map((add) => results.get(add))
      })
    },
    alone: (add) =>
      add.waits
        ? Effect.map(addStatement(sql, [add], maxLines, ""), ([row]) => row === undefined ? "stale" : addedLine(row))
        : Effect.succeed("stale")
  })

  const add = (waits: boolean) =>
    Effect.fnUntraced(
      function*(from: CartState, line: CartLine) {
        return yield* adding({ from, line, actor: yield* CurrentActor, waits })
      },
      Effect.catchTag("SqlError", (error) => isTooMany(error) ? Effect.succeed("too-many" as const) : Effect.die(error))
    )

  const write = Effect.fnUntraced(function*(
    from: CartState,
    lineId: CartLineId,
    type: "cart.updateQuantity" | "cart.removeItem",
    change: Statement.Fragment
  ) {
    const actor = yield* CurrentActor
    const entry = changeLogRows(sql, actor, {
      type,
      entityType: "cart",
      entityId: "x.cart_id::text",
      payload: lineJson("x"),
      before: `(select ${lineJson("f")} from previous f)`,
      from: "line x"
    })
    const records = sql`entry as (${entry})${idempotencyRecord(sql, actor, "line")}`
    const [row] = yield* changeLineStatement(sql, from, lineId, change, records)
    return row === undefined || !row.exists ? "no-line" as const : changedLine(row.line)
  })

  return {
    /**
     * Adds a line, or increases the quantity of an equal line and takes the newer price. `full` at the limit of lines.
     */
    addLine: add(true),
    /** Like `addLine`, but takes no turn: `stale` also while another request changes the cart. */
    addLineUnlessBusy: add(false),
    changeLine: Effect.fn("CartRepo.changeLine")(
      (from: CartState, lineId: CartLineId, { notes, quantity, unitPrice }: PricedLineChange) => {
        const noted = notes === undefined ? sql`l.notes` : sql`${notes}::text`
        const change = sql`update cart_lines l set quantity = coalesce(${quantity ?? null}::int, l.quantity),
          unit_price_snapshot = coalesce(${
          unitPrice ?? null
        }::bigint, l.unit_price_snapshot), notes = ${noted} from cart`
        return write(from, lineId, "cart.updateQuantity", change)
      },
      Effect.orDie
    ),
    removeLine: Effect.fn("CartRepo.removeLine")(
      (from: CartState, lineId: CartLineId) =>
        write(from, lineId, "cart.removeItem", sql`delete from cart_lines l using cart`),
      Effect.orDie
    )
  }
})

/** At most 1,000 carts per call; they return how many. */
const jobs = (sql: SqlClient.SqlClient, system: Actor) => ({
  /** Emits an event for each cart with lines. */
  abandonExpired: Effect.gen(function*() {
    const entry = changeLogRows(sql, system, {
      type: "carts.abandoned",
      entityType: "cart",
      entityId: "x.id::text",
      payload: loggedCart("x"),
      before: `${loggedCart("x")} || '{"status": "active"}'`,
      from: "abandoned x",
      only: "exists (select 1 from cart_lines l where l.cart_id = x.id)",
      organizationId: "x.organization_id"
    })
    const rows = yield* sql`with abandoned as (
        update carts set status = 'abandoned', version = version + 1, updated_at = now()
        where id = any(array(select id from carts where status = 'active' and expires_at <= now()
          order by expires_at limit 1000 for update skip locked)) returning *),
      entry as (${entry})
      select 1 from abandoned`
    return rows.length
  }).pipe(Effect.orDie),
  purgeEnded: Effect.fn("CartRepo.purgeEnded")(function*(olderThanDays: number) {
    const rows = yield* sql`delete from carts where id = any(array(select id from carts
      where status <> 'active' and status <> 'checking_out'
        and expires_at < now() - make_interval(days => ${olderThanDays})
      order by expires_at limit 1000 for update skip locked)) returning 1`
    return rows.length
  }, Effect.orDie)
})
