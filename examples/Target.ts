import { Config, Effect } from "effect"

/** Where the examples find their store, and as whom: those of `npm start` where nothing else is said. */
export const target = Effect.gen(function*() {
  const url = yield* Config.withDefault(Config.String("STOA_BASE_URL"), "http://127.0.0.1:4000")
  const apiKey = yield* Config.withDefault(Config.String("STOA_API_KEY"), "dev-admin-key")
  return { url, apiKey }
})
