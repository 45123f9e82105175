import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { outboxInsert } from "../events/OutboxRepo.ts"
import type { CartLine, CartState } from "./Cart.ts"
import { type CartRow, type LineRow, toLine, toState } from "./CartRows.ts"

/**
 * All SQL of carts. Every write is one statement fenced by the cart's version and status: when another writer, a
 * checkout or the expiry came first, nothing is written, not even the event, and the caller is told.
 */
export class CartRepo extends Context.Service<CartRepo, {
  /** A cart with its lines, in one statement. Undefined when the organization has no such cart. */
  readonly find: (cartId: string) => Effect.Effect<CartState | undefined, never, CurrentActor>
  /** Writes a new cart. */
  readonly insert: (state: CartState) => Effect.Effect<void>
  /** Adds a line or raises its quantity, with the event `cart.afterAddItem`. False: the state was not the newest. */
  readonly addLine: (
    from: CartState,
    line: CartLine,
    added: number
  ) => Effect.Effect<boolean, never, CurrentActor>
  /** Sets a line's quantity. False: the state was not the newest. */
  readonly setQuantity: (from: CartState, line: CartLine) => Effect.Effect<boolean>
  /** Takes a line out. False: the state was not the newest. */
  readonly removeLine: (from: CartState, line: CartLine) => Effect.Effect<boolean>
  /** Turns active carts whose time has run out to abandoned, at most 1,000 a call. Gives how many. */
  readonly abandonExpired: Effect.Effect<number>
  /** Deletes carts that ended longer ago than this, at most 1,000 a call. Gives how many. */
  readonly purgeEnded: (olderThanDays: number) => Effect.Effect<number>
}>()("stoa/domain/carts/CartRepo") {}

export const cartRepoLayer = Layer.effect(
  CartRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const find = Effect.fn("CartRepo.find")(function*(cartId: string) {
      const organization = yield* currentOrganization
      const rows = yield* sql<CartRow & { readonly lines: ReadonlyArray<LineRow> }>`select c.*,
          coalesce((select jsonb_agg(to_jsonb(l) order by l.added_at, l.id) from cart_lines l where l.cart_id = c.id),
            '[]') as lines
        from carts c where c.id = ${cartId}::uuid and c.organization_id = ${organization}`
      return rows[0] === undefined ? undefined : toState(rows[0], rows[0].lines.map(toLine))
    }, Effect.orDie)

    const insert = Effect.fn("CartRepo.insert")(function*({ cart, secretHash, version }: CartState) {
      yield* sql`insert into carts (id, organization_id, customer_id, status, currency, email, secret_hash, version,
          expires_at, created_at, updated_at)
        values (${cart.id}::uuid, ${cart.organizationId}, ${cart.customerId}::uuid, ${cart.status}, ${cart.currency},
          ${cart.email}, ${secretHash}, ${version}, ${cart.expiresAt}, ${cart.createdAt}, ${cart.updatedAt})`
    }, Effect.orDie)

    /** The fence of every write: same version, still active, not run out. */
    const moveVersion = ({ cart, version }: CartState) =>
      sql`update carts set version = version + 1, updated_at = now()
        where id = ${cart.id}::uuid and organization_id = ${cart.organizationId} and version = ${version}
          and status = 'active' and expires_at > now() returning id`

    const addLine = Effect.fn("CartRepo.addLine")(function*(from: CartState, line: CartLine, added: number) {
      const actor = yield* CurrentActor
      const event = { type: "cart.afterAddItem", entityType: "cart", entityId: line.cartId, payload: line } as const
      const rows = yield* sql`with moved as (${moveVersion(from)}),
        event as (${outboxInsert(sql, actor, [event], "moved")})
        insert into cart_lines (id, cart_id, entity_id, variant_id, quantity, unit_price_snapshot, currency, added_at)
        select ${line.id}::uuid, moved.id, ${line.entityId}::uuid, ${line.variantId}::uuid, ${added}::int,
          ${line.unitPriceSnapshot}::bigint, ${line.currency}, ${line.addedAt}::timestamptz from moved
        on conflict (cart_id, entity_id, variant_id) do update
          set quantity = cart_lines.quantity + excluded.quantity, unit_price_snapshot = excluded.unit_price_snapshot
        returning 1`
      return rows.length === 1
    }, Effect.orDie)

    const setQuantity = Effect.fn("CartRepo.setQuantity")(function*(from: CartState, line: CartLine) {
      const rows = yield* sql`with moved as (${moveVersion(from)})
        update cart_lines l set quantity = ${line.quantity} from moved
        where l.cart_id = moved.id and l.id = ${line.id}::uuid returning 1`
      return rows.length === 1
    }, Effect.orDie)

    const removeLine = Effect.fn("CartRepo.removeLine")(function*(from: CartState, line: CartLine) {
      const rows = yield* sql`with moved as (${moveVersion(from)})
        delete from cart_lines l using moved where l.cart_id = moved.id and l.id = ${line.id}::uuid returning 1`
      return rows.length === 1
    }, Effect.orDie)

    const abandonExpired = sql`update carts set status = 'abandoned', version = version + 1, updated_at = now()
      where id = any(array(select id from carts where status = 'active' and expires_at <= now()
        order by expires_at limit 1000 for update skip locked)) returning 1`.pipe(
      Effect.map((rows) => rows.length),
      Effect.orDie
    )

    const purgeEnded = Effect.fn("CartRepo.purgeEnded")(function*(olderThanDays: number) {
      const rows = yield* sql`delete from carts where id = any(array(select id from carts
        where status in ('abandoned', 'merged', 'checked_out') and status <> 'active'
          and updated_at < now() - make_interval(days => ${olderThanDays})
        order by updated_at limit 1000 for update skip locked)) returning 1`
      return rows.length
    }, Effect.orDie)

    return CartRepo.of({ find, insert, addLine, setQuantity, removeLine, abandonExpired, purgeEnded })
  })
)
