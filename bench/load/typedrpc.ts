import { Effect } from "effect"
import { StoaRpc } from "../../src/client/rpc/StoaRpc.ts"
import { percentile } from "../measure/Figures.ts"

/*
 * The same calls as `rpc.ts` makes, by the typed client that services import, so the work of the client is part of the figure. Prints
 * what it measured as JSON.
 */
const [url = "", apiKey = "", callers = "64", warmup = "2", seconds = "4"] = process.argv.slice(2)

const times: Array<number> = []
let counting = false

const calling = Effect.gen(function*() {
  const { "inventory.check": check } = yield* StoaRpc
  const one = Effect.suspend(() => {
    const began = performance.now()
    return Effect.map(check({ entityIds: [] }), () => {
      if (counting) times.push(performance.now() - began)
    })
  })
  yield* Effect.all(Array.from({ length: Number(callers) }, () => Effect.forever(one)), { concurrency: "unbounded" })
})

const measuring = Effect.gen(function*() {
  yield* Effect.sleep(Number(warmup) * 1_000)
  counting = true
  const began = performance.now()
  yield* Effect.sleep(Number(seconds) * 1_000)
  counting = false
  const rate = times.length / ((performance.now() - began) / 1_000)
  const sorted = times.sort((left, right) => left - right)
  return { rate, p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) }
})

const recorded = await Effect.runPromise(
  Effect.provide(Effect.raceFirst(measuring, calling), StoaRpc.layerSocket({ url, apiKey }))
)
process.stdout.write(JSON.stringify(recorded))
process.exit(0)
