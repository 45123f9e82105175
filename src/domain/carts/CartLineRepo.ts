import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { mark } from "../idempotency/MarkRepo.ts"
import { newId } from "../ids/Id.ts"
import type { CartLine, CartState } from "./Cart.ts"
import { type LineRow, toLine } from "./CartRows.ts"

/**
 * How a write to a line ended: the line after it, no such line, more units than a line can hold, or a cart that others
 * have moved meanwhile.
 */
export type LineWrite = CartLine | "no-line" | "too-many" | "stale"

/** SQLSTATE of a number that does not fit its column: of all columns only a quantity is added up. */
const isTooMany = ({ reason }: SqlError.SqlError): boolean => /"code":"22003"/.test(JSON.stringify(reason))

/**
 * Changes to the lines of carts. Every write is one statement fenced by the cart's version and status: when another
 * writer, a checkout or the expiry came first, nothing is written, not even the event, and the caller is told.
 */
export class CartLineRepo extends Context.Service<CartLineRepo, {
  /** Adds a line, or raises the quantity of the line of the same sellable and takes the newer price; announces it. */
  readonly add: (from: CartState, line: CartLine) => Effect.Effect<LineWrite, never, CurrentActor>
  /** Sets a line's quantity. */
  readonly setQuantity: (
    from: CartState,
    lineId: string,
    quantity: number
  ) => Effect.Effect<LineWrite, never, CurrentActor>
  /** Takes a line out and gives it. */
  readonly remove: (from: CartState, lineId: string) => Effect.Effect<LineWrite, never, CurrentActor>
}>()("stoa/domain/carts/CartLineRepo") {}

export const cartLineRepoLayer = Layer.effect(
  CartLineRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    /** The fence of every write: same version, still active, not run out. */
    const moveVersion = ({ cart, version }: CartState) =>
      sql`update carts set version = version + 1, updated_at = now()
        where id = ${cart.id}::uuid and organization_id = ${cart.organizationId} and version = ${version}
          and status = 'active' and expires_at > now()`

    const add = Effect.fn("CartLineRepo.add")(
      function*(from: CartState, line: CartLine) {
        const actor = yield* CurrentActor
        const rows = yield* sql<{ readonly line: LineRow }>`with moved as (${moveVersion(from)} returning id),
        line as (insert into cart_lines (id, cart_id, entity_id, variant_id, quantity, unit_price_snapshot, currency, added_at)
          select ${line.id}::uuid, moved.id, ${line.entityId}::uuid, ${line.variantId}::uuid, ${line.quantity}::int,
            ${line.unitPriceSnapshot}::bigint, ${line.currency}, ${line.addedAt}::timestamptz from moved
          on conflict (cart_id, entity_id, variant_id) do update
            set quantity = cart_lines.quantity + excluded.quantity, unit_price_snapshot = excluded.unit_price_snapshot
          returning *),
        event as (insert into outbox_events
            (id, organization_id, type, entity_type, entity_id, payload, actor_id, request_id)
          select ${newId()}::uuid, ${actor.organizationId}, 'cart.afterAddItem', 'cart', l.cart_id::text,
            jsonb_build_object('id', l.id, 'cartId', l.cart_id, 'entityId', l.entity_id, 'variantId', l.variant_id,
              'quantity', l.quantity, 'unitPriceSnapshot', l.unit_price_snapshot, 'currency', l.currency,
              'notes', l.notes, 'metadata', l.metadata, 'addedAt', ${line.addedAt.toISOString()}::text),
            ${actor.userId}::text, ${actor.requestId}::text from line l)${mark(sql, actor, "line")}
        select to_jsonb(line) as line from line`
        return rows[0] === undefined ? "stale" as const : toLine(rows[0].line)
      },
      Effect.catchTag("SqlError", (error) => isTooMany(error) ? Effect.succeed("too-many" as const) : Effect.die(error))
    )

    const written = (rows: ReadonlyArray<{ readonly found: boolean; readonly line: LineRow | null }>): LineWrite => {
      const row = rows[0]
      return row === undefined || !row.found ? "no-line" : row.line === null ? "stale" : toLine(row.line)
    }

    const foundLine = ({ cart }: CartState, lineId: string) =>
      sql`select id, cart_id from cart_lines where cart_id = ${cart.id}::uuid and id = ${lineId}::uuid`

    const setQuantity = Effect.fn("CartLineRepo.setQuantity")(
      function*(from: CartState, lineId: string, quantity: number) {
        const actor = yield* CurrentActor
        const rows = yield* sql<{ readonly found: boolean; readonly line: LineRow | null }>`with
        found as (${foundLine(from, lineId)}),
        moved as (${moveVersion(from)} and exists (select 1 from found) returning id),
        line as (update cart_lines l set quantity = ${quantity} from moved
          where l.cart_id = moved.id and l.id = ${lineId}::uuid returning l.*)${mark(sql, actor, "line")}
        select exists (select 1 from found) as found, (select to_jsonb(line) from line) as line`
        return written(rows)
      },
      Effect.orDie
    )

    const remove = Effect.fn("CartLineRepo.remove")(function*(from: CartState, lineId: string) {
      const actor = yield* CurrentActor
      const rows = yield* sql<{ readonly found: boolean; readonly line: LineRow | null }>`with
        found as (${foundLine(from, lineId)}),
        moved as (${moveVersion(from)} and exists (select 1 from found) returning id),
        line as (delete from cart_lines l using moved
          where l.cart_id = moved.id and l.id = ${lineId}::uuid returning l.*)${mark(sql, actor, "line")}
        select exists (select 1 from found) as found, (select to_jsonb(line) from line) as line`
      return written(rows)
    }, Effect.orDie)

    return CartLineRepo.of({ add, setQuantity, remove })
  })
)
