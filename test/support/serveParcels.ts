import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer, Schema } from "effect"
import { Activity, DurableClock } from "effect/workflow"
import { announce, processApp } from "../../src/layers/App.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import {
  definePlugin,
  group,
  PluginContext,
  pluginWorkflow,
  table,
  Text,
  text
} from "../../src/plugins/kit/StoaPlugin.ts"

const steps = table("parcels_steps", { parcel: text, step: text })

const Parcel = pluginWorkflow("parcels/Deliver", {
  input: { parcel: Schema.String },
  key: ({ parcel }) => parcel,
  success: Schema.String
})

/** Each step dies the first time that it is done, and before that is recorded. */
const deliver = Parcel.behaviour(Effect.fnUntraced(function*({ parcel }) {
  const { db } = yield* PluginContext
  const done = (step: string) =>
    Effect.gen(function*() {
      yield* db.table(steps).insert({ parcel, step })
      if ((yield* db.table(steps).count({ parcel, step })) === 1) process.kill(process.pid, "SIGKILL")
    }).pipe(Effect.catchCause(Effect.die))
  yield* Activity.make({ name: "pack", execute: done("pack") })
  yield* DurableClock.sleep({ name: "road", duration: "2 seconds", inMemoryThreshold: 0 })
  yield* done("hand over")
  return parcel
}))

const routes = group("Parcels", "/parcels")

const parcels = definePlugin({
  id: "parcels",
  version: "1.0.0",
  schema: () => [steps],
  workflows: [deliver],
  routes: () => [
    routes.post("/", { auth: true, input: Schema.Struct({ parcel: Text }) })
      .handle(({ input, jobs }) => Parcel.start(jobs, input))
  ]
})

const serve = Effect.gen(function*() {
  const settings = yield* readSettings({ plugins: [parcels] })
  return yield* Layer.launch(Layer.effectDiscard(announce).pipe(Layer.provideMerge(processApp(settings))))
})

NodeRuntime.runMain(serve)
