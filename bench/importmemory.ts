import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../src/layers/FreePort.ts"
import { fileOf, importInto, scatteredFileOf } from "./load/ProductFile.ts"
import { environment } from "./measure/Environment.ts"
import { atMost, exactly, heading, note, record, table } from "./measure/Report.ts"
import type { Options } from "./Options.ts"
import { startBenchPostgres } from "./servers/BenchPostgres.ts"
import type { ChildServer } from "./servers/ChildServer.ts"
import { startStoa } from "./servers/StoaServer.ts"

const mebibyte = 1_048_576

/** Parts of the largest file that are imported before it, by the same process. */
const shares = [0.1, 0.5, 1]

interface Peak {
  readonly products: number
  /** MiB of the process at most, and before. */
  readonly before: number
  readonly peak: number
  /** MiB that something holds, at most, after everything else was thrown away; four times a second. */
  readonly live: number | undefined
  readonly seconds: number
}

/** Files of growing size into one process, each of other products than the ones before. */
const importAll = async (server: ChildServer, largest: number, liveFile: string | undefined, file = fileOf) => {
  const peaks: Array<Peak> = []
  let first = 0
  for (const share of shares) {
    const products = Math.round(largest * share)
    const known = liveFile === undefined ? 0 : (await linesOf(liveFile)).length
    const asking = setInterval(() => {
      if (liveFile !== undefined) process.kill(server.pid, "SIGUSR2")
    }, 250)
    const { before, found, peak, received, worked } = await importInto(
      server.origin,
      server.pid,
      file(products, first)
    ).finally(() => clearInterval(asking))
    exactly(`created of ${products}`, found.created, products)
    const live = liveFile === undefined ? undefined : Math.max(...(await linesOf(liveFile)).slice(known)) / mebibyte
    peaks.push({ products, before, peak, live, seconds: received + worked })
    first += products
  }
  return peaks
}

const linesOf = async (file: string) =>
  (await readFile(file, "utf8").catch(() => "")).split("\n").filter((line) => line !== "").map(Number)

/**
 * Whether memory grows with the file: one process imports a tenth, a half and all of 100,000 products; once as it runs, where
 * the heap takes what it likes before it is cleaned, and once with what is alive counted four times a second; and as many lines of
 * products that are scattered over their file.
 */
export const runImportMemory = async (options: Options): Promise<void> => {
  const largest = options.flows ?? 100_000
  heading(`memory of imports of ${shares.map((share) => largest * share).join(", ")} products by one process`)
  const postgres = await startBenchPostgres()
  const dir = await mkdtemp(join(tmpdir(), "stoa-live-"))
  try {
    table(["environment", ""], Object.entries(await environment(postgres.admin)))
    const plain = await startStoa({ databaseUrl: await postgres.create("plain") })
    const asItRuns = await importAll(plain, largest, undefined)
    await plain.stop()
    const watchedBy = async (name: string, products: number, file: typeof fileOf) => {
      const liveFile = join(dir, `live-${await freePort()}`)
      const watched = await startStoa({ databaseUrl: await postgres.create(name) }, {
        args: ["--expose-gc", "--import", "./bench/measure/LiveHeap.ts"],
        env: { BENCH_LIVE_HEAP: liveFile }
      })
      const alive = await importAll(watched, products, liveFile, file)
      await watched.stop()
      return alive
    }
    const alive = await watchedBy("watched", largest, fileOf)
    const scattered = await watchedBy("scattered", largest / 2, scatteredFileOf)
    table(
      ["products", "s", "resident before MiB", "resident at most MiB", "alive at most MiB"],
      asItRuns.map(({ before, peak, products, seconds }, index) => [
        products,
        seconds,
        before,
        peak,
        alive[index]?.live ?? 0
      ])
    )
    note("resident: as it runs; alive: heap and buffers after a collection, in another process with the same files")
    table(
      ["scattered lines", "s", "alive at most MiB"],
      scattered.map(({ live = 0, products, seconds }) => [products * 2, seconds, live])
    )
    note("scattered: Shopify's file, whose products have a line in its first half and one in its second")
    record("importmemory", { asItRuns, alive, scattered })
    for (const [what, peaks] of [["products", alive], ["scattered lines", scattered]] as const) {
      const [small, large] = [peaks[0]?.live ?? 0, peaks.at(-1)?.live ?? Infinity]
      atMost(`alive with the largest file of ${what} over the smallest`, large - small, 10, " MiB")
    }
  } finally {
    await rm(dir, { recursive: true, force: true })
    await postgres.stop()
  }
}
