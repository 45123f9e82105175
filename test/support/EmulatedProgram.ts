import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer, Runtime } from "effect"
import { readFileSync } from "node:fs"
import { announce, processApp } from "../../src/layers/App.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"
import type { ProcessRole } from "../../src/layers/config/NetworkConfig.ts"
import { AtFaultPoint } from "../../src/workflows/checkout/CheckoutWorkflow.ts"
import { emulatedProvider } from "./PaymentEmulator.ts"

const file = process.env["STOA_TEST_FAULT_FILE"]

/** The process dies at the boundary that this file names when it is there. */
const faults = file === undefined ? Layer.empty : Layer.succeed(
  AtFaultPoint,
  (point) =>
    Effect.sync(() => {
      if (readFileSync(file, "utf8") === point) process.kill(process.pid, "SIGKILL")
    })
)

/**
 * The service as `stoa serve --role …` starts it, with the payment emulator at STOA_TEST_EMULATOR as its provider, and
 * with captures by hand where STOA_TEST_CAPTURE says so.
 */
const serve = (config: DeploymentConfig) =>
  Effect.gen(function*() {
    const adapters = [emulatedProvider(process.env["STOA_TEST_EMULATOR"] ?? "")]
    const capture = process.env["STOA_TEST_CAPTURE"] === "manual" ? "manual" : "automatic"
    const settings = yield* readSettings({ ...config, payments: { adapters, capture } })
    const asked = process.argv.at(-1)
    const role: ProcessRole = asked === "api" || asked === "runner" ? asked : "all"
    return yield* Layer.launch(
      Layer.effectDiscard(announce).pipe(
        Layer.provideMerge(processApp({ ...settings, role })),
        Layer.provide(faults)
      )
    )
  })

/** Runs a process of the service whose payments the emulator takes; `config`: its plugins. */
export const runEmulated = (config: DeploymentConfig = {}): void =>
  NodeRuntime.runMain(serve(config), {
    teardown: (exit, onExit) => Runtime.defaultTeardown(exit, (code) => onExit(code === 130 ? 0 : code))
  })
