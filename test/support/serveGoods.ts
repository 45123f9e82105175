import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import { announce, processApp } from "../../src/layers/App.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import { procurement } from "../../src/plugins/procurement/index.ts"
import { production } from "../../src/plugins/production/index.ts"
import { uom } from "../../src/plugins/uom/index.ts"
import { warehouse } from "../../src/plugins/warehouse/index.ts"

/** The service with the plugins of goods. */
const serve = Effect.gen(function*() {
  const settings = yield* readSettings({ plugins: [uom, warehouse, procurement({ fourEyes: false }), production] })
  return yield* Layer.launch(Layer.effectDiscard(announce).pipe(Layer.provideMerge(processApp(settings))))
})

NodeRuntime.runMain(serve)
