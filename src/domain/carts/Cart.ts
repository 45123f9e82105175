import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { Amount, Time } from "../pricing/Bounds.ts"
import { FreeText } from "../text/Storable.ts"

const Metadata = Schema.Record(Schema.String, Schema.Unknown)

/** Quantity of a cart line (contract §2). */
export const Quantity = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9999 }))

/** `checking_out` while a checkout has claimed the cart; `checked_out` once it became an order (contract §2). */
export const CartStatus = Schema.Literals(["active", "checking_out", "merged", "checked_out", "abandoned"])

/** One sellable of a cart; `unitPriceSnapshot` is the price captured at add time, checkout always prices again. */
export const CartLine = Schema.Struct({
  id: Uuid,
  cartId: Uuid,
  entityId: Uuid,
  variantId: Schema.NullOr(Uuid),
  quantity: Schema.Int,
  unitPriceSnapshot: Amount,
  currency: Schema.String,
  notes: Schema.NullOr(Schema.String),
  metadata: Metadata,
  addedAt: Time
}).annotate({ identifier: "CartLine" })
export type CartLine = typeof CartLine.Type

const fields = {
  id: Uuid,
  organizationId: Schema.String,
  customerId: Schema.NullOr(Uuid),
  status: CartStatus,
  currency: Schema.String,
  email: Schema.NullOr(Schema.String),
  metadata: Metadata,
  expiresAt: Time,
  createdAt: Time,
  updatedAt: Time
}

/** A cart with its lines and without its secret (spec §2, contract §2). */
export const Cart = Schema.Struct({ ...fields, lineItems: Schema.Array(CartLine) }).annotate({ identifier: "Cart" })
export type Cart = typeof Cart.Type

/** A new cart. Only this response has the secret, which a guest sends in `x-cart-secret`. */
export const CreatedCart = Schema.Struct({ ...fields, secret: Schema.String }).annotate({ identifier: "CreatedCart" })
export type CreatedCart = typeof CreatedCart.Type

/** Body of a new cart; the currency never changes. */
export const NewCart = Schema.Struct({
  currency: CurrencyCode,
  customerId: Schema.optional(Schema.NullOr(Uuid)),
  email: Schema.optional(Schema.NullOr(FreeText.check(Schema.isMaxLength(320))))
})
export type NewCart = typeof NewCart.Type

/** Body of a new line. The client's price counts only when the store resolves none. */
export const NewCartLine = Schema.Struct({
  entityId: Uuid,
  variantId: Schema.optional(Schema.NullOr(Uuid)),
  quantity: Quantity,
  unitPriceSnapshot: Schema.optional(Amount)
})
export type NewCartLine = typeof NewCartLine.Type

/** The cart without its lines, as its entity keeps it. */
export const CartState = Schema.Struct({
  cart: Schema.Struct(fields),
  /** SHA-256 of the secret; the secret itself is not stored. */
  secretHash: Schema.String,
  /** Increases with every write, and fences writers that read an older state. */
  version: Schema.Int
})
export type CartState = typeof CartState.Type

/** A stored cart with its lines in the order they were added. */
export interface StoredCart extends CartState {
  readonly lines: ReadonlyArray<CartLine>
}

/** The cart as the API shows it. */
export const toCart = ({ cart, lines }: StoredCart): Cart => ({ ...cart, lineItems: lines })

/** Result of a reorder; `itemsFailed` names items by title. */
export const Reorder = Schema.Struct({
  cartId: Uuid,
  itemsAdded: Schema.Int,
  itemsFailed: Schema.Array(Schema.Struct({ item: Schema.String, reason: Schema.String }))
}).annotate({ identifier: "Reorder" })
export type Reorder = typeof Reorder.Type
