import { Schema, SchemaGetter, Struct } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { CartLine, CartLineChange, CreatedCart, NewCart, NewCartLine, ReplacedSecret } from "../../domain/carts/Cart.ts"
import { CartChange } from "../../domain/carts/CartChoices.ts"
import { CartTotals, QuotedCart } from "../../domain/checkout/CartTotals.ts"
import { PaymentSession, PaymentSessionRequest } from "../../domain/checkout/Checkout.ts"
import { ChangedLine, ShownCartLine, TotalledCart } from "../../domain/checkout/ShownCart.ts"
import { Access, anyOf } from "../../domain/platform/access/AccessRule.ts"
import { CartId, CartLineId } from "../../domain/platform/ids/Id.ts"
import { FreeText } from "../../domain/platform/text/Storable.ts"
import { guarded } from "../endpoint/Resource.ts"
import { Data } from "../envelope/Envelope.ts"
import { OpensWithCartSecret, RouteRate } from "../middleware/Access.ts"
import { IdempotentChange } from "../middleware/Idempotency.ts"
import { listing } from "../middleware/UnknownFields.ts"

const cart = { id: CartId }
const item = { id: CartId, itemId: CartLineId }

const query = {
  include: Schema.optional(FreeText.annotate({
    description: "totals: the answer has the cart's totals in meta.totals, and the line as a read shows it.",
    examples: ["totals"],
    ...listing(["totals"])
  }))
}

export const wantsTotals = ({ include = "" }: { readonly include?: string | undefined }): boolean =>
  include.split(",").some((name) => name.trim() === "totals")

const meta = Schema.optionalKey(Schema.Struct({ totals: CartTotals }))

const LineAnswer = Schema.Struct({ data: Schema.Union([ShownCartLine, CartLine]), meta }).pipe(
  Schema.decodeTo(Schema.toType(ChangedLine), {
    decode: SchemaGetter.transform(({ data, meta }): ChangedLine => ({ ...data, ...meta })),
    encode: SchemaGetter.transform((line: ChangedLine) => {
      if (!("totals" in line)) return { data: line }
      const { totals, ...data } = line
      return { data, meta: { totals } }
    })
  })
)

const RemovedLine = Schema.Struct({ deleted: Schema.Literal(true), totals: Schema.optionalKey(CartTotals) })

const RemovedAnswer = Schema.Struct({ data: RemovedLine.mapFields(Struct.omit(["totals"])), meta }).pipe(
  Schema.decodeTo(Schema.toType(RemovedLine), {
    decode: SchemaGetter.transform(({ data, meta }) => ({ ...data, ...meta })),
    encode: SchemaGetter.transform(({ deleted, totals }: typeof RemovedLine.Type) => ({
      data: { deleted },
      ...(totals === undefined ? {} : { meta: { totals } })
    }))
  })
)

/** Carts (spec §4, contract §2). A guest sends the cart's `secret` in `x-cart-secret`. */
export const CartsGroup = guarded(
  "carts",
  HttpApiEndpoint.post("create", "/api/carts", {
    payload: NewCart,
    success: Data(CreatedCart).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("cart:create"))
    .annotateMerge(OpenApi.annotations({ summary: "Create a cart; its answer alone holds the cart's secret" })),
  HttpApiEndpoint.get("read", "/api/carts/:id", { params: cart, success: Data(TotalledCart) })
    .annotate(Access, anyOf("cart:read", "cart:update"))
    .annotate(OpensWithCartSecret, true)
    .annotateMerge(OpenApi.annotations({ summary: "Get a cart with its lines and totals" })),
  HttpApiEndpoint.patch("change", "/api/carts/:id", {
    params: cart,
    payload: CartChange,
    success: Data(TotalledCart)
  })
    .annotate(Access, anyOf("cart:update"))
    .annotate(OpensWithCartSecret, true)
    // Totals tell whether a code is valid.
    .annotate(RouteRate, "promotionTrial")
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Set what the buyer has chosen: address, shipping, codes, remarks, currency",
      description: "Fields that are absent stay as they are, and null takes away. A checkout uses what its body does " +
        "not name. 409 while the cart is being checked out."
    })),
  HttpApiEndpoint.post("quote", "/api/carts/:id/quote", {
    params: cart,
    payload: CartChange,
    success: Data(QuotedCart)
  })
    .annotate(Access, anyOf("cart:read", "cart:update"))
    .annotate(OpensWithCartSecret, true)
    // Totals tell whether a code is valid.
    .annotate(RouteRate, "promotionTrial")
    .annotateMerge(
      OpenApi.annotations({ summary: "Calculate the totals of a cart with other choices; changes nothing" })
    ),
  HttpApiEndpoint.post("claim", "/api/carts/:id/claim", { params: cart, success: Data(TotalledCart) })
    .annotate(Access, anyOf("cart:update"))
    .annotate(OpensWithCartSecret, true)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Claim a guest's cart for the customer who has signed in",
      description: "Needs a session and the cart's secret. The customer's latest active cart in the same currency is " +
        "merged into it: quantities add, prices are set again, and that cart is `merged`. It stays as it is where " +
        "there would be too many lines. 401 without a profile; 409 for a cart of another customer, or one that is " +
        "being checked out."
    })),
  HttpApiEndpoint.post("paymentSession", "/api/carts/:id/payment-session", {
    params: cart,
    payload: PaymentSessionRequest,
    success: Data(PaymentSession)
  })
    .annotate(Access, anyOf("cart:update"))
    .annotate(OpensWithCartSecret, true)
    .annotate(RouteRate, "checkout")
    .annotateMerge(OpenApi.annotations({
      summary: "Create a payment that a wallet confirms before the checkout",
      description:
        "Of what the cart costs now. A checkout adopts the confirmed payment by `paymentMethodToken`; when the total " +
        "differs by then, the payment is voided and the checkout refused (422). One that no checkout adopts ends at its " +
        "provider. 422 for a cart that cannot be checked out or costs nothing."
    })),
  HttpApiEndpoint.post("replaceSecret", "/api/carts/:id/secret", { params: cart, success: Data(ReplacedSecret) })
    .annotate(Access, anyOf("cart:update"))
    .annotate(OpensWithCartSecret, true)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Replace a cart's secret; the one before opens it no more"
    })),
  HttpApiEndpoint.post("addItem", "/api/carts/:id/items", {
    params: cart,
    query,
    payload: NewCartLine,
    success: LineAnswer.pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("cart:update"))
    .annotate(OpensWithCartSecret, true)
    .annotate(IdempotentChange, true)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Add an item; the same item with the same metadata again raises its line's quantity"
      })
    ),
  HttpApiEndpoint.patch("setQuantity", "/api/carts/:id/items/:itemId", {
    params: item,
    query,
    payload: CartLineChange,
    success: LineAnswer
  })
    .annotate(Access, anyOf("cart:update"))
    .annotate(OpensWithCartSecret, true)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Set the quantity or the notes of a line" })),
  HttpApiEndpoint.delete("removeItem", "/api/carts/:id/items/:itemId", {
    params: item,
    query,
    success: RemovedAnswer
  })
    .annotate(Access, anyOf("cart:update"))
    .annotate(OpensWithCartSecret, true)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Remove a line from a cart" }))
)
