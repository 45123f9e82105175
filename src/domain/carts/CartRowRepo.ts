import type { SqlClient, Statement } from "effect/sql"
import { isoTime } from "../events/ChangeLogRepo.ts"
import type { Cart, CartLine, CartState, StoredCart } from "./Cart.ts"

/** A row of `carts` from the driver. */
export interface CartRow {
  readonly id: string
  readonly organization_id: string
  readonly customer_id: string | null
  readonly status: Cart["status"]
  readonly currency: string
  readonly email: string | null
  readonly secret_hash: string
  readonly version: bigint
  readonly metadata: Cart["metadata"]
  readonly expires_at: Date
  readonly created_at: Date
  readonly updated_at: Date
}

/** A row of `cart_lines` from `to_jsonb`. */
export interface LineRow {
  readonly id: string
  readonly cart_id: string
  readonly entity_id: string
  readonly variant_id: string | null
  readonly quantity: number
  readonly unit_price_snapshot: number
  readonly currency: string
  readonly notes: string | null
  readonly metadata: CartLine["metadata"]
  readonly added_at: string
}

export const toLine = (row: LineRow): CartLine => ({
  id: row.id,
  cartId: row.cart_id,
  entityId: row.entity_id,
  variantId: row.variant_id,
  quantity: row.quantity,
  unitPriceSnapshot: row.unit_price_snapshot,
  currency: row.currency,
  notes: row.notes,
  metadata: row.metadata,
  addedAt: new Date(row.added_at)
})

export const toState = (row: CartRow): CartState => ({
  cart: {
    id: row.id,
    organizationId: row.organization_id,
    customerId: row.customer_id,
    status: row.status,
    currency: row.currency,
    email: row.email,
    metadata: row.metadata,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at
  },
  secretHash: row.secret_hash,
  version: Number(row.version)
})

/** A row of `carts` with the column `lines`. */
export type CartWithLinesRow = CartRow & { readonly lines: ReadonlyArray<LineRow> }

export const toStoredCart = (row: CartWithLinesRow): StoredCart => ({ ...toState(row), lines: row.lines.map(toLine) })

/** SQL of the lines of the cart `c` that pass `filter`, oldest first. */
export const linesOf = (sql: SqlClient.SqlClient, filter: Statement.Fragment = sql.literal("")) =>
  sql`coalesce((select jsonb_agg(to_jsonb(l) order by l.added_at, l.id) from cart_lines l
    where l.cart_id = c.id and l.organization_id = c.organization_id${filter}), '[]')`

/** SQL of a row of `cart_lines` as the API shows the line. */
export const lineJson = (row: string) =>
  `jsonb_build_object('id', ${row}.id, 'cartId', ${row}.cart_id, 'entityId', ${row}.entity_id,
    'variantId', ${row}.variant_id, 'quantity', ${row}.quantity, 'unitPriceSnapshot', ${row}.unit_price_snapshot,
    'currency', ${row}.currency, 'notes', ${row}.notes, 'metadata', ${row}.metadata,
    'addedAt', ${isoTime(`${row}.added_at`)})`
