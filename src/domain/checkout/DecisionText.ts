import { Effect, Schema } from "effect"
import { Decision } from "./Checkout.ts"

const text = Schema.fromJsonString(Schema.toCodecJson(Decision))
const encode = Schema.encodeEffect(text)
const decode = Schema.decodeEffect(text)

/** The decision as it is pinned. One that cannot be written down is a mistake of ours and no outcome of a checkout. */
export const writeDecision = (decision: Decision): Effect.Effect<string> => Effect.catch(encode(decision), Effect.die)

/** A pinned decision, written by this or an older version. */
export const readDecision = (pinned: string): Effect.Effect<Decision> => Effect.catch(decode(pinned), Effect.die)
