import { Schema } from "effect"
import { Data } from "../envelope/Envelope.ts"

/** Answer of attaching an entity to a category or a brand; repeating it answers the same. */
export const Linked = Data(Schema.Struct({ linked: Schema.Literal(true) }))

/** Answer of detaching. */
export const Unlinked = Data(Schema.Struct({ unlinked: Schema.Literal(true) }))

export const linked = { linked: true } as const
export const unlinked = { unlinked: true } as const
