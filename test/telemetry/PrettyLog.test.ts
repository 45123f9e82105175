import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { freshDatabase } from "../support/Postgres.ts"
import { startService } from "../support/Service.ts"

const line = /^\d\d:\d\d:\d\d (info|warn|error) +\S|^ {2}|^$/

it.live("a person reads first where the service is and last that it stopped, and nothing of libraries", () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    const service = yield* startService({ databaseUrl: url })
    service.kill("SIGTERM")
    assert.deepStrictEqual(yield* Effect.promise(() => service.ended), { code: 0, signal: null })
    const output = service.output()
    assert.strictEqual(/\d+\.\d+\.\d+\.\d+:\d+/.exec(output)?.[0], `127.0.0.1:${service.ports.http}`, output)
    assert.match(output.trimEnd().split("\n").at(-1) ?? "", /^\d\d:\d\d:\d\d info +stopped$/)
    const lines = output.split("\n")
    assert.deepStrictEqual(lines.filter((text) => !line.test(text)), [])
    // Stack traces, which are indented, may name files of libraries.
    assert.deepStrictEqual(
      lines.filter((text) => /^\S.*(\(#\d+\)|effect\/|fiber)|^ +(package|module|fiber): /.test(text)),
      []
    )
  }))
