import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtemp, readFile, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stoa } from "../support/Command.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { startService } from "../support/Service.ts"
import { callOf } from "../support/ServiceCalls.ts"

const aDataDir = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "stoa-data-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true }))
)

/** A developer's machine, where only the data directory is set. */
const development = (dataDir: string) => ({ NODE_ENV: "development", STOA_DEV_API_KEY: "", STOA_DATA_DIR: dataDir })

const made = ["dev-key", "auth-secret", "secrets-key"]

const secretsIn = (dataDir: string) =>
  Effect.promise(() => Promise.all(made.map(async (name) => (await readFile(join(dataDir, name), "utf8")).trim())))

it.live("without NODE_ENV=production a process does not start with HOST=0.0.0.0", () =>
  Effect.gen(function*() {
    const dataDir = yield* aDataDir
    const { code, output } = yield* stoa(["serve"], {
      ...development(dataDir),
      NODE_ENV: "",
      DATABASE_URL: "postgres://shop@127.0.0.1:1/none",
      PORT: "0",
      HOST: "0.0.0.0"
    })
    assert.strictEqual(code, 1, output)
    assert.include(output, "HOST=\"0.0.0.0\" is not allowed: expected NODE_ENV=production")
    assert.include(output, "STOA_ALLOW_DEVELOPMENT_ON_NETWORK=true")
  }))

it.live("development listens on a network if that is allowed, and warns of it", () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    const dataDir = yield* aDataDir
    const service = yield* startService({
      databaseUrl: url,
      environment: { ...development(dataDir), HOST: "0.0.0.0", STOA_ALLOW_DEVELOPMENT_ON_NETWORK: "true" }
    })
    assert.include(service.output(), "This is a development deployment on a network")
  }))

it.live(
  "the secrets of a development deployment are random, its owner's alone, and stay through a restart",
  () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const dataDir = yield* aDataDir
      const asks = (service: { readonly url: string }, key: string) =>
        Effect.map(callOf(service.url)("GET", "/api/orders", { headers: { "x-api-key": key } }), ({ status }) => status)

      const first = yield* startService({ databaseUrl: url, environment: development(dataDir) })
      const secrets = yield* secretsIn(dataDir)
      const [key = ""] = secrets
      assert.include(first.output(), `development key (x-api-key): ${key}`)
      assert.deepStrictEqual([yield* asks(first, key), yield* asks(first, "dev-admin-key")], [200, 401])
      for (const name of made) {
        assert.strictEqual((yield* Effect.promise(() => stat(join(dataDir, name)))).mode & 0o777, 0o600, name)
      }
      first.kill("SIGKILL")
      yield* Effect.promise(() => first.ended)

      const again = yield* startService({ databaseUrl: url, environment: development(dataDir) })
      assert.strictEqual(yield* asks(again, key), 200)
      assert.deepStrictEqual(yield* secretsIn(dataDir), secrets)

      const elsewhere = yield* aDataDir
      yield* startService({ databaseUrl: url, environment: { ...development(elsewhere), STOA_RUNNER_PORT: "" } })
      const others = yield* secretsIn(elsewhere)
      for (const [index, secret] of secrets.entries()) assert.notStrictEqual(others[index], secret, made[index])
    })
)
