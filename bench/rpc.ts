import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { median } from "./measure/Figures.ts"
import { atLeast, heading, note, record, table } from "./measure/Report.ts"
import type { Options } from "./Options.ts"
import { onDatabase } from "./servers/BenchPostgres.ts"
import { freePort, startChild } from "./servers/ChildServer.ts"
import type { Stage } from "./servers/Stage.ts"

/** Small calls a second over one WebSocket (task, RPC for internal services). */
const leastRate = 20_000

const key = "stoa_bench-key-for-calls-of-services-0123456789"

interface Told {
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

/** The callers are a process of their own, so that their work is nobody else's. */
const calling = async (origin: string, shownKey: string, callers: number, warmup: number, seconds: number) => {
  const words = [origin, shownKey, String(callers), String(warmup), String(seconds)]
  const { stdout } = await run(process.execPath, ["bench/load/rpc.ts", ...words])
  return JSON.parse(stdout) as Told
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

/** A call that asks for nothing, by a key: everything that stands before any call, beside an RPC server without it. */
export const runRpc = async (stage: Stage, options: Options): Promise<void> => {
  const callers = options.users ?? 64
  heading(`calls at /rpc: stock of nothing, by an API key, ${callers} callers on one WebSocket`)
  await seedKey(stage.postgres.urlOf("stoa"))
  const bare = await startBareRpc()
  const told = new Map<string, Array<Told>>([["stoa", []], ["bare", []]])
  for (let round = 0; round < options.windows; round++) {
    const warmup = round === 0 ? options.warmup ?? 8 : 2
    const seconds = options.seconds ?? 4
    told.get("stoa")?.push(await calling(stage.stoa.server.origin, key, callers, warmup, seconds))
    told.get("bare")?.push(await calling(bare.origin, "", callers, warmup, seconds))
  }
  await bare.stop()
  note("each window, then the medians:")
  table(
    ["server", "calls/s", "p50 ms", "p99 ms"],
    [...told].flatMap(([name, windows]) => windows.map(({ p50, p99, rate }) => [name, rate, p50, p99]))
  )
  const rates = [...told].map(([, windows]) => median(windows.map(({ rate }) => rate)))
  const [stoa = 0, limit = 0] = rates
  note(`Stoa ${Math.round(stoa)}/s, bare ${Math.round(limit)}/s, ratio ${(stoa / limit).toFixed(2)}`)
  record("rpc", { stoa, bare: limit, windows: [...told] })
  atLeast("small calls", stoa, leastRate, "/s")
}
