import { Effect } from "effect"
export const seedDemoStore = Effect.void
