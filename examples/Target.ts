import { Config, Effect } from "effect"
import { readFile } from "node:fs/promises"

/** Where the examples find their store, and as whom: those of `npm start` where nothing else is said. */
export const target = Effect.gen(function*() {
  const url = yield* Config.withDefault(Config.String("STOA_BASE_URL"), "http://127.0.0.1:4000")
  const dataDir = yield* Config.withDefault(Config.String("STOA_DATA_DIR"), ".data")
  const apiKey = yield* Effect.catch(
    Config.String("STOA_API_KEY"),
    // A store made with `npm start` keeps its development key there.
    () => Effect.promise(() => readFile(`${dataDir}/dev-key`, "utf8").then((text) => text.trim()))
  )
  return { url, apiKey }
})
