import type { Client } from "pg"
import { fileOf, importInto, key } from "./load/ProductFile.ts"
import { environment } from "./measure/Environment.ts"
import { median, percentile } from "./measure/Figures.ts"
import { atMost, heading, note, record, table } from "./measure/Report.ts"
import type { Options } from "./Options.ts"
import { onDatabase, startBenchPostgres } from "./servers/BenchPostgres.ts"
import { startStoa } from "./servers/StoaServer.ts"

/** Rounds of single writes and of files, each with the trigger and without it. */
const [writeRounds, fileRounds] = [6, 3]

const firstOf = async (client: Client, count: number) =>
  (await client.query<{ id: string }>("select id from catalog_entities order by slug limit $1", [count])).rows

/** One change of an entity after the other, over HTTP; milliseconds of each. */
const changeAll = async (origin: string, ids: ReadonlyArray<string>, round: number) => {
  const times: Array<number> = []
  for (const id of ids) {
    const began = performance.now()
    const response = await fetch(`${origin}/api/catalog/entities/${id}`, {
      method: "PATCH",
      headers: { ...key, "content-type": "application/json" },
      body: JSON.stringify({ metadata: { round } })
    })
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`${response.status} for a change`)
    times.push(performance.now() - began)
  }
  return times
}

/**
 * What revisions cost writers of the catalog: changes one by one and files of products, with the trigger that keeps
 * revisions and without it, in turn.
 */
export const runRevisions = async (options: Options): Promise<void> => {
  const products = options.flows ?? 5_000
  heading(`what revisions cost writers: 200 changes a round, files of ${products} products`)
  const postgres = await startBenchPostgres()
  try {
    table(["environment", ""], Object.entries(await environment(postgres.admin)))
    const url = await postgres.create("stoa")
    const server = await startStoa({ databaseUrl: url })
    await onDatabase(url, async (client) => {
      const keep = (so: boolean) =>
        client.query(`alter table outbox_events ${so ? "enable" : "disable"} trigger entity_revisions_keep`)
      let first = 0
      const send = async (count: number) => {
        const { worked } = await importInto(server.origin, server.pid, fileOf(count, first))
        first += count
        return count / worked
      }
      await send(products)
      const ids = (await firstOf(client, 200)).map(({ id }) => id)
      const [changes, files] = [new Map<boolean, Array<number>>(), new Map<boolean, Array<number>>()]
      for (let round = -1; round < writeRounds; round++) {
        for (const so of [true, false]) {
          await keep(so)
          const times = await changeAll(server.origin, ids, round * 2 + Number(so))
          if (round >= 0) changes.set(so, [...changes.get(so) ?? [], ...times])
        }
      }
      for (let round = 0; round < fileRounds; round++) {
        for (const so of [true, false]) {
          await keep(so)
          files.set(so, [...files.get(so) ?? [], await send(products)])
        }
      }
      const [kept = [], not = []] = [changes.get(true), changes.get(false)]
      const p99 = (times: ReadonlyArray<number>) => percentile([...times].sort((a, b) => a - b), 0.99)
      const [filesKept, filesNot] = [median(files.get(true) ?? []), median(files.get(false) ?? [])]
      table(["", "a change, p50 ms", "p99 ms", "products of a file /s"], [
        ["with revisions", median(kept), p99(kept), filesKept],
        ["without", median(not), p99(not), filesNot]
      ])
      note(
        `each file /s: with ${files.get(true)?.map(Math.round).join(", ")}, without ${
          files.get(false)?.map(Math.round)
        }`
      )
      record("revisions", { kept: median(kept), not: median(not), files: [...files] })
      atMost("a change with revisions over one without", median(kept) / median(not), 1.25, " times")
    })
    await server.stop()
  } finally {
    await postgres.stop()
  }
}
