import { assert, it, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type { ImportOptions } from "../../src/domain/import-export/Import.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { fileRows } from "../../src/workflows/import-export/FileRows.ts"
import { textOf } from "../../src/workflows/import-export/FileText.ts"
import { ImportRuns } from "../../src/workflows/import-export/ImportRuns.ts"
import { ImportUploads } from "../../src/workflows/import-export/ImportUploads.ts"
import { live, testAppLayer } from "../support/TestApp.ts"

const mebibyte = 1_048_576

setFlagsFromString("--expose-gc")
const collect: unknown = runInNewContext("gc")

/** Bytes of memory that are reachable. */
const held = (): number => {
  if (typeof collect === "function") {
    collect()
    collect()
  }
  const { external, heapUsed } = process.memoryUsage()
  return heapUsed + external
}

/** In the metadata of each record, where the search index does not read it. */
const note = "a word and another ".repeat(180)

/** A file of so many products, 3.4 KB each, generated while it is sent. */
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

/** Imports a file and returns the peak of memory. */
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

layer(testAppLayer({ jobs: { autorun: { enabled: false } } }), live)("an import", (it) => {
  it.effect("of a large file takes no more memory than one of a small file", () =>
    Effect.gen(function*() {
      // Modules that load at their first use do not count.
      yield* peakOf(200)
      const small = yield* peakOf(1_000)
      const large = yield* peakOf(5_000)
      const difference = (large - small) / mebibyte
      assert.isBelow(
        difference,
        8,
        `of a file that is ${(4_000 * note.length / mebibyte).toFixed()} MiB larger`
      )
    }))
})

/** A file of so many bytes, generated while it is read. */
async function* bytesOf(size: number, head: string, line: (n: number) => string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(head)
  for (let [sent, n] = [0, 0]; sent < size;) {
    let piece = ""
    while (piece.length < 65_536) piece += line(n++)
    sent += piece.length
    yield Buffer.from(piece)
  }
}

const countRows = async (bytes: AsyncIterable<Uint8Array>, format: "csv" | "jsonl") => {
  const text = textOf(bytes, { bytes: 0 }, 1_000 * mebibyte)
  let [count, peak] = [0, 0]
  for await (const { problem } of fileRows(text, { ...options, format }, { bytes: 0 })) {
    if (problem !== null) throw new Error(problem)
    count++
    if (count % 10_000 === 0) peak = Math.max(peak, held())
  }
  return { count, peak }
}

it("reading a file takes no more memory for a large one", async () => {
  const description = "x".repeat(500)
  for (const format of ["csv", "jsonl"] as const) {
    const before = held()
    const { count, peak } = await countRows(
      format === "csv"
        ? bytesOf(24 * mebibyte, "slug,type,description\n", (n) => `p-${n},product,"${description}"\n`)
        : bytesOf(24 * mebibyte, "", (n) => `{"slug":"p-${n}","type":"product","d":"${description}"}\n`),
      format
    )
    assert.isAbove(count, 37_000)
    assert.isBelow((peak - before) / mebibyte, 16, format)
  }
})
