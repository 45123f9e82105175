import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { version } from "../../src/layers/Version.ts"
import { allEnded } from "../support/Audit.ts"
import { TestApp, withApp } from "../support/TestApp.ts"
import { aStore } from "../tenancy/Stores.ts"

/**
 * `npm run release:keep` writes the database of this version, with one record of each kind, to `<version>.sql.gz`. The
 * server (`STOA_TEST_DATABASE_URL`) must be of the version of the machine's `pg_dump`; 15 is the oldest that Stoa supports.
 */
withApp("a release", (it) => {
  it.effect("is kept as the dump of a store with one record of each kind", () =>
    Effect.gen(function*() {
      const { databaseUrl } = yield* TestApp
      yield* aStore("org_default")
      yield* allEnded(databaseUrl)
      const options = ["--inserts", "--rows-per-insert=100", "--no-owner", "--no-privileges", databaseUrl]
      const dump = execFileSync("pg_dump", options, { encoding: "utf8", maxBuffer: 100_000_000 })
      // Lines that begin with a backslash are commands of psql, and no SQL.
      const statements = dump.split("\n").filter((line) => !line.startsWith("\\")).join("\n")
      assert.include(statements, "INSERT INTO public.orders")
      writeFileSync(join(import.meta.dirname, `${version}.sql.gz`), gzipSync(statements, { level: 9 }))
    }))
})
