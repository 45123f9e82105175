import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { replay } from "./Replay.ts"

/*
 * npm run replay -- PATH
 *
 * Feeds a CSV file of invoices to a running service. STOA_BASE_URL says where it is (http://127.0.0.1:4000), and
 * STOA_DEV_API_KEY who asks (the key that lies in the data directory). Exit code 1 when an order differs from its invoice, 2 when it cannot run.
 */
const print = (line: string) => console.log(line)

const [path] = process.argv.slice(2)
if (path === undefined) {
  console.error("usage: npm run replay -- PATH")
  process.exitCode = 2
} else {
  process.exitCode = await Effect.runPromise(
    replay({
      baseUrl: (process.env["STOA_BASE_URL"] || "http://127.0.0.1:4000").replace(/\/+$/, ""),
      key: process.env["STOA_DEV_API_KEY"] ||
        (await readFile(`${process.env["STOA_DATA_DIR"] || ".data"}/dev-key`, "utf8")).trim(),
      path,
      print
    }).pipe(
      Effect.map((result) => result.differences.length === 0 ? 0 : 1),
      Effect.catch((failed) =>
        Effect.sync(() => {
          console.error(`replay: ${failed.message}`)
          return 2
        })
      )
    )
  )
}
