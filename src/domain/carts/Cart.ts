import { Result, Schema, Struct } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { type Actor, holds, servesGuests } from "../platform/access/Actor.ts"
import { conflict, invalid, notFound } from "../platform/errors/ErrorKinds.ts"
import { about } from "../platform/hints/Hints.ts"
import { CartId, CartLineId, CustomerId, OrganizationId } from "../platform/ids/Id.ts"
import { Amount, Currency, CurrencyCode } from "../platform/money/Money.ts"
import { Table } from "../platform/records/Table.ts"
import { Email } from "../platform/text/Email.ts"
import { maybe } from "../platform/text/Fields.ts"
import { Metadata } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"
import { CartChoices, ChangedChoices, sentChoices, ShownChoices, shownChoices } from "./CartChoices.ts"
import { ChosenLine, LineNotes, Quantity, SentLine } from "./Line.ts"

/** States of a cart (contract §2). */
export const CartStatus = Schema.Literals(["active", "checking_out", "merged", "checked_out", "abandoned"])

export const CartLine = Schema.Struct({
  id: CartLineId,
  cartId: CartId,
  ...ChosenLine.fields,
  unitPriceSnapshot: Amount.pipe(about("Price of a unit when it was added.")),
  currency: Currency,
  addedAt: Time
}).annotate({ identifier: "CartLine" })
export type CartLine = typeof CartLine.Type

export const cartLines = new Table("cart_lines", CartLine)

const fields = {
  id: CartId,
  organizationId: OrganizationId,
  customerId: Schema.NullOr(CustomerId),
  status: CartStatus.pipe(
    about("It is `checking_out` while a checkout has it, and `checked_out` once it is an order.")
  ),
  currency: Currency,
  email: Schema.NullOr(Schema.String).pipe(about("Address of the buyer.")),
  metadata: Metadata,
  expiresAt: Time,
  createdAt: Time,
  updatedAt: Time
}

/** A cart with its lines and without its secret (spec §2, contract §2). */
export const Cart = Schema.Struct({ ...fields, ...ShownChoices.fields, lineItems: Schema.Array(CartLine) })
  .annotate({ identifier: "Cart" })
export type Cart = typeof Cart.Type

/** The new secret of a cart; the one before opens it no more. */
export const ReplacedSecret = Schema.Struct({
  id: CartId,
  secret: Schema.String.pipe(about("Opens the cart for a guest, in `x-cart-secret`."))
}).annotate({
  identifier: "ReplacedSecret"
})

/** A new cart. Only this response has the secret, which a guest sends in `x-cart-secret`. */
export const CreatedCart = Schema.Struct({
  ...fields,
  ...ShownChoices.fields,
  secret: Schema.String.pipe(about("Opens the cart for a guest, in `x-cart-secret`."))
})
  .annotate({ identifier: "CreatedCart" })

export const NewCart = Schema.Struct({
  currency: CurrencyCode,
  customerId: maybe(CustomerId),
  email: maybe(Email).pipe(about("Address of the buyer.")),
  ...sentChoices
})
export type NewCart = typeof NewCart.Type

/** The client's price counts only when the store resolves none. */
export const NewCartLine = Schema.Struct({
  ...SentLine.fields,
  unitPriceSnapshot: Schema.optional(Amount).pipe(about("Price of a unit when it was added."))
})
export type NewCartLine = typeof NewCartLine.Type

/** Absent fields stay. The metadata identifies the line and never changes. */
export const CartLineChange = Schema.Struct({
  quantity: Schema.optional(Quantity),
  notes: maybe(LineNotes)
}).check(
  Schema.makeFilter(({ notes, quantity }) =>
    quantity !== undefined || notes !== undefined || { path: ["quantity"], issue: "quantity or notes is required." }
  )
)
export type CartLineChange = typeof CartLineChange.Type

/** With the price of a unit at the new quantity; absent: as before. */
export interface PricedLineChange extends CartLineChange {
  readonly unitPrice?: number | undefined
}

const stored = {
  secretHash: Schema.String,
  /** Increases with every write, and fences writers that read an older state. */
  version: Schema.Int,
  /** What keeps the cart as it is until it is freed, in words; processes of the version before do not send it. */
  heldBy: Schema.optionalKey(Schema.NullOr(Schema.String))
}

export const CartState = Schema.Struct({ cart: Schema.Struct(fields), ...stored })
export type CartState = typeof CartState.Type

const CartRow = Schema.Struct({ ...fields, ...stored, choices: CartChoices })
export type CartRow = typeof CartRow.Type

export const carts = new Table("carts", CartRow, { casts: { version: "float8" } })

export type StateRow = Omit<CartRow, "choices">

/** All but the choices: what a change of a line needs. */
export const stateColumns = (row: string): string =>
  carts.columns(row, [...Struct.keys(fields), ...Struct.keys(stored)])

export const toState = (row: StateRow): CartState => ({
  cart: Struct.pick(row, Struct.keys(fields)),
  ...Struct.pick(row, Struct.keys(stored))
})

export interface StoredCart extends CartState {
  readonly choices: CartChoices
  readonly lines: ReadonlyArray<CartLine>
}

export const toCart = ({ cart, choices, lines }: StoredCart): Cart => ({
  ...cart,
  ...shownChoices(choices),
  lineItems: lines
})

/** A change of a cart, ready to be written: only what is set changes. */
export const CartWrite = Schema.Struct({
  ...Struct.map(Struct.pick(fields, ["currency", "email", "metadata"]), Schema.optionalKey),
  choices: ChangedChoices,
  secretHash: Schema.optionalKey(Schema.String),
  /** Unit prices of all lines in a new currency, by the ids of the lines. */
  prices: Schema.optionalKey(Schema.Record(Schema.String, Amount))
})
export type CartWrite = typeof CartWrite.Type

export const Reorder = Schema.Struct({
  cartId: CartId,
  itemsAdded: Schema.Int.pipe(about("Number of lines that were added.")),
  itemsFailed: Schema.Array(Schema.Struct({
    item: Schema.String.pipe(about("Title of the item.")),
    reason: Schema.String.pipe(about("Sentence for shoppers."))
  })).pipe(
    about("Lines that could not be added.")
  )
}).annotate({ identifier: "Reorder" })

export class CartNotFound extends notFound("Cart", "Cart not found.") {}
export class CartNotActive extends invalid("CartNotActive", "", "Cart is not active.", "cart_not_active") {}
export class CartHeld
  extends conflict("CartHeld", "The cart is being checked out. Try again when that has ended.", { retryable: true })
{}
export class CartHeldBy
  extends conflict("CartHeldBy", (holder: string) => `The cart is held by ${holder}. Cancel that to change the cart.`)
{}

export interface CartVisitor {
  readonly actor: Actor
  readonly customerId: CustomerId | null
  readonly secretHash: string | null
}

/**
 * Admits the owner, visitors with the secret, staff with the permission for guests' carts, and `*:*` (contract §2).
 * Others get 404.
 */
export const admit = <State extends CartState>(
  state: State | undefined,
  { actor, customerId, secretHash }: CartVisitor,
  permission: "cart:read" | "cart:update"
): Result.Result<State, CartNotFound> => {
  if (state === undefined || state.cart.organizationId !== actor.organizationId) return Result.fail(new CartNotFound())
  const owns = state.cart.customerId !== null && state.cart.customerId === customerId
  const hasSecret = secretHash !== null && secretHash === state.secretHash
  const serves = state.cart.customerId === null && servesGuests(actor, permission)
  return owns || hasSecret || serves || holds(actor, "*:*") ? Result.succeed(state) : Result.fail(new CartNotFound())
}

/** Only active carts that have not expired can be changed (contract §2: 422; contract-commerce §3: 409 while held). */
export const changeable = <State extends CartState>(
  state: State,
  now: Date
): Result.Result<State, CartNotActive | CartHeld | CartHeldBy> => {
  if (state.cart.status === "checking_out") return Result.fail(new CartHeld())
  if (state.cart.status === "active" && state.heldBy) return Result.fail(new CartHeldBy(state.heldBy))
  return state.cart.status === "active" && state.cart.expiresAt > now
    ? Result.succeed(state)
    : Result.fail(new CartNotActive())
}

export const newer = (cached: CartState | undefined, sent: CartState | undefined): CartState | undefined =>
  sent !== undefined && (cached === undefined || cached.version < sent.version) ? sent : cached

/** 192 random bits; they alone give access to a guest's cart. */
export const newCartSecret = (): string => randomBytes(24).toString("base64url")

export const hashCartSecret = (secret: string): string => createHash("sha256").update(secret).digest("hex")

export interface AddedItem extends NewCartLine {
  readonly cartId: CartId
}

export interface QuantityChange {
  readonly cartId: CartId
  readonly itemId: CartLineId
  readonly quantity: number
}

declare module "../platform/hooks/HookMap.ts" {
  interface BeforeHooks {
    readonly "cart.beforeAddItem": AddedItem
    readonly "cart.beforeUpdateQuantity": QuantityChange
    readonly "cart.beforeRemoveItem": CartLine
  }
  interface AfterHooks {
    readonly "cart.afterAddItem": { readonly result: CartLine; readonly data: AddedItem }
    readonly "cart.afterUpdateQuantity": { readonly result: CartLine; readonly data: CartLine }
    readonly "cart.afterRemoveItem": { readonly result: CartLine; readonly data: CartLine }
  }
}
