import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { freePort } from "../src/layers/FreePort.ts"
import { median } from "./measure/Figures.ts"
import { atLeast, heading, note, record, table } from "./measure/Report.ts"
import type { Options } from "./Options.ts"
import { onDatabase } from "./servers/BenchPostgres.ts"
import { startChild } from "./servers/ChildServer.ts"
import type { Stage } from "./servers/Stage.ts"

/** Small calls a second over one WebSocket (task, RPC for internal services). */
const leastRate = 20_000

const key = "stoa_bench-key-for-calls-of-services-0123456789"

interface Reported {
  readonly rate: number
  readonly p50: number
  readonly p99: number
}

const seedKey = (url: string) =>
  onDatabase(url, (client) =>
    client.query(
      "insert into api_keys (name, key, reference_id, organization_id, role) values ('Calls', $1, $2, $2, 'staff')",
      [createHash("sha256").update(key).digest("base64url"), "org_default"]
    ))

const run = promisify(execFile)

/** The callers are a separate process, so that their work is measured apart. */
const calling =
  (client: "rpc" | "typedrpc", callers: number, seconds: number) =>
  async (origin: string, shownKey: string, warmup: number) => {
    const words = [origin, shownKey, String(callers), String(warmup), String(seconds)]
    const { stdout } = await run(process.execPath, [`bench/load/${client}.ts`, ...words])
    return JSON.parse(stdout) as Reported
  }

const startBareRpc = async () => {
  const port = await freePort()
  return startChild({
    args: ["bench/bare/rpc.ts"],
    env: { PORT: String(port), NODE_ENV: "production" },
    port,
    probe: "/"
  })
}

const ways = ["stoa", "stoa, typed client", "bare"] as const

/**
 * A call without an effect, by a key, beside an RPC server without access and limits: once with plain frames, as any
 * language can send them, and once with the client that services import.
 */
export const runRpc = async (stage: Stage, options: Options): Promise<void> => {
  const callers = options.users ?? 64
  heading(`calls at /rpc: stock of nothing, by an API key, ${callers} callers on one WebSocket`)
  await seedKey(stage.postgres.urlOf("stoa"))
  const bare = await startBareRpc()
  const recorded = new Map<string, Array<Reported>>(ways.map((way) => [way, []]))
  const [plain, typed] = [
    calling("rpc", callers, options.seconds ?? 4),
    calling("typedrpc", callers, options.seconds ?? 4)
  ]
  for (let round = 0; round < options.windows; round++) {
    const warmup = round === 0 ? options.warmup ?? 8 : 2
    const { origin } = stage.stoa.server
    recorded.get("stoa")?.push(await plain(origin, key, warmup))
    recorded.get("stoa, typed client")?.push(await typed(origin, key, warmup))
    recorded.get("bare")?.push(await plain(bare.origin, "", warmup))
  }
  await bare.stop()
  note("each window, then the medians:")
  table(
    ["server", "calls/s", "p50 ms", "p99 ms"],
    [...recorded].flatMap(([name, windows]) => windows.map(({ p50, p99, rate }) => [name, rate, p50, p99]))
  )
  const rates = [...recorded].map(([, windows]) => median(windows.map(({ rate }) => rate)))
  const [stoa = 0, client = 0, limit = 0] = rates
  note(`Stoa ${Math.round(stoa)}/s, bare ${Math.round(limit)}/s, ratio ${(stoa / limit).toFixed(2)}`)
  record("rpc", { stoa, typed: client, bare: limit, windows: [...recorded] })
  atLeast("small calls", stoa, leastRate, "/s")
  atLeast("small calls by the typed client", client, leastRate, "/s")
}
