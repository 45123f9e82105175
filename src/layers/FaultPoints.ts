import { Config, Effect, Layer, Option } from "effect"
import { AtFaultPoint } from "../workflows/checkout/CheckoutWorkflow.ts"
import { AppConfig } from "./config/AppConfig.ts"

/** Kills the process at the step boundary named by `STOA_FAULT_POINT`, like a power cut. Under test only. */
export const faultPointLayer = Layer.unwrap(
  Effect.gen(function*() {
    const { environment } = yield* AppConfig
    const chosen = yield* Config.option(Config.String("STOA_FAULT_POINT"))
    if (environment !== "test" || Option.isNone(chosen)) return Layer.empty
    return Layer.succeed(
      AtFaultPoint,
      (point) => point === chosen.value ? Effect.sync(() => process.kill(process.pid, "SIGKILL")) : Effect.void
    )
  })
)
