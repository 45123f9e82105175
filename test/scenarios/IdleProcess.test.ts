import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { freshDatabase } from "../support/Postgres.ts"
import { startService } from "../support/Service.ts"

/** Says the packages of modules as they are loaded. */
const saying = `import { registerHooks } from "node:module"
  registerHooks({ load(url, context, next) {
    const name = /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]
    if (name !== undefined) console.log("loads " + name + ".")
    return next(url, context)
  } })`

/** What a process without requests needs. Documents, pictures, mail, buckets and payments load their libraries when used. */
const needed = ("@better-auth/api-key @better-auth/core @better-auth/kysely-adapter @better-auth/telemetry " +
  "@better-auth/utils @better-fetch/fetch @effect/platform-node @effect/platform-node-shared @effect/sql-pg " +
  "@noble/ciphers @noble/hashes better-auth better-call csv-parse csv-stringify defu effect eta ipaddr.js iso-3166 jose kysely " +
  "nanostores rou3 uuid ws zod").split(" ")

it.live(
  "a process that has nothing to do has loaded no library that only some requests need",
  () =>
    Effect.gen(function*() {
      const { url: databaseUrl } = yield* freshDatabase
      const fromSources = ["--import", `data:text/javascript,${encodeURIComponent(saying)}`]
      const { output } = yield* startService({ databaseUrl, fromSources })
      const loaded = new Set([...output().matchAll(/loads (\S+)\./g)].map(([, name]) => name))
      assert.deepStrictEqual([...loaded].sort(), needed)
    }).pipe(Effect.scoped)
)
