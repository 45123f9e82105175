import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import { announce, processApp } from "../../../layers/App.ts"
import { readSettings } from "../../../layers/config/AppConfig.ts"
import { channelConnector } from "../index.ts"
import { memoryProduct, memoryStore } from "./MemoryStore.ts"

const { adapter, state } = memoryStore()
state.products = Array.from({ length: 5_000 }, (_, n) => memoryProduct(n))

const serve = Effect.gen(function*() {
  const settings = yield* readSettings({
    plugins: [channelConnector({ publicUrl: "https://stoa.example", adapters: [adapter] })]
  })
  return yield* Layer.launch(Layer.effectDiscard(announce).pipe(Layer.provideMerge(processApp(settings))))
})

NodeRuntime.runMain(serve)
