import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { onDatabase } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { restart, startService, talkingTo } from "../support/Service.ts"
import { api, asAdmin } from "../support/TestApp.ts"

const program = fileURLToPath(new URL("../support/serveStars.ts", import.meta.url))

it.live(
  "values of a new search field are asked for by the next process when one dies in the middle",
  () =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const options = { databaseUrl: url }
      const before = yield* startService(options)
      yield* onDatabase(url, (sql) =>
        sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
          select gen_random_uuid(), 'org_default', 'product', 'many-' || n, 'active', true from generate_series(1, 1201) n`)
      before.kill("SIGTERM")
      yield* Effect.promise(() =>
        before.ended
      )
      const doomed = yield* startService({ ...options, program, environment: { STOA_TEST_DIE_AT: "2" } })
      assert.strictEqual((yield* Effect.promise(() => doomed.ended)).signal, "SIGKILL")
      const service = yield* restart(doomed, { ...options, program })
      const search = api("GET", "/api/search?attr.stars=5..5&limit=1", { as: asAdmin })
      yield* eventually("all values", Effect.map(search, (found) => found.at("meta.total") === 1_201)).pipe(
        Effect.provide(talkingTo(service, url))
      )
    }))
)
