import { Effect, Struct } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import type { Actor, CurrentActor } from "../platform/access/Actor.ts"
import type { Locking } from "../platform/batching/GroupCommitRepo.ts"
import { byOrigin, changeLog, changeLogRows, isoTime, originOf } from "../platform/events/ChangeLogRepo.ts"
import type { EntityTables, InTables } from "../platform/hooks/EntityTables.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import { type CartId, type CartLineId, type EntityId, newId, type VariantId } from "../platform/ids/Id.ts"
import { refusalOf, sqlStates } from "../platform/records/Constraints.ts"
import { columnOf, jsonOf, orderedJsonOf } from "../platform/records/Table.ts"
import { type CandidateRow, candidatesSql } from "../pricing/PriceStatements.ts"
import {
  CartLine,
  cartLines,
  type CartRow,
  carts,
  CartState,
  type CartWrite,
  stateColumns,
  type StateRow,
  type StoredCart,
  toState
} from "./Cart.ts"
import { readChoices } from "./CartChoices.ts"
import { lineDetails } from "./Line.ts"

export type LineRow = Omit<CartLine, "addedAt"> & { readonly addedAt: string }

export const lineJson = (row: string, of = jsonOf) => of(CartLine.fields, row, { addedAt: isoTime(`${row}.added_at`) })

const lineOf = { read: lineJson("l", orderedJsonOf), l: lineJson("l"), o: lineJson("o"), line: lineJson("line") }
const cartColumns = stateColumns("c")
const added = { names: cartLines.names, columns: cartLines.columns("r"), row: cartLines.row("i.line") }

export const toLine = (row: LineRow): CartLine => ({ ...row, addedAt: new Date(row.addedAt) })

export const cartsWithLines = (sql: SqlClient.SqlClient, condition: Statement.Fragment, filter?: Statement.Fragment) =>
  Effect.map(
    sql<CartRow & { readonly lines: ReadonlyArray<LineRow> }>`select ${sql.literal(carts.columns("c"))},
        coalesce((select json_agg(${sql.literal(lineOf.read)} order by l.added_at, l.id)
          from cart_lines l where l.cart_id = c.id and l.organization_id = c.organization_id ${
      filter ?? sql.literal("")
    }), '[]') as lines
      from carts c where ${condition}`,
    (rows) =>
      rows.map((row): StoredCart => ({
        ...toState(row),
        choices: readChoices(row.choices),
        lines: row.lines.map(toLine)
      }))
  )

export const cartState = (sql: SqlClient.SqlClient, organization: string, cartId: CartId) =>
  Effect.map(
    sql<StateRow>`select ${sql.literal(cartColumns)} from carts c
      where c.id = ${cartId}::uuid and c.organization_id = ${organization}`,
    ([row]) => row && toState(row)
  )

export interface OfferRow extends StateRow, CandidateRow {
  readonly n: number
  readonly groupIds: ReadonlyArray<string> | null
  readonly isPublic: boolean | null
  readonly hasVariants: boolean
  readonly variantFound: boolean
  /** Units that the cart has of the same line. */
  readonly held: number
  readonly inTables?: InTables
}

export interface WantedItem {
  readonly organization: string
  readonly cart: CartId
  readonly entity: EntityId
  readonly variant: VariantId | null
  readonly metadata: CartLine["metadata"]
  readonly now: Date
}

const priced = candidatesSql({
  organization: "i.organization",
  ids: "array[i.entity]",
  currency: "c.currency",
  now: "i.now"
})

/** Conditions use ids and scalar subqueries: on a young table the planner would scan it for a join. */
export const offerStatement = (
  sql: SqlClient.SqlClient,
  wanted: ReadonlyArray<WantedItem>,
  tables: EntityTables["Service"]
) =>
  sql<OfferRow>`with i as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(wanted.map((item, n) => ({ ...item, n })))}::jsonb)
        as i(n int, cart uuid, entity uuid, variant uuid, metadata jsonb, organization text, now timestamptz))
    select i.n, ${sql.literal(cartColumns)}, ${sql.literal(priced.columns)},
      (select u.group_ids from customers_read u where u.id = c.customer_id) as "groupIds",
      (select e.status = 'active' and e.is_visible from catalog_entities_read e
        where e.id = i.entity and e.organization_id = c.organization_id) as "isPublic",
      coalesce((select true from variants_read v where v.entity_id = i.entity limit 1), false) as "hasVariants",
      coalesce((select true from variants_read v where v.entity_id = i.entity and v.id = i.variant
        and v.status = 'active' limit 1), false) as "variantFound",
      coalesce((select l.quantity from cart_lines l where l.cart_id = i.cart and l.entity_id = i.entity
        and l.variant_id is not distinct from i.variant and l.metadata = i.metadata limit 1), 0) as held${
    sql.literal(tables.column("i.organization", "array[i.entity]"))
  }
    from i join carts c on c.id = i.cart and c.organization_id = i.organization ${sql.literal(priced.joins)}
    where c.id = any(array(select cart from i))`

export interface AddedLine {
  readonly from: CartState
  readonly line: CartLine
  readonly actor: Actor
  readonly waits: boolean
}

/** `line` is null when the cart has changed, or has too many lines. */
export interface AddRow {
  readonly n: number
  readonly line: LineRow | null
  readonly fits: boolean
}

const toInput = ({ actor, from: { cart, version }, line }: AddedLine, n: number) => ({
  n,
  cart: cart.id,
  organization: cart.organizationId,
  version,
  line,
  event: newId(),
  origin: originOf(actor),
  work: actor.executionId ?? null
})

const merged = (table: string, identity: string) =>
  `on conflict (${identity}) do update set ${
    [
      `quantity = ${table}.quantity + excluded.quantity`,
      "unit_price_snapshot = excluded.unit_price_snapshot",
      ...lineDetails.map((field) => columnOf(undefined, field)).map((column) =>
        `${column} = coalesce(excluded.${column}, ${table}.${column})`
      )
    ].join(", ")
  } returning ${added.names}`

const inserts = `plain as (insert into cart_lines (organization_id, ${added.names})
      select i.organization, ${added.columns}
      from input i join changed m on m.n = i.n, ${added.row} r where r.metadata = '{}'
      ${merged("cart_lines", "cart_id, entity_id, variant_id")}),
    distinguished as (insert into cart_lines_with_metadata (organization_id, metadata_hash, ${added.names})
      select i.organization, md5(r.metadata::text), ${added.columns}
      from input i join changed m on m.n = i.n, ${added.row} r where r.metadata <> '{}'
      ${merged("cart_lines_with_metadata", "cart_id, entity_id, variant_id, metadata_hash")}),
    line as (select * from plain union all select * from distinguished)`

/**
 * Tests the limit of lines. The snapshot may be older than the lock; the fence excludes carts that changed meanwhile.
 */
const fits = (sql: SqlClient.SqlClient, most: number) =>
  sql`(select count(*) from (select from cart_lines l where l.cart_id = k.id limit ${most}::int) held) < ${most}::int
      or coalesce((select true from cart_lines l where l.cart_id = k.id and l.entity_id = (i.line->>'entityId')::uuid
        and l.variant_id is not distinct from (i.line->>'variantId')::uuid and l.metadata = i.line->'metadata'
        limit 1), false)`

/**
 * Adds at most one line per cart, fenced by the version that the sender read. A row is missing when the cart was locked
 * and skipped. Locks carts in id order. Conditions use `any(array(...))`, because on a young table the planner would
 * scan it for a join.
 */
export const addStatement = (
  sql: SqlClient.SqlClient,
  adds: ReadonlyArray<AddedLine>,
  most: number,
  locking: Locking
) =>
  sql<AddRow>`with
    input as materialized (select * from jsonb_to_recordset(${JSON.stringify(adds.map(toInput))}::jsonb) as i(
      n int, cart uuid, organization text, version bigint, line jsonb, event uuid, origin jsonb, work uuid)),
    locked as materialized (select c.id, i.n from input i join carts c on c.id = i.cart
      where c.id = any(array(select cart from input)) and c.organization_id = i.organization
      order by c.id for update of c ${sql.literal(locking)}),
    capacity as materialized (select k.n, ${fits(sql, most)} as fits from locked k join input i on i.n = k.n),
    changed as (update carts c set version = c.version + 1, updated_at = now() from locked k, input i, capacity p
      where c.id = any(array(select id from locked)) and c.id = k.id and i.n = k.n and p.n = k.n and p.fits
        and c.version = i.version and c.status = 'active' and c.expires_at > now()
      returning i.n),
    ${sql.literal(inserts)},
    event as (insert into ${changeLog(sql)}
      select i.event, i.organization, 'cart.afterAddItem', 'cart', l.cart_id::text, ${sql.literal(lineOf.l)},
        -- The snapshot of this statement still has the previous line; the fence excludes other changes.
        (select ${sql.literal(lineOf.o)} from cart_lines o where o.cart_id = i.cart and o.id = l.id),
        ${byOrigin(sql)} from input i join line l on l.cart_id = i.cart),
    marked as (insert into idempotency_records (organization_id, execution_id)
      select i.organization, i.work from input i join line l on l.cart_id = i.cart where i.work is not null)
    select k.n, p.fits, case when l.id is not null then ${sql.literal(lineOf.l)} end as line
    from locked k join input i on i.n = k.n join capacity p on p.n = k.n left join line l on l.cart_id = i.cart`

export const isTooMany = (error: SqlError.SqlError): boolean => refusalOf(error).state === sqlStates.outOfRange

/** Changes a line, fenced: the part `cart` has a row only when the fence held. */
export const changeLineStatement = (
  sql: SqlClient.SqlClient,
  { cart, version }: CartState,
  lineId: CartLineId,
  change: Statement.Fragment,
  records: Statement.Fragment
) =>
  sql<{ readonly exists: boolean; readonly line: LineRow | null }>`with
    previous as (select * from cart_lines where cart_id = ${cart.id}::uuid and id = ${lineId}::uuid
      and organization_id = ${cart.organizationId}),
    cart as (update carts set version = version + 1, updated_at = now()
      where id = ${cart.id}::uuid and organization_id = ${cart.organizationId} and version = ${version}
        and status = 'active' and expires_at > now() and exists (select 1 from previous) returning id),
    line as (${change} where l.cart_id = cart.id and l.id = ${lineId}::uuid
      and l.organization_id = ${cart.organizationId} returning l.*),
    ${records}
    select exists (select 1 from previous) as exists, (select ${sql.literal(lineOf.line)} from line) as line`

/** Without codes of gift cards, also as hashes. */
export const loggedCart = (row: string) =>
  `(${jsonOf(Struct.omit(CartState.fields.cart.fields, ["updatedAt"]), row)} || (${row}.choices - 'giftCards'))`

const set = (
  sql: SqlClient.SqlClient,
  column: "currency" | "email" | "metadata" | "secret_hash",
  type: "text" | "jsonb",
  sent: unknown
) =>
  sent === undefined
    ? sql.literal("")
    : sql`${sql(column)} = ${type === "jsonb" ? JSON.stringify(sent) : sent}::${sql.literal(type)}, `

/** Holds a cart that is as it was read. */
export const holdStatement = (sql: SqlClient.SqlClient, { cart, version }: CartState, holder: string) =>
  Effect.map(
    sql`update carts set held_by = ${holder}, version = version + 1, updated_at = now()
      where id = ${cart.id}::uuid and organization_id = ${cart.organizationId} and version = ${version}
        and held_by is null and status = 'active' and expires_at > now() returning 1`,
    (rows) => rows.length > 0
  )

/** Frees a cart if `isFree` says so once the cart is locked. */
export const freeStatements = (
  sql: SqlClient.SqlClient,
  organization: string,
  cartId: CartId,
  isFree: Effect.Effect<boolean, never, CurrentActor>
) =>
  sql.withTransaction(Effect.gen(function*() {
    const named = sql`id = ${cartId}::uuid and organization_id = ${organization} and held_by is not null`
    const held = yield* sql`select 1 from carts where ${named} for update`
    if (held.length === 0 || !(yield* isFree)) return
    yield* sql`update carts set held_by = null, version = version + 1, updated_at = now() where ${named}`
  }))

/** Changes a cart, fenced by its version; not when a line has no price in a new currency. */
export const changeCartStatement = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  { cart, version }: CartState,
  { choices, currency, email, metadata, prices = {}, secretHash }: CartWrite
) => {
  const priced = Object.entries(prices).map(([id, price]) => ({ id, price }))
  const entry = changeLogRows(sql, actor, {
    type: "cart.update",
    entityType: "cart",
    entityId: "x.id::text",
    payload: loggedCart("x"),
    before: `(select ${loggedCart("f")} from previous f)`,
    from: "changed x"
  })
  const isPriced = currency === undefined ? sql.literal("") : sql`and not exists (select 1 from cart_lines l
      where l.cart_id = carts.id and l.id <> all(array(select id from repriced)))`
  return Effect.map(
    sql`with
    previous as (select * from carts where id = ${cart.id}::uuid and organization_id = ${cart.organizationId}),
    repriced as materialized (
      select p.* from jsonb_to_recordset(${JSON.stringify(priced)}::jsonb) as p(id uuid, price bigint)),
    changed as (update carts set ${set(sql, "email", "text", email)} ${set(sql, "currency", "text", currency)}
        ${set(sql, "metadata", "jsonb", metadata)} ${
      set(sql, "secret_hash", "text", secretHash)
    } choices = choices || ${JSON.stringify(choices)}::jsonb,
        version = version + 1, updated_at = now()
      where id = ${cart.id}::uuid and organization_id = ${cart.organizationId} and version = ${version}
        and status = 'active' and expires_at > now() ${isPriced} returning *),
    lines as (update cart_lines l set unit_price_snapshot = p.price, currency = changed.currency
      from changed, repriced p where l.cart_id = changed.id and l.id = p.id),
    entry as (${entry})${idempotencyRecord(sql, actor, "changed")}
    select 1 from changed`,
    (rows) => rows.length === 0 ? "stale" as const : "changed" as const
  )
}
