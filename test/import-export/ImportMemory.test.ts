import { assert, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import type { ImportOptions } from "../../src/domain/import-export/Import.ts"
import { ImportRuns } from "../../src/workflows/import-export/ImportRuns.ts"
import { ImportUploads } from "../../src/workflows/import-export/ImportUploads.ts"
import { testAppLayer } from "../support/TestApp.ts"

const mebibyte = 1_048_576

setFlagsFromString("--expose-gc")
const collect: unknown = runInNewContext("gc")

/** What is really held, without what nobody holds any more: bytes. */
const held = (): number => {
  if (typeof collect === "function") {
    collect()
    collect()
  }
  const { external, heapUsed } = process.memoryUsage()
  return heapUsed + external
}

/** Of a record; in the metadata, where it costs the index of search no time. */
const note = "a word and another ".repeat(180)

/** A file of so many products that is made while it is sent, 3.4 KB each. */
async function* fileOf(products: number, seen: () => void) {
  for (let n = 0; n < products; n++) {
    if (n % 1_000 === 0) seen()
    yield Buffer.from(
      `${JSON.stringify({ slug: `p-${n}`, type: "product", metadata: { note } })}\n`
    )
  }
}

const options: ImportOptions = {
  kind: "catalog",
  format: "jsonl",
  fileName: null,
  dryRun: true,
  currency: null,
  warehouse: null
}

const asService = Effect.provideService(CurrentActor, systemActor("org_default"))

/** Sends a file, works on it to its end, and gives what was held meanwhile at most. */
const peakOf = Effect.fnUntraced(function*(products: number) {
  const uploads = yield* ImportUploads
  const runs = yield* ImportRuns
  let peak = 0
  const look = () => {
    peak = Math.max(peak, held())
  }
  const { id } = yield* uploads.receive(
    options,
    Stream.fromAsyncIterable(fileOf(products, look), (error) => error),
    null
  ).pipe(asService)
  const done = yield* runs.run(id, ({ read }) =>
    Effect.sync(() => {
      if (read % 1_000 === 0) look()
    })).pipe(asService)
  assert.deepInclude(done, { state: "completed", created: products, refused: 0 })
  return peak
})

layer(testAppLayer({ jobs: { autorun: { enabled: false } } }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("an import", (it) => {
  it.effect("of a large file holds no more memory than one of a small file", () =>
    Effect.gen(function*() {
      // What is loaded at its first use is no part of it.
      yield* peakOf(500)
      const small = yield* peakOf(2_000)
      const large = yield* peakOf(8_000)
      const difference = (large - small) / mebibyte
      assert.isBelow(
        difference,
        8,
        `of a file that is ${(6_000 * note.length / mebibyte).toFixed()} MiB larger`
      )
    }), 60_000)
})
