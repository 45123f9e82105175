import { Effect, Schema } from "effect"
import { PricedCart } from "./Checkout.ts"

const text = Schema.fromJsonString(Schema.toCodecJson(PricedCart))
const encode = Schema.encodeEffect(text)
const decode = Schema.decodeEffect(text)

/** The priced cart as it is pinned. One that cannot be written down is a mistake of ours and no outcome of a checkout. */
export const encodePricedCart = (pricedCart: PricedCart): Effect.Effect<string> =>
  Effect.catch(encode(pricedCart), Effect.die)

/** A pinned priced cart, written by this or an older version. */
export const decodePricedCart = (pinned: string): Effect.Effect<PricedCart> => Effect.catch(decode(pinned), Effect.die)
