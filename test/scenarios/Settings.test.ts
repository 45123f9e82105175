import { assert, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import { keptSecret } from "../../src/layers/KeptSecrets.ts"
import { stoa } from "../support/Command.ts"

it.live("a start in production names every setting that is missing or wrong at once", () =>
  Effect.gen(function*() {
    const { code, output } = yield* stoa(["serve"], {
      NODE_ENV: "production",
      STOA_AUTH_SECRET: "",
      STOA_DEV_API_KEY: "some-key-of-mine",
      STOA_PUBLIC_URL: "shop.example/path",
      DATABASE_URL: "mysql://shop",
      PORT: "http"
    })
    assert.strictEqual(code, 1, output)
    const named = [...output.matchAll(/^(?:stoa: )? *([\w.]+)(?:=".*"| is missing).*: expected /gm)].map(([, name]) =>
      name
    )
    assert.deepStrictEqual(named.toSorted(), [
      "DATABASE_URL",
      "PORT",
      "STOA_AUTH_SECRET",
      "STOA_DEV_API_KEY",
      "STOA_PUBLIC_URL",
      "auth.requireEmailVerification"
    ], output)
    assert.strictEqual(output.match(/^stoa: /gm)?.length, 1, output)
  }))

it.live("the role of the command line decides which addresses may be open", () =>
  Effect.gen(function*() {
    const open = { NODE_ENV: "development", STOA_ROLE: "api", STOA_RUNNER_HOST: "0.0.0.0" }
    const { code, output } = yield* stoa(["serve", "--role", "runner"], open)
    assert.deepStrictEqual([code, output.includes("STOA_RUNNER_HOST=\"0.0.0.0\" is not allowed")], [1, true], output)
  }))

/** Reads settings of this environment. */
const reading = (env: Record<string, string>) =>
  Effect.provideService(readSettings({}), ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))

it.effect.each([["HOST", "::"], ["STOA_RUNNER_HOST", "192.0.2.7"]] as const)(
  "without NODE_ENV=production %s=%s is refused, unless a network is allowed",
  ([name, address]) =>
    Effect.gen(function*() {
      const { message } = yield* Effect.flip(reading({ [name]: address }))
      assert.include(message, `${name}="${address}" is not allowed: expected NODE_ENV=production`)
      yield* reading({ [name]: address, STOA_ALLOW_DEVELOPMENT_ON_NETWORK: "true" })
    })
)

it.effect("an empty variable counts as not set", () =>
  Effect.gen(function*() {
    const names = ["NODE_ENV", "PORT", "HOST", "STOA_ROLE", "STOA_RUNNER_PORT", "STOA_DEV_API_KEY", "DATABASE_URL"]
    const { deployment: _, ...settings } = yield* reading(Object.fromEntries(names.map((name) => [name, ""])))
    const { deployment: __, ...unset } = yield* reading({})
    assert.deepStrictEqual(JSON.stringify(settings), JSON.stringify(unset))
  }))

it.live("an empty file is no secret", () =>
  Effect.gen(function*() {
    const folder = yield* Effect.promise(() => mkdtemp(join(tmpdir(), "stoa-empty-")))
    yield* Effect.promise(() => writeFile(join(folder, "dev-key"), ""))
    const refused = yield* Effect.flip(keptSecret(folder, "dev-key", "STOA_DEV_API_KEY"))
    assert.include(refused.message, "remove it")
    yield* Effect.promise(() => rm(folder, { recursive: true }))
  }))
