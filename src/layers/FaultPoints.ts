import { Config, Effect, Layer, Option } from "effect"
import { AtFaultPoint } from "../workflows/checkout/CheckoutWorkflow.ts"
import { AppConfig } from "./config/AppConfig.ts"

/**
 * Crash tests name a step boundary of the checkout in `STOA_FAULT_POINT`, and the process kills itself there, as a
 * power cut would. Under test only; anywhere else a boundary is nothing.
 */
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
