import { Context, Effect, Layer, Struct } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { type Actor, CurrentActor, currentOrganization } from "../access/Actor.ts"
import * as GroupCommit from "../batching/GroupCommitRepo.ts"
import { byOrigin, changeLog, isoTime, originOf } from "../events/ChangeLogRepo.ts"
import { newId } from "../ids/Id.ts"
import { lookupSql } from "../modules/LookupRepo.ts"
import { columnsOf, jsonOf } from "../records/Columns.ts"
import { CartLine, CartState, type StoredCart, toCart } from "./Cart.ts"

const stateFields = { ...CartState.fields.cart.fields, ...Struct.omit(CartState.fields, ["cart"]) }

/** A cart without its lines as `stateColumns` reads it. */
export type CartRow = CartState["cart"] & Omit<CartState, "cart">

/** SQL of the state of the cart `c`. */
export const stateColumns = columnsOf(stateFields, "c", { version: "c.version::float8" })

export const toState = (row: CartRow): CartState => ({
  cart: Struct.pick(row, Struct.keys(CartState.fields.cart.fields)),
  secretHash: row.secretHash,
  version: row.version
})

/** A line as `lineJson` reads it. */
export type LineRow = Omit<CartLine, "addedAt"> & { readonly addedAt: string }

/** SQL of a row of `cart_lines` as the API shows the line. */
export const lineJson = (row: string) => jsonOf(CartLine.fields, row, { addedAt: isoTime(`${row}.added_at`) })

export const toLine = (row: LineRow): CartLine => ({ ...row, addedAt: new Date(row.addedAt) })

/** A row of `carts` with the column `lines`. */
type CartWithLinesRow = CartRow & { readonly lines: ReadonlyArray<LineRow> }

const toStoredCart = (row: CartWithLinesRow): StoredCart => ({ ...toState(row), lines: row.lines.map(toLine) })

/** SQL of the cart `c` with the lines that pass `filter`, oldest first. */
const cartWithLines = (sql: SqlClient.SqlClient, filter: Statement.Fragment = sql.literal("")) =>
  sql`${sql.literal(stateColumns)}, coalesce((select jsonb_agg(${sql.literal(lineJson("l"))} order by l.added_at, l.id)
    from cart_lines l where l.cart_id = c.id and l.organization_id = c.organization_id${filter}), '[]') as lines`

/** A cart to insert and its actor. */
interface New {
  readonly state: CartState
  readonly actor: Actor
}

const toInput = ({ actor, state: { cart, secretHash, version } }: New) => ({
  id: cart.id,
  organization: cart.organizationId,
  customer: cart.customerId,
  status: cart.status,
  currency: cart.currency,
  email: cart.email,
  secret: secretHash,
  version,
  expires: cart.expiresAt,
  created: cart.createdAt,
  updated: cart.updatedAt,
  entry: newId(),
  origin: originOf(actor),
  record: cart
})

/** Creates, reads and ends carts; `CartLineRepo` changes their lines. */
export class CartRepo extends Context.Service<CartRepo>()("stoa/domain/carts/CartRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const lookup = yield* lookupSql

    const read = Effect.fnUntraced(function*(cartId: string, filter: Statement.Fragment) {
      const organization = yield* currentOrganization
      const [row] = yield* lookup<CartWithLinesRow>`select ${cartWithLines(lookup, filter)}
        from carts c where c.id = ${cartId}::uuid and c.organization_id = ${organization}`
      return row && toStoredCart(row)
    })

    /** A cart with its lines. Undefined when the organization has no such cart. */
    const find = Effect.fn("CartRepo.find")((cartId: string) => read(cartId, sql.literal("")), Effect.orDie)

    /** A cart with one of its lines, or with none (null). Undefined like `find`. */
    const findWithLine = Effect.fn("CartRepo.findWithLine")(
      (cartId: string, lineId: string | null) => read(cartId, sql` and l.id = ${lineId}::uuid`),
      Effect.orDie
    )

    /** A cart without its lines. Undefined like `find`. */
    const state = Effect.fn("CartRepo.state")(function*(cartId: string) {
      const organization = yield* currentOrganization
      const rows = yield* sql<CartRow>`select ${sql.literal(stateColumns)} from carts c
        where c.id = ${cartId}::uuid and c.organization_id = ${organization}`
      return rows[0] && toState(rows[0])
    }, Effect.orDie)

    /** The newest `limit` carts of a customer with their lines, newest first, in one statement. */
    const ofCustomer = Effect.fn("CartRepo.ofCustomer")(function*(customerId: string, limit: number) {
      const organization = yield* currentOrganization
      const rows = yield* sql<CartWithLinesRow>`select ${cartWithLines(sql)}
        from carts c where c.organization_id = ${organization} and c.customer_id = ${customerId}::uuid
        order by c.created_at desc, c.id desc limit ${limit}`
      return rows.map((row) => toCart(toStoredCart(row)))
    }, Effect.orDie)

    const insertAll = (carts: ReadonlyArray<New>) =>
      sql`with input as materialized (
          select * from jsonb_to_recordset(${
        JSON.stringify(carts.map(toInput))
      }::jsonb) as i(id uuid, organization text,
            customer uuid, status text, currency text, email text, secret text, version bigint, expires timestamptz,
            created timestamptz, updated timestamptz, entry uuid, origin jsonb, record jsonb)),
        created as (insert into carts (id, organization_id, customer_id, status, currency, email, secret_hash, version,
            expires_at, created_at, updated_at)
          select id, organization, customer, status, currency, email, secret, version, expires, created, updated
          from input returning id)
        insert into ${changeLog(sql)}
        select i.entry, i.organization, 'cart.create', 'cart', i.id::text, i.record, null::jsonb, ${byOrigin(sql)}
        from input i join created on created.id = i.id`

    const inserting = yield* GroupCommit.make<New, true>({
      name: "carts.create",
      together: (carts) => Effect.as(insertAll(carts), carts.map(() => true as const)),
      alone: (cart) => Effect.as(insertAll([cart]), true as const)
    })

    /** Inserts a new cart. */
    const insert = Effect.fn("CartRepo.insert")(function*(state: CartState) {
      yield* inserting({ state, actor: yield* CurrentActor })
    }, Effect.orDie)

    /** Scheduled job: marks expired active carts abandoned, at most 1,000 per call. Returns how many. */
    const abandonExpired = sql`update carts set status = 'abandoned', version = version + 1, updated_at = now()
      where id = any(array(select id from carts where status = 'active' and expires_at <= now()
        order by expires_at limit 1000 for update skip locked)) returning 1`.pipe(
      Effect.map((rows) => rows.length),
      Effect.orDie
    )

    /** Scheduled job: deletes carts that ended and expired this long ago, at most 1,000 per call. Returns how many. */
    const purgeEnded = Effect.fn("CartRepo.purgeEnded")(function*(olderThanDays: number) {
      const rows = yield* sql`delete from carts where id = any(array(select id from carts
        where status <> 'active' and status <> 'checking_out'
          and expires_at < now() - make_interval(days => ${olderThanDays})
        order by expires_at limit 1000 for update skip locked)) returning 1`
      return rows.length
    }, Effect.orDie)

    return { find, findWithLine, state, ofCustomer, insert, abandonExpired, purgeEnded }
  })
}) {}

/** `CartRepo` over the database of the process. */
export const cartRepoLayer = Layer.effect(CartRepo, CartRepo.make)
