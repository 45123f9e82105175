import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Runtime } from "effect"
import { announce, processApp } from "../../src/layers/App.ts"
import { type ProcessRole, readSettings } from "../../src/layers/config/AppConfig.ts"
import { emulatedProvider } from "./EmulatedProvider.ts"

/** The service as `stoa serve --role …` starts it, with the payment emulator at STOA_TEST_EMULATOR as its provider. */
const serve = Effect.gen(function*() {
  const adapters = [emulatedProvider(process.env["STOA_TEST_EMULATOR"] ?? "")]
  const settings = yield* readSettings({ payments: { adapters } })
  const asked = process.argv.at(-1)
  const role: ProcessRole = asked === "api" || asked === "runner" ? asked : "all"
  return yield* Layer.launch(
    Layer.effectDiscard(announce({ ...settings, role })).pipe(Layer.provideMerge(processApp({ ...settings, role })))
  )
})

NodeRuntime.runMain(serve, {
  teardown: (exit, onExit) => Runtime.defaultTeardown(exit, (code) => onExit(code === 130 ? 0 : code))
})
