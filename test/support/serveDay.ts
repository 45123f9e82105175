import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer, Redacted, Schema } from "effect"
import { createServer } from "node:http"
import { announce, processApp } from "../../src/layers/App.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import { channelConnector, shopify, woocommerce } from "../../src/plugins/channel-connector/index.ts"
import { shiftedClock, TestTime } from "../../src/plugins/kit/testing/ShiftedClock.ts"

const Day = Schema.fromJsonString(Schema.Struct({
  publicUrl: Schema.String,
  origins: Schema.Array(Schema.String),
  clientId: Schema.String,
  clientSecret: Schema.String,
  /** A request to this port with milliseconds as its path puts the clock so far ahead. */
  clockPort: Schema.Int,
  aheadMs: Schema.Int
}))

const { aheadMs, clientId, clientSecret, clockPort, origins, publicUrl } = Schema.decodeUnknownSync(Day)(
  process.env["STOA_TEST_DAY"]
)

/** Time as the test has it, from the first moment. */
const clock = Effect.map(TestTime, ({ advance, now }) => {
  const putAhead = (ms: number) => advance(Math.max(0, Date.now() + ms - now()))
  putAhead(aheadMs)
  createServer(({ url = "/" }, response) => {
    putAhead(Number(url.slice(1)))
    response.end()
  }).listen(clockPort, "127.0.0.1")
})

const serve = Effect.gen(function*() {
  const app = { clientId, clientSecret: Redacted.make(clientSecret), scopes: ["read_products"] }
  // Other domains than Shopify's are refused.
  const adapters = [woocommerce, { ...shopify({ app }), admits: () => true }]
  const settings = yield* readSettings({
    plugins: [channelConnector({ publicUrl, origins, adapters, linkBySku: true })],
    jobs: { leaseMs: 15_000, reapIntervalMs: 1_000 }
  })
  return yield* Layer.launch(
    Layer.effectDiscard(announce).pipe(
      Layer.provideMerge(processApp(settings)),
      Layer.provide(Layer.effectDiscard(clock)),
      Layer.provideMerge(shiftedClock)
    )
  )
})

NodeRuntime.runMain(serve)
