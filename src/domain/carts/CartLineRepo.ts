import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { type Actor, CurrentActor } from "../access/Actor.ts"
import type { Locking } from "../batching/GroupCommitRepo.ts"
import * as GroupCommit from "../batching/GroupCommitRepo.ts"
import { byOrigin, changeLog, changeLogRows, originOf } from "../events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { newId } from "../ids/Id.ts"
import type { CartLine, CartState } from "./Cart.ts"
import { lineJson, type LineRow, toLine } from "./CartRepo.ts"

/** A line to add to a cart that its sender read in this state. */
interface Add {
  readonly from: CartState
  readonly line: CartLine
  readonly actor: Actor
}

const toInput = ({ actor, from: { cart, version }, line }: Add, n: number) => ({
  n,
  id: line.id,
  cart: cart.id,
  organization: cart.organizationId,
  version,
  entity: line.entityId,
  variant: line.variantId,
  quantity: line.quantity,
  price: line.unitPriceSnapshot,
  currency: line.currency,
  added: line.addedAt,
  event: newId(),
  origin: originOf(actor),
  work: actor.executionId ?? null
})

/**
 * Adds lines to carts, at most one to each, fenced by the version that the sender read. `line` is null when the cart
 * has changed; a row is missing when the cart was locked and skipped. Locks carts in id order. Conditions use
 * `any(array(...))`, because on a young table the planner would scan it for a join.
 */
const addStatement = (sql: SqlClient.SqlClient, adds: ReadonlyArray<Add>, locking: Locking) =>
  sql<{ readonly n: number; readonly line: LineRow | null }>`with
    input as materialized (select * from jsonb_to_recordset(${JSON.stringify(adds.map(toInput))}::jsonb) as i(
      n int, id uuid, cart uuid, organization text, version bigint, entity uuid, variant uuid, quantity int,
      price bigint, currency text, added timestamptz, event uuid, origin jsonb, work uuid)),
    locked as materialized (select c.id, i.n from input i join carts c on c.id = i.cart
      where c.id = any(array(select cart from input)) and c.organization_id = i.organization
      order by c.id for update of c ${sql.literal(locking)}),
    changed as (update carts c set version = c.version + 1, updated_at = now() from locked k, input i
      where c.id = any(array(select id from locked)) and c.id = k.id and i.n = k.n and c.version = i.version and c.status = 'active' and c.expires_at > now()
      returning i.n),
    line as (insert into cart_lines
        (id, organization_id, cart_id, entity_id, variant_id, quantity, unit_price_snapshot, currency, added_at)
      select i.id, i.organization, i.cart, i.entity, i.variant, i.quantity, i.price, i.currency, i.added
      from input i join changed m on m.n = i.n
      on conflict (cart_id, entity_id, variant_id) do update
        set quantity = cart_lines.quantity + excluded.quantity, unit_price_snapshot = excluded.unit_price_snapshot
      returning *),
    event as (insert into ${changeLog(sql)}
      select i.event, i.organization, 'cart.afterAddItem', 'cart', l.cart_id::text, ${sql.literal(lineJson("l"))},
        -- The snapshot of this statement still has the previous line; the fence excludes other changes.
        (select ${sql.literal(lineJson("o"))} from cart_lines o where o.cart_id = i.cart and o.id = l.id),
        ${byOrigin(sql)} from input i join line l on l.cart_id = i.cart),
    marked as (insert into idempotency_records (organization_id, execution_id)
      select i.organization, i.work from input i join line l on l.cart_id = i.cart where i.work is not null)
    select k.n, case when l.id is not null then ${
    sql.literal(lineJson("l"))
  } end as line from locked k join input i on i.n = k.n left join line l on l.cart_id = i.cart`

/** The changed line, or why nothing changed: no such line, a quantity too large, or a cart that changed meanwhile. */
export type LineWrite = CartLine | "no-line" | "too-many" | "stale"

/** SQLSTATE of a number out of range: only a quantity is added up. */
const isTooMany = ({ reason }: SqlError.SqlError): boolean => /"code":"22003"/.test(JSON.stringify(reason))

const addedLine = (line: LineRow | null): CartLine | "stale" => line === null ? "stale" : toLine(line)

/** The change log entry of the part `line`; the part `previous` has the line before it. */
const lineEvent = (sql: SqlClient.SqlClient, actor: Actor, type: "cart.updateQuantity" | "cart.removeItem") =>
  changeLogRows(sql, actor, {
    type,
    entityType: "cart",
    entityId: "x.cart_id::text",
    payload: lineJson("x"),
    before: `(select ${lineJson("f")} from previous f)`,
    from: "line x"
  })

/**
 * Changes lines of carts. Each write is one statement fenced by the cart's version and status. When another writer, a
 * checkout or the expiry came first, nothing is written, and the result says so.
 */
export class CartLineRepo extends Context.Service<CartLineRepo>()("stoa/domain/carts/CartLineRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    /** Fences a write: the cart has this version, is active and has not expired. */
    const increaseVersion = ({ cart, version }: CartState) =>
      sql`update carts set version = version + 1, updated_at = now()
        where id = ${cart.id}::uuid and organization_id = ${cart.organizationId} and version = ${version}
          and status = 'active' and expires_at > now()`

    const adding = yield* GroupCommit.make<Add, CartLine | "stale">({
      name: "carts.add",
      together: (adds) => {
        // After a partition, two entities of one cart may each add to it; each uses a separate statement.
        const first = new Map(adds.map((add) => [add.line.cartId, add] as const).reverse())
        const chosen = adds.filter((add) => first.get(add.line.cartId) === add)
        return Effect.map(addStatement(sql, chosen, "skip locked"), (rows) => {
          const results = new Map(rows.map(({ line, n }) => [chosen[n], addedLine(line)]))
          return adds.map((add) => results.get(add))
        })
      },
      alone: (add) => Effect.map(addStatement(sql, [add], ""), ([row]) => addedLine(row?.line ?? null))
    })

    /** Adds a line, or increases the quantity of an equal line and takes the newer price. */
    const add = Effect.fn("CartLineRepo.add")(
      function*(from: CartState, line: CartLine) {
        return yield* adding({ from, line, actor: yield* CurrentActor })
      },
      Effect.catchTag("SqlError", (error) => isTooMany(error) ? Effect.succeed("too-many" as const) : Effect.die(error))
    )

    /** Runs a change of one line. The part `change` reads the part `cart`, which has a row only when the fence held. */
    const write = Effect.fnUntraced(function*(
      from: CartState,
      lineId: string,
      type: "cart.updateQuantity" | "cart.removeItem",
      change: Statement.Fragment
    ) {
      const actor = yield* CurrentActor
      const [row] = yield* sql<{ readonly exists: boolean; readonly line: LineRow | null }>`with
        previous as (select * from cart_lines where cart_id = ${from.cart.id}::uuid and id = ${lineId}::uuid
          and organization_id = ${from.cart.organizationId}),
        cart as (${increaseVersion(from)} and exists (select 1 from previous) returning id),
        line as (${change} where l.cart_id = cart.id and l.id = ${lineId}::uuid
          and l.organization_id = ${from.cart.organizationId} returning l.*),
        entry as (${lineEvent(sql, actor, type)})${idempotencyRecord(sql, actor, "line")}
        select exists (select 1 from previous) as exists, (select ${sql.literal(lineJson("line"))} from line) as line`
      return row === undefined || !row.exists ? "no-line" as const : addedLine(row.line)
    })

    /** Sets a line's quantity. */
    const setQuantity = Effect.fn("CartLineRepo.setQuantity")(
      (from: CartState, lineId: string, quantity: number) =>
        write(from, lineId, "cart.updateQuantity", sql`update cart_lines l set quantity = ${quantity} from cart`),
      Effect.orDie
    )

    /** Removes a line and returns it. */
    const remove = Effect.fn("CartLineRepo.remove")(
      (from: CartState, lineId: string) =>
        write(from, lineId, "cart.removeItem", sql`delete from cart_lines l using cart`),
      Effect.orDie
    )

    return { add, setQuantity, remove }
  })
}) {}

/** `CartLineRepo` over the database of the process. */
export const cartLineRepoLayer = Layer.effect(CartLineRepo, CartLineRepo.make)
